/** Stories of closes: a text that a clerk can read, its steps, and what a player reads at each of them. */
import { assert } from "@effect/vitest"
import { Data, Effect } from "effect"

/** A punch as a story tells it; instants in epoch milliseconds, amounts in cents. */
export interface Shift {
  readonly id: number
  readonly user: number
  readonly location: number
  readonly role: number
  readonly wage: number
  readonly tips: number
  readonly from: number
  readonly to: number | undefined
  readonly deleted: boolean
  readonly approved: boolean
}

/** What a step names behind its verb. Clocks by location: a name of a zone each. */
export interface Options {
  readonly zone: string
  readonly clocks: ReadonlyMap<number, string> | undefined
  readonly starts: string | undefined
  readonly weeks: "monday" | "sunday"
  readonly rounding: "halfUp" | "halfEven" | "down" | "up"
  readonly weekly: number | undefined
  readonly daily: number | undefined
  readonly double: number | undefined
  readonly seventh: number | undefined
  /** As the command takes it, such as `7d:2026-03-02`. */
  readonly calendar: string | undefined
  readonly accept: ReadonlyArray<string>
}

/** Dates such as `2026-03-02`; without them the close is the next one. */
export interface Dates {
  readonly first: string
  readonly last: string
}

/** The sums of a person in a role at a wage and a location; times in seconds, amounts in cents. */
export interface Row {
  readonly user: number
  readonly location: number
  readonly role: number
  readonly wage: number | null
  readonly punches: number
  readonly incomplete: number
  readonly net: number
  readonly over: number
  readonly double: number
  readonly cost: number
  readonly tips: number
}

/** A revision. `locations`: those whose clocks its terms have; empty if one clock stands for all. */
export interface Written extends Dates {
  readonly id: string
  readonly kind: string
  readonly previous: string | null
  readonly voids: string | null
  readonly accepted: Readonly<Record<string, number>>
  readonly rows: ReadonlyArray<Row>
}

export interface Listed extends Written {
  readonly locations: ReadonlyArray<number>
}

/** What is due after a revision. */
export interface Due {
  readonly after: string
  readonly rows: ReadonlyArray<Row>
}

/** Why a step wrote nothing: a line each. */
export class Refused extends Data.TaggedError("Refused")<{ readonly lines: ReadonlyArray<string> }> {}

type Read<A> = Effect.Effect<A, Refused>

/** Who plays a story: over the library, or by the command. A line of remarks has the words of the command. */
export interface Player {
  /** Brings punches to the copy. With `isSweep`, `all` is what the service has, and any other punch is missing then. */
  readonly sync: (edited: ReadonlyArray<Shift>, all: ReadonlyArray<Shift>, isSweep: boolean) => Effect.Effect<void>
  readonly close: (
    dates: Dates | undefined,
    options: Options
  ) => Read<{ readonly revision: Written; readonly remarks: ReadonlyArray<string> }>
  readonly due: (closes: ReadonlyArray<number>, options: Options) => Read<ReadonlyArray<Due>>
  readonly correct: (
    closes: ReadonlyArray<number>,
    options: Options
  ) => Read<{
    readonly revisions: ReadonlyArray<Written>
    readonly due: ReadonlyArray<Due>
    readonly remarks: ReadonlyArray<string>
  }>
  readonly voidRevision: (revision: string, mistake: boolean) => Read<Written>
  readonly verify: Read<number>
  readonly list: Read<ReadonlyArray<Listed>>
  readonly holes: Read<ReadonlyArray<string>>
  readonly file: (revision: string, mapping: keyof typeof mappings) => Read<ReadonlyArray<string>>
  /** Runs the command with these words, and writes a file beside the copy. Only a player of the command has them. */
  readonly call?: (args: ReadonlyArray<string>) => Read<ReadonlyArray<string>>
  readonly write?: (name: string, text: string) => void
}

const columns = (...values: ReadonlyArray<string>) => values.map((value) => ({ header: value, value }))

