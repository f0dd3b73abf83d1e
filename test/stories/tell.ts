/** Tells a story line by line: each line at the margin is a step, and what it gives is the indented lines behind it. */
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { Refused, storiesOf } from "./story.ts"

/** The stories of a file of this folder, by their titles. */
export const storiesIn = (name: string): ReadonlyMap<string, string> =>
  storiesOf(Fs.readFileSync(Path.join(import.meta.dirname, name), "utf8"))

/** Plays a story, and gives it with what its steps gave, which is the same text where all is as it says. */
export const tell = <R>(
  story: string,
  step: (words: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, Refused, R>
): Effect.Effect<string, never, R> =>
  Effect.gen(function*() {
    const told: Array<string> = []
    for (const line of story.split("\n").filter((line) => line !== "" && !line.startsWith("    "))) {
      told.push(line)
      if (line.startsWith("# ")) continue
      const lines = yield* Effect.catchTag(step(line.split(" ")), "Refused", ({ lines }) => Effect.succeed(lines))
      told.push(...lines.map((each) => `    ${each}`))
    }
    return `${told.join("\n")}\n`
  })
