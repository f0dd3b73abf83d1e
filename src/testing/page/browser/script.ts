/** START HERE. The script of the page: one text of the functions of this room, each of which runs from its parameters alone. */
import { connectClient } from "./client.ts"
import { makeCorrection } from "./correction.ts"
import { showFaults } from "./faults.ts"
import { showPunches } from "./punches.ts"
import { showRequests } from "./requests.ts"
import { makeTools } from "./tools.ts"

const functions = { connectClient, makeCorrection, makeTools, showFaults, showPunches, showRequests }

/** Starts the page. Like each of `functions` it must not use what stands outside of it: the browser gets its text. */
const start = (
  { connectClient, makeCorrection, makeTools, showFaults, showPunches, showRequests }: typeof functions,
  hidden: RegExp
): void => {
  const tools = makeTools(hidden)
  const events = new EventSource("/sandbox/log")
  showRequests(tools, events)
  showFaults(tools, events)
  connectClient(tools, showPunches(tools, makeCorrection(tools)))
}

/** The text of the script. `hidden` is the source of the pattern of hidden characters. */
export const scriptText = (hidden: string): string => {
  const texts = Object.entries(functions).map(([name, each]) => `${name}: ${each.toString()}`)
  return `"use strict";\n(${start.toString()})({\n${texts.join(",\n")}\n}, new RegExp(${
    JSON.stringify(hidden)
  }, "gu"))\n`
}