/** The mappings of `file`. */
export const mappings = {
  hours: {
    v: 1,
    by: ["user"],
    hours: "decimal:2",
    rounding: "halfUp",
    columns: columns("userId", "hours", "cost", "tips", "revisionId"),
    header: false,
    lineEnd: "\n"
  },
  jobs: {
    v: 1,
    by: ["user", "role"],
    payCodes: { regular: "REG", over: "OT", double: "DT", tips: "TIPS" },
    hours: "decimal:2",
    rounding: "halfUp",
    columns: columns("userId", "roleId", "payCode", "rate", "hours", "amount"),
    header: false,
    lineEnd: "\n"
  }
} as const

/** The stories of a text by their titles, each with its title. */
export const storiesOf = (text: string): ReadonlyMap<string, string> => {
  const stories = text.split(/^(?=# )/m).filter((story) => story.startsWith("# "))
  return new Map(stories.map((story) => [story.slice(2, story.indexOf("\n")), `${story.trimEnd()}\n`]))
}

/** `10h`, `7h30m` or `4h0m17s` in seconds. */
const secondsOf = (text: string): number => {
  const [, hours, minutes = "0", seconds = "0"] = /^(\d+)h(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ??
    assert.fail(`no length: ${text}`)
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

const hoursText = (seconds: number): string => {
  const size = Math.abs(seconds)
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60]
  const text = parts.map((part, at) => at === 0 || part > 0 ? `${part}${"hms"[at]}` : "").join("")
  return `${seconds < 0 ? "-" : ""}${text}`
}

const centsOf = (text: string): number => Math.round(Number(text) * 100)

const moneyText = (cents: number): string => (cents / 100).toFixed(2)

const dateOf = (text: string): string => `2026-${text}`

/** The words behind a verb: those by themselves, and pairs of a name and a value. */
const wordsOf = (words: ReadonlyArray<string>, flags: ReadonlyArray<string>) => {
  const pairs = new Map<string, string>()
  const alone: Array<string> = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ""
    if (!flags.includes(word)) alone.push(word)
    else pairs.set(word, words[++at] ?? assert.fail(`${word} without a value`))
  }
  return { alone, pairs }
}

const shiftOf = (words: ReadonlyArray<string>): Shift => {
  const { alone: [id, from = "", length = "", ...more], pairs } = wordsOf(words, ["by", "at", "as", "for", "tips"])
  assert.deepStrictEqual(more.filter((word) => word !== "deleted" && word !== "unapproved"), [], words.join(" "))
  const number = (name: string, otherwise: string) => pairs.get(name) ?? otherwise
  const begin = Date.parse(`${dateOf(from)}Z`)
  return {
    id: Number(id),
    user: Number(number("by", "501")),
    location: Number(number("at", "301")),
    role: Number(number("as", "11")),
    wage: centsOf(number("for", "15.00")),
    tips: centsOf(number("tips", "0")),
    from: begin,
    to: length === "open" ? undefined : begin + 1000 * secondsOf(length),
    deleted: more.includes("deleted"),
    approved: !more.includes("unapproved")
  }
}

const oneOf = <A extends string>(values: ReadonlyArray<A>, text: string): A =>
  values.find((value) => value === text) ?? assert.fail(`no ${text}`)

const optionsOf = (words: ReadonlyArray<string>) => {
  const names = [
    "zone",
    "clocks",
    "starts",
    "weeks",
    "rounding",
    "weekly",
    "daily",
    "double",
    "seventh",
    "calendar",
    "accept"
  ]
  const { alone, pairs } = wordsOf(words, names)
  const threshold = (name: string) => {
    const text = pairs.get(name)
    return text === undefined ? undefined : secondsOf(text)
  }
  const clocks = pairs.get("clocks")?.split(",").map((each) => {
    const [location, zone = ""] = each.split("=")
    return [Number(location), zone] as const
  })
  const options: Options = {
    zone: pairs.get("zone") ?? "America/New_York",
    clocks: clocks === undefined ? undefined : new Map(clocks),
    starts: pairs.get("starts"),
    weeks: oneOf(["monday", "sunday"], pairs.get("weeks") ?? "monday"),
    rounding: oneOf(["halfUp", "halfEven", "down", "up"], pairs.get("rounding") ?? "halfUp"),
    weekly: threshold("weekly"),
    daily: threshold("daily"),
    double: threshold("double"),
    seventh: threshold("seventh"),
    calendar: pairs.get("calendar")?.replace(":", ":2026-"),
    accept: pairs.get("accept")?.split(",") ?? []
  }
  return { alone, options }
}

/** The sums of some rows, such as `18h 270.00 over 2h`. Of the classes only those that are there. */
export const sumText = (rows: ReadonlyArray<Row>): string => {
  const sum = (name: "net" | "over" | "double" | "cost" | "tips" | "incomplete") =>
    rows.reduce((total, row) => total + row[name], 0)
  const shown = (name: string, value: number, text: (value: number) => string) =>
    value === 0 ? [] : [`${name} ${text(value)}`]
  return [
    hoursText(sum("net")),
    moneyText(sum("cost")),
    ...shown("over", sum("over"), hoursText),
    ...shown("double", sum("double"), hoursText),
    ...shown("tips", sum("tips"), moneyText),
    ...shown("open", sum("incomplete"), String)
  ].join(" ")
}

const rowLines = (rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  rows.map((row) => {
    const { location, role, user, wage } = row
    return `${user} at ${location} as ${role} for ${wage === null ? "-" : moneyText(wage)}: ${sumText([row])}`
  })

/** What a period that is not ready has, without the age of the copy: a player of the library has none. */
export const foundLine = (found: Readonly<Record<string, number>>): string =>
  Object.entries(found).filter(([kind]) => kind !== "stale").map(([kind, count]) => `${kind} ${count}`).join(", ")

const acceptedText = ({ accepted }: Written): string => {
  const text = foundLine(accepted)
  return text === "" ? "" : `, accepted ${text}`
}

const datesText = ({ first, last }: Dates): string => `${first} to ${last}`

const listLine = (all: ReadonlyArray<Listed>, one: Listed): string => {
  const locations = one.locations.length === 0 ? "" : ` at ${one.locations.join(" ")}`
  if (one.voids !== null) return `${one.id} ${one.kind} of ${one.voids}${locations}`
  const isVoided = all.some(({ voids }) => voids === one.id)
  const after = one.previous === null ? datesText(one) : `after ${one.previous}`
  return `${one.id} ${one.kind} ${after}${locations}: ${sumText(one.rows)}${isVoided ? ", not paid" : ""}`
}

const rowKey = ({ location, role, user, wage }: Row): string => `${user} ${location} ${role} ${wage}`

const numbers = ["punches", "incomplete", "net", "over", "double", "cost", "tips"] as const

/** What some rows have more than others, as text: computed here, to hold what a player says is due. */
const moreText = (now: ReadonlyArray<Row>, then: ReadonlyArray<Row>): string => {
  const sums = new Map<string, Array<number>>()
  for (const [rows, sign] of [[now, 1], [then, -1]] as const) {
    for (const row of rows) {
      const known = sums.get(rowKey(row)) ?? numbers.map(() => 0)
      sums.set(rowKey(row), known.map((value, at) => value + sign * row[numbers[at] ?? "net"]))
    }
  }
  return [...sums].filter(([, values]) => values.some((value) => value !== 0)).toSorted().join("\n")
}

/** Each active revision follows the active one before it, so that what was paid with them adds up to the newest. */
const assertPaidOnce = (all: ReadonlyArray<Listed>) => {
  const voided = new Set(all.map(({ voids }) => voids))
  const newest = new Map<string, string>()
  for (const { id, kind, previous } of all) {
    const [close = ""] = id.split(".")
    if (kind === "void" || voided.has(id)) continue
    assert.strictEqual(previous, newest.get(close) ?? null, `${id} is paid beside its predecessor`)
    newest.set(close, id)
  }
}

/** Plays a story, and gives it with what the player read, line by line. */
export const play = (story: string, player: Player): Effect.Effect<string> =>
  Effect.gen(function*() {
    const shifts = new Map<number, Shift>()
    let edited = new Map<number, Shift>()
    let isSwept = false
    const known = new Map<string, ReadonlyArray<Row>>()

    const sync = Effect.suspend(() => {
      if (edited.size === 0 && !isSwept && shifts.size > 0) return Effect.void
      const run = player.sync([...edited.values()], [...shifts.values()], isSwept)
      edited = new Map()
      isSwept = false
      return run
    })

    const closeOf = Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
      const { alone: [first = "", to, last, ...more], options } = optionsOf(words)
      assert.deepStrictEqual(more, [])
      const isNext = first === "next" && to === undefined
      assert.isTrue(isNext || (to === "to" && last !== undefined), words.join(" "))
      const dates = isNext ? undefined : { first: dateOf(first), last: dateOf(last ?? "") }
      const { remarks, revision } = yield* player.close(dates, options)
      known.set(revision.id, revision.rows)
      const when = isNext ? ` ${datesText(revision)},` : ""
      return [`${revision.id}${when} ${sumText(revision.rows)}${acceptedText(revision)}`, ...remarks]
    })

    const correctOf = Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
      const { alone, options } = optionsOf(words)
      const { due, remarks, revisions } = yield* player.correct(alone.map(Number), options)
      const lines = revisions.map((revision) => {
        known.set(revision.id, revision.rows)
        const rows = due.find(({ after }) => after === revision.previous)?.rows ?? []
        const then = known.get(revision.previous ?? "") ?? assert.fail(`${revision.id} follows ${revision.previous}`)
        assert.strictEqual(moreText(rows, []), moreText(revision.rows, then), `what is due with ${revision.id}`)
        const after = `after ${revision.previous}, due ${sumText(rows)}`
        return `${revision.id} ${sumText(revision.rows)} ${after}${acceptedText(revision)}`
      })
      return [...revisions.length === 0 ? ["nothing to correct"] : lines, ...remarks]
    })

    const verbs: Readonly<Record<string, (words: ReadonlyArray<string>) => Read<ReadonlyArray<string>>>> = {
      close: closeOf,
      correct: correctOf,
      due: (words) => {
        const { alone, options } = optionsOf(words)
        return Effect.map(player.due(alone.map(Number), options), (due) =>
          due.length === 0
            ? ["nothing is due"]
            : due.map(({ after, rows }) => `after ${after}: ${sumText(rows)}`))
      },
      void: ([revision = "", mistake]) =>
        Effect.map(
          player.voidRevision(revision, mistake === "mistake"),
          ({ id, kind, voids }) => [`${id} ${kind} of ${voids}`]
        ),
      verify: () => Effect.map(player.verify, (count) => [`${count} verified`]),
      holes: () => Effect.map(player.holes, (holes) => holes.length === 0 ? ["none"] : holes),
      list: () => Effect.map(player.list, (all) => all.map((one) => listLine(all, one))),
      rows: ([revision]) =>
        Effect.map(player.list, (all) => rowLines(all.find(({ id }) => id === revision)?.rows ?? [])),
      file: ([revision = "", by, mapping = ""]) => {
        assert.strictEqual(by, "by")
        return player.file(revision, oneOf(["hours", "jobs"], mapping))
      },
      $: (words) => (player.call ?? assert.fail("only the command has calls"))(words)
    }

    const told: Array<string> = []
    for (const line of story.split("\n").filter((line) => line !== "" && !line.startsWith("    "))) {
      told.push(line)
      const [verb = "", ...words] = line.split(" ")
      if (verb === "#") continue
      if (verb === "punch") {
        const shift = shiftOf(words)
        shifts.set(shift.id, shift)
        edited.set(shift.id, shift)
        continue
      }
      if (verb === "gone") {
        for (const id of words) shifts.delete(Number(id))
        isSwept = true
        continue
      }
      if (verb === "write") {
        const [name = "", ...lines] = words
        const write = player.write ?? assert.fail("only the command reads files")
        write(name, lines.map((each) => `${each}\n`).join(""))
        continue
      }
      yield* sync
      const read = verbs[verb] ?? assert.fail(`no such step: ${line}`)
      const lines = yield* Effect.catchTag(read(words), "Refused", ({ lines }) => Effect.succeed(lines))
      told.push(...lines.map((each) => `    ${each.replaceAll("2026-", "")}`))
    }
    assertPaidOnce(yield* Effect.orDie(player.list))
    return `${told.join("\n")}\n`
  })
