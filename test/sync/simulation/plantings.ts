/** The variants of SYNC that lose rows, as edits of the source. The simulation must find each of them. */
import { minute, type Plan } from "./plan.ts"
import type { Planting } from "./subject.ts"

const pass = (find: string, replace: string) => ({ file: "pass.ts", find, replace })
const passes = (find: string, replace: string) => ({ file: "passes.ts", find, replace })
const memory = (find: string, replace: string) => ({ file: "memoryStore.ts", find, replace })

const having = (...faults: ReadonlyArray<Parameters<Plan["faults"]["has"]>[0]>) => (plan: Plan): Plan => ({
  ...plan,
  faults: new Set([...plan.faults, ...faults])
})

/** Changes show late by up to five minutes, whatever the overlap. */
const late = (plan: Plan): Plan => ({
  ...having("lateChange")(plan),
  overlap: 15 * minute,
  lateness: 5 * minute,
  replicaLag: 0,
  skew: 0,
  slack: 8 * minute
})

const overlapOf = (minutes: number) => ({
  file: "SyncOptions.ts",
  find: "overlap: Duration.toMillis(overlap.value)",
  replace: `overlap: Math.min(Duration.toMillis(overlap.value), ${minutes * minute})`
})

/** Both clocks are set back, and few pages have a `Date`. What is a limit beside that is left out. */
const clocksWithFewDates = (plan: Plan): Plan => {
  const changed = late(having("serviceBack", "localStep")(plan))
  const limits = [
    "futureModified",
    "frozenDate",
    "wildDate",
    "cachedDate",
    "checkpointLost",
    "checkpointPutBack",
    "sweep"
  ]
  const faults = new Set([...changed.faults].filter((fault) => !limits.includes(fault)))
  return { ...changed, faults, store: "memory", dates: "sometimes", steps: 60 }
}

/** Many rows, one a page. */
/** A confirm that reads a day more hears of what a wrong watermark leaves out: no plan lasts as long. */
const readsNoDayMore = pass("(kind === \"confirm\" ? day : 0)", "0")

const long = (plan: Plan): Plan => ({ ...plan, rows: Math.max(plan.rows, 8), pageSize: 1, steps: 60 })

/** Cursors that name records, in an order that edits move, which the calls replace. */
const byRecord = { cursors: "record", order: "clockedIn", sortById: true, refusesOrder: false } as const

/** The service refuses each request for both, and rows change sides while two listings are read. */
const twice = (plan: Plan): Plan => ({ ...having("softDelete", "undelete")(long(plan)), refusesBoth: true })

/** The pages of both take longer than the overlap, and a call that reads them ends by itself. */
const slowly = (plan: Plan): Plan => {
  const left = [
    "serviceBack",
    "serviceForward",
    "localStep",
    "wildDate",
    "cachedDate",
    "frozenDate",
    "futureModified"
  ]
  const changed = having("sleeper", "gap")(twice(plan))
  const faults = new Set([...changed.faults].filter((fault) => !left.includes(fault)))
  return { ...changed, faults, overlap: minute, lateness: 0, replicaLag: 0, skew: 0 }
}

const watermark = (value: string) =>
  pass(
    "      ...(isCompared && Option.isSome(watermark) && { horizon: watermark.value }),\n",
    `      ...(Option.isSome(running.horizon) && { watermark: ${value} }),\n`
  )

/** No confirm: a sweep marks what it has not seen. */
const markedAtOnce = [
  pass(
    "return { _tag: \"Kept\", passId: running.pass, missing: Option.none(), checkpoint: { ...counted, running: confirm } }",
    "return { _tag: \"Kept\", passId: running.pass, missing: Option.some(sweep.window), checkpoint: { ...counted, running: confirm } }"
  ),
  passes(
    "Option.all([verdict.missing, running.before])",
    "Option.all([verdict.missing, Option.orElseSome(running.before, () => passId)])"
  )
]

