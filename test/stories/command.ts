/** Plays a story by the command, over a copy of the fake service in a file: it reads what is printed, and nothing of `src/close`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import { FakeService } from "../../src/testing/index.ts"
import { punch } from "../cli/payroll/checkSupport.ts"
import { cli, companyOnly, environment, inFolder, linesOf } from "../cli/support.ts"
import {
  type Due,
  type Listed,
  mappings,
  type Options,
  play,
  type Player,
  Refused,
  type Row,
  type Shift
} from "./story.ts"

/** How a call ended. */
export interface Called {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const punchOf = ({ approved, deleted, from, id, location, role, tips, to, user, wage }: Shift) =>
  punch(id, new Date(from).toISOString(), to === undefined ? null : (to - from) / 3_600_000, {
    user_id: user,
    location_id: location,
    role_id: role,
    hourly_wage: wage,
    tips,
    deleted,
    approved
  })

interface JsonRow {
  readonly userId: number
  readonly locationId: number
  readonly roleId: number
  readonly hourlyWageCents: number | null
  readonly punches: number
  readonly incomplete: number
  readonly netSeconds: number
  readonly overSeconds: number | null
  readonly doubleSeconds: number | null
  readonly costCents: number
  readonly tipsCents: number
}

interface JsonRevision {
  readonly revision: string
  readonly close: number
  readonly kind: string
  readonly first: string
  readonly last: string
  readonly previous: string | null
  readonly voids: string | null
  readonly active: boolean
  readonly accepted: Readonly<Record<string, number>>
  readonly rows: ReadonlyArray<JsonRow>
}

interface JsonLocation {
  readonly locationId: number | null
}

interface JsonClose {
  readonly terms: { readonly locations: ReadonlyArray<JsonLocation> }
  readonly revisions: ReadonlyArray<
    JsonRevision & { readonly added: { readonly locations: ReadonlyArray<JsonLocation> } }
  >
}

const rowOf = (row: JsonRow): Row => ({
  user: row.userId,
  location: row.locationId,
  role: row.roleId,
  wage: row.hourlyWageCents,
  punches: row.punches,
  incomplete: row.incomplete,
  net: row.netSeconds,
  over: row.overSeconds ?? 0,
  double: row.doubleSeconds ?? 0,
  cost: row.costCents,
  tips: row.tipsCents
})

const rowsOf = ({ rows }: { readonly rows: ReadonlyArray<JsonRow> }): ReadonlyArray<Row> => rows.map(rowOf)

const writtenOf = (revision: JsonRevision) => {
  const { accepted, first, kind, last, previous, revision: id, voids } = revision
  return { id, kind, first, last, previous, voids, accepted, rows: rowsOf(revision) }
}

/** The locations of each revision: those of the terms and of each revision that it follows, or that it takes back. */
const listedOf = ({ revisions, terms }: JsonClose): ReadonlyArray<Listed> => {
  const idsOf = (locations: ReadonlyArray<JsonLocation>) => locations.flatMap(({ locationId }) => locationId ?? [])
  const addedTo = (id: string | null): ReadonlyArray<number> => {
    const found = revisions.find(({ revision }) => revision === id)
    return found === undefined ? [] : [...addedTo(found.previous ?? found.voids), ...idsOf(found.added.locations)]
  }
  return revisions.map((revision) => ({
    ...writtenOf(revision),
    locations: [...idsOf(terms.locations), ...addedTo(revision.revision)]
  }))
}

const hoursFlag = (name: string, seconds: number | undefined): ReadonlyArray<string> =>
  seconds === undefined ? [] : [name, `${seconds / 3600}h`]

/** Why a call refused: what is not accepted, or the error, without the company. */
const refusedOf = ({ code, stderr, stdout }: Called): Refused => {
  const lines = linesOf(stderr)
  const found = lines.findIndex((line) => /^not (?:closed|corrected): /.test(line))
  if (code === 9) {
    const end = lines.findIndex((line) => line.startsWith("--accept "))
    const [, kinds = ""] = /: (.*)/.exec(lines[found] ?? "") ?? []
    return new Refused({ lines: [`not ready: ${kinds}`, ...lines.slice(found + 1, end)] })
  }
  assert.deepStrictEqual([code, stdout], [2, ""], stderr)
  const [, message] = lines.map((line) => /^time-punches: (.*?)(?: \[company \d+\])?$/.exec(line) ?? [])
    .find(([line]) => line !== undefined) ?? assert.fail(stderr)
  return new Refused({ lines: [`refused: ${message}`] })
}

/** The remarks of a correction, up to what only the command says. */
const remarks = [
  /^(the history does not reach [\d., ]+): /,
  /^(the sums of close [\d, ]+ differ too): /,
  /^(location [\d, ]+ keeps the clock of the record)$/,
  /^(close \d+: user \d+ lost all hours: .*)$/
]

const remarksOf = (stderr: string, patterns: ReadonlyArray<RegExp>): ReadonlyArray<string> =>
  linesOf(stderr).flatMap((line) => patterns.flatMap((pattern) => pattern.exec(line)?.[1] ?? []))

/** What a call says beside its result: of which time the copy is, what it does not know, where the record is, and advice. */
const notice = /^(?:copy in |Disputes are not in a copy|The record: | {2})/

/** What the command printed, without what the next run prints otherwise: the folder, the user, times of now, and widths. */
const makePrinted = (folder: string) => {
  const noticed = new Set<string>()
  const user = new RegExp(`  ${Os.userInfo().username.slice(0, 12).replaceAll(/\W/g, ".")}\\S*(?=$|  )`, "g")
  const isNow = (instant: string) => Math.abs(Date.now() - Date.parse(instant)) < 3_600_000
  const plain = (text: string) =>
    linesOf(text.replaceAll("\r", "")).map((line) =>
      line.replaceAll(`${folder}/`, "")
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, (text) => isNow(text) ? "NOW" : text)
        .replaceAll(/\b\d+s (?=old|ago)/g, "0s ")
        .replace(/^(--last \w+: ).*/, "$1NOW")
        .replaceAll(/"user":"[^"]*"/g, "\"user\":\"USER\"")
        .replaceAll(user, "  USER")
        .replace(/(?<=written out NOW by )[^\s:,]+/, "USER")
        .replaceAll(/ {2,}/g, "  ")
        .trimEnd()
    )
  return ({ code, stderr, stdout }: Called): ReadonlyArray<string> => {
    const errors = plain(stderr).filter((line) => {
      const known = line.replace(/show \d+/, "")
      const isNew = !noticed.has(known)
      noticed.add(known)
      return isNew || !notice.test(line)
    })
    const isRefused = errors.some((line) => line.startsWith("time-punches"))
    const usual = isRefused && stdout === "" ? 2 : 0
    return [...code === usual ? [] : [`exit code ${code}`], ...plain(stdout), ...errors]
  }
}

