/**
 * `npm run bench` measures the library, its peers and its targets, and writes benchmarks/RESULTS.md and docs/performance.svg.
 * `npm run bench -- start size` measures these groups alone, and keeps the other figures.
 * `npm run bench:quick` measures without peers, in less time, and fails if a figure is far beyond its target three times.
 */
import { writeChart } from "./chart.ts"
import { backfill } from "./groups/backfill.ts"
import { decode } from "./groups/decode.ts"
import { exports } from "./groups/exports.ts"
import { fleet } from "./groups/fleet.ts"
import { listing } from "./groups/listing.ts"
import { memory } from "./groups/memory.ts"
import { profile } from "./groups/profile.ts"
import { size } from "./groups/size.ts"
import { start } from "./groups/start.ts"
import { manyStreams } from "./groups/streams.ts"
import { sync } from "./groups/sync.ts"
import { tokens } from "./groups/tokens.ts"
import { machine, mergedTargets, type Section, type Setting, targetTable, writeSections } from "./report.ts"
import { served } from "./served.ts"

const quick = process.argv.includes("--quick")
const named = process.argv.slice(2).filter((word) => !word.startsWith("-"))
/** Whether a quick run writes its figures too, where there is no time for all of them. */
const writes = !quick || process.argv.includes("--write")

/** By the names of their sections. */
const all = {
  listing,
  decode,
  streams: manyStreams,
  memory,
  export: exports,
  start,
  backfill,
  tokens,
  ...(quick ? {} : { sync, fleet, profile, size })
}

const unknown = named.filter((name) => !Object.hasOwn(all, name))
if (unknown.length > 0) throw new Error(`no group ${unknown.join(", ")}; groups are ${Object.keys(all).join(", ")}`)

const groups = Object.entries(all).filter(([name]) => named.length === 0 || named.includes(name))
  .map(([, group]) => group)

const show = (title: string, text: string) => process.stdout.write(`\n## ${title}\n\n${text}\n`)

const begun = Date.now()

const pages = quick ? 100 : 500

const measured = (group: (setting: Setting) => Section, url: string): Section => {
  const from = Date.now()
  const section = group({ quick, url, pages })
  show(`${section.name} (${Math.round((Date.now() - from) / 1000)} s)`, section.text)
  return section
}

const farOf = ({ targets }: Pick<Section, "targets">) => targets.filter(({ isFar }) => isFar)

/** A quick run has few samples, and a machine can be busy for all of them: what is far from its target is measured again. */
const again = (group: (setting: Setting) => Section, url: string, section: Section): Section => {
  const other = farOf(section).length === 0 ? section : measured(group, url)
  return farOf(other).length < farOf(section).length ? other : section
}

const sections = await served(pages, async (url) =>
  groups.map((group) => {
    const first = measured(group, url)
    return quick ? again(group, url, again(group, url, first)) : first
  }))

const targets = sections.flatMap((section) => section.targets)
const text = targetTable(targets)
show(`targets (${Math.round((Date.now() - begun) / 1000)} s in all)`, text)

if (writes) {
  await writeSections([
    ...(named.length > 0
      ? []
      : [{
        name: "machine",
        text: `Measured with \`npm run bench${quick ? ":quick -- --write" : ""}\`: ${machine()}.`
      }]),
    { name: "targets", text: named.length > 0 ? mergedTargets(targets) : text },
    ...sections
  ])
}

if (quick) {
  const broken = farOf({ targets })
  if (broken.length > 0) show("far beyond the target", broken.map(({ what }) => what).join("\n"))
  process.exit(broken.length === 0 ? 0 : 1)
}

if (named.length === 0) await writeChart(sections.flatMap(({ chart = [] }) => chart))
process.exit(0)