const isSetBack = "const isSetBack = isAgain"

const isCompared = "const isCompared = Option.isSome(running.horizon) || running.kind === \"first\""

export const plantings: ReadonlyArray<Planting> = [
  {
    name: "the watermark is the latest modified seen",
    edits: [
      watermark("Option.orElse(running.latest, () => checkpoint.watermark)"),
      pass("epochMilliseconds - elapsed)", "epochMilliseconds - elapsed * 0)"),
      overlapOf(0)
    ],
    change: late
  },
  {
    name: "the watermark is the latest modified seen, stored on every page",
    edits: [
      pass(
        "        ...checkpoint,\n        pass: Math.max(checkpoint.pass, read.pass),",
        "        ...checkpoint,\n        watermark: Option.orElse(read.latest, () => checkpoint.watermark),\n        at: read.at,\n        pass: Math.max(checkpoint.pass, read.pass),"
      ),
      overlapOf(0)
    ],
    change: having("kill")
  },
  {
    name: "the watermark is the time after reading",
    edits: [watermark("Option.some(instant(now))"), overlapOf(0)]
  },
  {
    name: "the watermark is the local clock less ten minutes",
    edits: [
      watermark("Option.map(running.at, ({ epochMilliseconds }) => instant(epochMilliseconds - 10 * minute))"),
      overlapOf(0)
    ]
  },
  { name: "an overlap of 0", edits: [overlapOf(0)], change: late },
  { name: "an overlap of 1 minute", edits: [overlapOf(1)], change: late },
  {
    name: "a guard by modified",
    edits: [memory(
      "for (const punch of kind === \"increment\" ? changed : last.values()) {",
      `const stamp = (punch: TimePunch | undefined) =>
    Option.match(punch?.modified ?? Option.none(), { onNone: () => -Infinity, onSome: ({ epochMilliseconds }) => epochMilliseconds })
  for (const punch of kind === "increment" ? changed : last.values()) {
    if (stamp(rows.get(punch.id)?.punch) > stamp(punch)) continue`
    )]
  },
  {
    name: "sorted by modified, cursors by record",
    edits: [passes(
      "sorted === true ? [[\"id\", \"asc\"]] : undefined",
      "kind === \"sweep\" ? undefined : [[\"modified\", \"asc\"]]"
    )],
    change: (plan) => ({ ...long(plan), cursors: "record" })
  },
  {
    name: "sorted by clocked_in, cursors by record",
    edits: [passes(
      "sorted === true ? [[\"id\", \"asc\"]] : undefined",
      "kind === \"sweep\" ? undefined : [[\"clockedIn\", \"asc\"]]"
    )],
    change: (plan) => ({ ...long(having("moveClockIn")(plan)), cursors: "record" })
  },
  {
    name: "a new horizon on resume",
    edits: [pass(
      "const attempt = isFirst ? beginAttempt(checkpoint, running, page, facts) : running",
      "const begun = isFirst ? beginAttempt(checkpoint, running, page, facts) : running\n  const attempt = \"_tag\" in begun || page.index > 0 ? begun : { ...begun, horizon: page.response.asOf, at: Option.some(page.response.sentAt) }"
    )],
    change: having("kill", "stop", "gap")
  },
  {
    name: "a restart is numbered from the last complete pass",
    edits: [
      pass("        pass: Math.max(checkpoint.pass, read.pass),\n        writer", "        writer")
    ],
    change: (plan) => ({ ...having("lostCursors", "serviceBack", "stop", "kill")(plan), store: "memory" })
  },
  {
    name: "CursorLost keeps the dead run",
    edits: [passes(
      "{ ...checkpoint, writer: call.writer, running: Option.none() }, checkpoint.pass)",
      "{ ...checkpoint, writer: call.writer, running: Option.some({ ...state.running, restarts: running.restarts }) }, checkpoint.pass)"
    )],
    change: having("lostCursors", "stop")
  },
  {
    name: "the watermark never goes back",
    edits: [
      watermark(
        "Option.some(instant(Math.max(...[checkpoint.watermark, running.horizon].flatMap(Option.toArray).map((at) => at.epochMilliseconds))))"
      ),
      pass(isSetBack, "const isSetBack = date < -Infinity && isAgain")
    ],
    change: having("serviceBack")
  },
  {
    name: "no check of the service's clock",
    edits: [pass(isSetBack, "const isSetBack = date < -Infinity && isAgain")],
    change: having("serviceBack")
  },
  {
    name: "no compare-and-set",
    edits: [
      memory(
        "if (stored?.checkpoint !== Option.getOrUndefined(Option.map(previous, checkpointText))) {",
        "if (stored === null) {"
      )
    ],
    change: (plan) => ({ ...having("concurrent", "sleeper")(plan), store: "memory" })
  },
  {
    name: "no compare-and-set, counted pass numbers",
    edits: [
      memory(
        "if (stored?.checkpoint !== Option.getOrUndefined(Option.map(previous, checkpointText))) {",
        "if (stored === null) {"
      ),
      pass("pass: Math.max(checkpoint.pass + 1, clock)", "pass: checkpoint.pass + 1 + clock * 0")
    ],
    change: (plan) => ({ ...having("concurrent", "sleeper")(plan), store: "memory" })
  },
  {
    name: "no compare-and-set, a fence, unchanged rows skipped",
    edits: [
      memory(
        "if (stored?.checkpoint !== Option.getOrUndefined(Option.map(previous, checkpointText))) {",
        "if (stored === null) {"
      ),
      memory(
        "    rows.set(punch.id, { punch, pass, isMissing: false })",
        "    if ((rows.get(punch.id)?.pass ?? 0) <= pass) rows.set(punch.id, { punch, pass, isMissing: false })"
      )
    ],
    change: (plan) => ({ ...having("concurrent", "sleeper")(plan), store: "memory" })
  },
  {
    name: "a fence in a store with a transaction",
    edits: [memory(
      "    rows.set(punch.id, { punch, pass, isMissing: false })",
      "    if ((rows.get(punch.id)?.pass ?? 0) <= pass) rows.set(punch.id, { punch, pass, isMissing: false })"
    )],
    change: (plan) => ({ ...having("checkpointPutBack", "checkpointLost", "serviceBack")(plan), store: "memory" })
  },
  {
    name: "a sweep moves the watermark",
    edits: [
      pass(
        "const confirm = Option.some(begin(counted, \"confirm\", facts, sweep))\n    return { _tag: \"Kept\", passId: running.pass, missing: Option.none(), checkpoint: { ...counted, running: confirm } }",
        "const moved = { ...counted, watermark: Option.orElse(running.horizon, () => counted.watermark), at: running.at }\n    const confirm = Option.some(begin(moved, \"confirm\", facts, sweep))\n    return { _tag: \"Kept\", passId: running.pass, missing: Option.none(), checkpoint: { ...moved, running: confirm } }"
      ),
      readsNoDayMore
    ],
    change: (plan) => having("sweep", "window", "gap")({ ...plan, refusesBoth: false })
  },
  {
    name: "missing at the end of the sweep",
    edits: markedAtOnce,
    change: having("sweep", "moveClockIn")
  },
  {
    name: "an unchanged increment does not bring missing rows back",
    edits: [
      memory(
        "return row === undefined || row.isMissing || !Equal.equals(row.punch, punch)",
        "return row === undefined || !Equal.equals(row.punch, punch)"
      )
    ],
    change: (plan) => ({ ...having("sweep", "hide")(plan), store: "memory" })
  },
  {
    name: "a confirm does not stamp unchanged rows",
    edits: [memory("kind === \"increment\" ? changed", "kind === \"increment\" || kind === \"confirm\" ? changed")],
    change: (plan) => ({ ...having("sweep", "moveClockIn")(plan), store: "memory" })
  },
  {
    name: "no cycle guard",
    edits: [
      pass("if (Option.isSome(next) && Option.contains(attempt.cycleGuard, next.value)) return { _tag: \"Cycle\" }", "")
    ],
    change: (plan) => ({ ...having("cycle", "stop")(plan), namesWalks: true, quietPages: 1 })
  },
  {
    name: "no claim",
    edits: [{
      file: "Sync.ts",
      find:
        "      yield* commit(claimOf({ ...Option.getOrElse(loaded, () => blankCheckpoint(company.id, writer)), writer }))",
      replace: "      void [claimOf, blankCheckpoint, company, writer]"
    }],
    change: (plan) => ({ ...having("claim", "concurrent", "sleeper")(plan), store: "memory" })
  },
  {
    name: "a pass without a Date moves at",
    edits: [pass("...(isCompared && { at: running.at })", "at: running.at")],
    change: (plan) => ({ ...having("serviceBack", "futureModified")(plan), dates: "sometimes" })
  },
  {
    name: "a watermark that passes without a Date have moved is believed",
    edits: [pass("checkpoint.horizon?.epochMilliseconds ?? watermark", "watermark")],
    change: clocksWithFewDates
  },
  {
    name: "a first load without a Date moves no at",
    edits: [pass(isCompared, "const isCompared = Option.isSome(running.horizon)")],
    change: (plan) => ({ ...having("serviceBack", "checkpointLost", "futureModified")(plan), dates: "sometimes" })
  },
  {
    name: "a first load since 1970",
    edits: [
      passes(
        "modifiedSince: Option.getOrUndefined(since)",
        "modifiedSince: kind === \"first\" ? instant(0) : Option.getOrUndefined(since)"
      )
    ],
    change: having("nullModified")
  },
  {
    name: "a first load of a closed window",
    edits: [passes(
      "  return {\n    deleted: deleted === \"again\" ? \"exclude\" : deleted ?? \"include\",",
      "  if (kind === \"first\") return { deleted: \"include\", clockedIn: { gte: instant(Date.UTC(2025, 0)), lte: instant(Date.UTC(2027, 0)) } }\n  return {\n    deleted: deleted === \"again\" ? \"exclude\" : deleted ?? \"include\","
    )]
  },
  {
    name: "deleted left out",
    edits: [passes("    deleted: deleted === \"again\" ? \"exclude\" : deleted ?? \"include\",\n", "")],
    change: having("softDelete")
  },
  // Beyond the table of SYNC: rules whose absence must show too.
  {
    name: "since is not moved by the overlap of a restart: the first page of a clock set back is kept",
    edits: [
      pass(
        "  if (Option.isSome(earlier)) {\n    return { _tag: \"Earlier\", running: { ...running, since: earlier, at: Option.some(sentAt) } }\n  }\n",
        "  if (Option.isSome(earlier)) running = { ...running, since: earlier }\n"
      )
    ],
    change: having("serviceBack")
  },
  {
    name: "a late page lifts the watermark without a Date",
    edits: [pass("epochMilliseconds - elapsed)", "epochMilliseconds + elapsed * 0)")],
    change: (plan) => ({ ...having("kill", "stop", "gap")(plan), dates: "never" })
  },
  {
    name: "only a 422 restarts",
    edits: [passes("unknownCursor.includes(error.status)", "error.status === 499")],
    change: (plan) => ({ ...having("lostCursors", "stop")(plan), refusal: 404 })
  },
  {
    name: "a pass that began again is not stored",
    edits: [
      passes(
        "if (state._tag === \"Due\" || state.isStored) return { _tag: \"End\" }",
        "if (state._tag === \"Due\" || state.pages >= 0) return { _tag: \"End\" }"
      )
    ],
    change: (plan) => ({ ...having("cycle", "stop", "serviceBack")(plan), namesWalks: true, quietPages: 1 })
  },
  {
    name: "stale stamps are not lowered",
    edits: [memory("lowerStamps(rows, batch.pass)", "lowerStamps(new Map(rows), batch.pass)")],
    change: (plan) => ({
      ...having("checkpointLost", "checkpointPutBack", "serviceBack", "sweep", "hardDelete")(plan),
      store: "memory"
    })
  },
  {
    name: "an early end at an empty page",
    edits: [
      pass(
        "return Option.isNone(next) && following",
        "return (Option.isNone(next) || page.items.length === 0) && following"
      )
    ]
  },
  // What a second red team found.
  {
    name: "a first page behind a Date that stands still is compared with the watermark each time",
    edits: [pass("since: earlier, at: Option.some(sentAt) }", "since: earlier, at: Option.none() }")],
    change: (plan) => ({ ...having("frozenDate", "gap")(plan), dates: "always" })
  },
  {
    name: "the local clock alone measures how long a pass takes",
    edits: [pass("Math.max(0, local, Math.ceil(monotonic))", "Math.max(0, local)")],
    change: (plan) => ({ ...having("localStep", "sleeper")(long(plan)), dates: "never", overlap: minute })
  },
  {
    name: "the local clock of a later call is believed",
    edits: [pass("Math.max(0, local + day)", "Math.max(0, local)")],
    change: (plan) => ({ ...having("localStep", "stop", "gap")(long(plan)), dates: "never", overlap: minute })
  },
  {
    name: "no claim without a checkpoint",
    edits: [{ file: "Sync.ts", find: "    if (claim) {\n", replace: "    if (claim && Option.isSome(loaded)) {\n" }],
    change: (plan) => ({ ...having("claim", "concurrent", "sleeper")(plan), store: "memory" })
  },
  {
    name: "sortById asks for no order",
    edits: [passes("sorted === true ? [[\"id\", \"asc\"]] : undefined", "sorted === true ? undefined : undefined")],
    change: (plan) => ({ ...having("moveClockIn")(long(plan)), ...byRecord })
  },
  {
    name: "a cursor of an earlier call that is refused ends the order of a pass",
    edits: [pass("isFresh && running.pages <= 1", "running.pages <= 1")],
    change: (plan) => {
      const faults = new Set(having("moveClockIn", "stop", "lostCursors")(long(plan)).faults)
      faults.delete("cycle")
      return { ...long(plan), ...byRecord, faults, outlivesCalls: true, cursorLife: 5000 }
    }
  },
  {
    name: "an order that is refused ends the call",
    edits: [
      passes(
        "if (state.running.sorted === true && isFirstRefused) {",
        "if (state.pages < 0 && isFirstRefused) {"
      )
    ],
    change: (plan) => ({ ...plan, sortById: true, refusesOrder: true })
  },
  {
    name: "a confirm reads no day more",
    edits: [readsNoDayMore],
    change: (plan) => ({
      ...having("sweep", "moveClockIn", "serviceBack")(long(plan)),
      order: "clockedIn",
      cursors: "position",
      sortById: false,
      dates: "sometimes",
      replicaLag: 0
    })
  },
  // Two listings in place of one.
  {
    name: "the horizon is that of the second listing",
    edits: [
      pass(
        "? beginAttempt(checkpoint, running, page, facts) : running",
        "? beginAttempt(checkpoint, running, page, facts) : Option.isSome(running.cursor) ? running : { ...running, horizon: page.response.asOf, at: Option.some(page.response.sentAt) }"
      )
    ],
    change: slowly
  },
  {
    name: "the second listing is not read",
    edits: [pass("Option.isNone(next) && following === undefined", "Option.isNone(next)")],
    change: twice
  },
  {
    name: "rows in neither listing of a sweep are marked at once",
    edits: markedAtOnce,
    change: (plan) => having("sweep")(twice(plan))
  }
]