/** Calls the command in `folder`, where its copy is. */
export const commandPlayer = (
  folder: string,
  call: (...args: ReadonlyArray<string>) => Effect.Effect<Called, never, FakeService>
): Effect.Effect<Player, never, FakeService> =>
  Effect.map(FakeService, (service) => {
    const database = ["--database", `${folder}/punches.db`]
    const known = new Set<number>()
    const printed = makePrinted(folder)
    const run = (...args: ReadonlyArray<string>) =>
      Effect.suspend(() => call(...args, ...database)).pipe(
        Effect.provideService(FakeService, service),
        Effect.filterOrFail(({ code }) => code === 0, refusedOf)
      )
    const json = <A>(...args: ReadonlyArray<string>) =>
      Effect.map(run("payroll", ...args, "--json"), ({ stderr, stdout }) => {
        const printed: A = JSON.parse(stdout)
        return { printed, stderr }
      })
    const fileOf = (name: string, text: string) => {
      Fs.writeFileSync(`${folder}/${name}`, text)
      return `${folder}/${name}`
    }
    const clockFlags = ({ clocks, starts }: Options) => [
      ...clocks === undefined
        ? []
        : [
          "--zone-file",
          fileOf("zones.csv", ["location_id,zone", ...[...clocks].map(([id, zone]) => `${id},${zone}`)].join("\n"))
        ],
      ...starts === undefined ? [] : [`--day-starts=${starts}`]
    ]
    const acceptFlags = ({ accept }: Options) => accept.length === 0 ? [] : ["--accept", accept.join(",")]
    const dueOf = (closes: ReadonlyArray<number>, options: Options, verb: ReadonlyArray<string>) =>
      Effect.map(
        json<ReadonlyArray<Pick<JsonRevision, "rows"> & { readonly after: string }>>(
          ...verb,
          ...closes.map(String),
          ...clockFlags(options)
        ),
        ({ printed }): ReadonlyArray<Due> => printed.map((each) => ({ after: each.after, rows: rowsOf(each) }))
      )
    const shown = Effect.flatMap(
      json<ReadonlyArray<JsonRevision>>("list"),
      ({ printed, stderr }) =>
        Effect.gen(function*() {
          const closes = [...new Set(printed.map(({ close }) => close))]
          const all = yield* Effect.forEach(closes, (close) => json<JsonClose>("show", `${close}`))
          const listed = all.flatMap(({ printed }) => listedOf(printed))
          // A close alone and all closes are printed with the same revisions.
          assert.deepStrictEqual(listed.map(({ locations: _, ...revision }) => revision), printed.map(writtenOf))
          return { listed, stderr }
        })
    )
    return {
      call: (words) => {
        const args = words.map((word) => /^[\w-]+\.(?:csv|json|txt)$/.test(word) ? `${folder}/${word}` : word)
        return Effect.suspend(() => call(...args, ...database)).pipe(
          Effect.provideService(FakeService, service),
          Effect.map(printed)
        )
      },
      write: fileOf,
      sync: (edited, all, isSweep) =>
        Effect.gen(function*() {
          const gone = [...known].filter((id) => !all.some((shift) => shift.id === id))
          yield* service.remove(gone)
          for (const id of gone) known.delete(id)
          yield* service.add(edited.filter(({ id }) => !known.has(id)).map(punchOf))
          for (const shift of edited) {
            const { created: _, modified: _1, ...patch } = punchOf(shift)
            if (known.has(shift.id)) yield* service.edit([shift.id], patch)
            known.add(shift.id)
          }
          yield* Effect.orDie(run("sync", "--history", ...isSweep ? ["--sweep", "all", "--allow-missing"] : []))
        }),
      close: (dates, options) => {
        const calendar = options.calendar === undefined ? [] : ["--calendar", options.calendar]
        const terms = dates === undefined ? ["--next", ...calendar] : [
          ...calendar.length === 0
            ? ["--from", dates.first, "--to", dates.last]
            : ["--pay-period", dates.first, ...calendar],
          ...options.clocks === undefined ? ["--zone", options.zone] : [],
          ...clockFlags(options),
          ...options.weeks === "monday" ? [] : ["--week-starts", options.weeks],
          "--rounding",
          options.rounding,
          ...hoursFlag("--weekly-threshold", options.weekly),
          ...hoursFlag("--daily-threshold", options.daily),
          ...hoursFlag("--double-threshold", options.double),
          // Its value is one word with it.
          ...options.seventh === undefined ? [] : [hoursFlag("--seventh-day", options.seventh).join("=")]
        ]
        return Effect.map(
          json<ReadonlyArray<JsonRevision>>("close", ...terms, ...acceptFlags(options)),
          ({ printed: [revision], stderr }) => ({
            revision: writtenOf(revision ?? assert.fail("no revision")),
            remarks: remarksOf(stderr, [/^(the .*, and close \d+ has .*?)(?:: (?:in a week|a punch).*)?$/])
          })
        )
      },
      due: (closes, options) => dueOf(closes, options, ["due"]),
      correct: (closes, options) =>
        Effect.gen(function*() {
          // The rehearsal fails as the correction does; what it says is due is what is written.
          const due = yield* dueOf(closes, options, ["correct", "--dry-run", ...acceptFlags(options)])
          const { printed, stderr } = yield* json<ReadonlyArray<JsonRevision>>(
            "correct",
            ...closes.map(String),
            ...clockFlags(options),
            ...acceptFlags(options)
          )
          return { revisions: printed.map(writtenOf), due, remarks: remarksOf(stderr, remarks) }
        }),
      voidRevision: (revision, mistake) =>
        Effect.map(
          json<ReadonlyArray<JsonRevision>>(
            "void",
            revision,
            "--note",
            "not paid",
            ...mistake ? ["--mistake"] : []
          ),
          ({ printed: [voided] }) => writtenOf(voided ?? assert.fail("no void"))
        ),
      verify: Effect.map(run("payroll", "verify"), ({ stdout }) => Number(stdout.split(" ")[0])),
      list: Effect.map(shown, ({ listed }) => listed),
      holes: Effect.map(shown, ({ stderr }) =>
        remarksOf(stderr, [/^(no close has (?!what).*?)(?:: close it with .*)?$/, /^(no close has what .*)/]).map((
          line
        ) =>
          line.replace(
            /(?: at location \d+)? has \+?(-?\d+):(\d\d) of (-?\d+) punch.*$/,
            (_, hours, minutes, punches) =>
              ` has ${Number(hours) + Number(minutes) / 60}h, ${punches} punches`
          )
        )),
      file: (revision, name) =>
        Effect.map(
          run("payroll", "file", revision, "--mapping", fileOf("mapping.json", JSON.stringify(mappings[name]))),
          ({ stdout }) =>
            linesOf(stdout)
        )
    }
  })

/** Each story in this process, over a separate copy. */
export const itPlaysByCommand = (title: string, stories: ReadonlyMap<string, string>) =>
  describe(`${title} by the command`, () => {
    for (const [title, story] of stories) {
      it.live(title, () =>
        inFolder([], (folder) =>
          Effect.gen(function*() {
            // Only a sync has a credential.
            const player = yield* commandPlayer(
              folder,
              (...args) => cli(args, { env: args[0] === "sync" ? environment : companyOnly })
            )
            assert.strictEqual(yield* play(story, player), story)
          })))
    }
  })
