/**
 * The laws of the files of closes, over any mapping and any partition of the active revisions into files: what is printed adds up to the
 * newest sums, by a second computation from the punches; what is refused says why, and is not noted.
 */
import { assert } from "@effect/vitest"
import { Cause, Duration, Effect, Result } from "effect"
import { Close } from "../../src/close/index.ts"
import { BusinessDate, type CompanyId } from "../../src/Ids.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import { prng } from "../../src/testing/base/prng.ts"
import type { OpenHistory } from "../support/histories.ts"
import { type Classes, type Column, type Form, randomMapping, textsOfRun } from "../support/mappings.ts"
import * as Oracle from "./closeOracle.ts"
import * as Files from "./fileOracle.ts"

/** An active revision: the terms that it has, and the punches of its instant. */
export interface Paid {
  readonly id: string
  readonly terms: Oracle.Terms
  readonly works: ReadonlyArray<Oracle.Work>
}

/** The active revisions of each close, the oldest first. */
export type Ledger = ReadonlyArray<ReadonlyArray<Paid>>

/** What was printed. */
export const makeCounts = () => ({
  laws: 0,
  revisions: 0,
  files: 0,
  joint: 0,
  again: 0,
  byDay: 0,
  byPunch: 0,
  byUser: 0,
  widths: 0,
  rows: 0,
  cells: 0,
  negative: 0,
  refused: new Map<string, number>()
})

const dateOf = (day: number) => BusinessDate.make(new Date(day * 86_400_000).toISOString().slice(0, 10))

const classesOf = ({ terms }: Paid): Classes => ({
  hasOver: Oracle.hasOver(terms),
  hasDouble: Oracle.hasDouble(terms)
})

/** Names of which some characters have other bytes in another encoding, one has two parts, and one has quotes. */
const people: Readonly<Record<number, { readonly first: string; readonly last: string }>> = {
  501: { first: "Jörg", last: "Müßig" },
  502: { first: "Zoe\u0301", last: "O\"Neil €" },
  503: { first: "Jörg", last: "Šimek" }
}

/** `areShared`: whether two people have one code. */
const codesOf = (areShared: boolean): Files.Codes => ({
  codeOf: (kind, id) => kind !== "user" ? `C${id}` : areShared && id === 502 ? "00501" : `00${id}`,
  nameOf: (kind, id) => kind === "user" ? `${people[id]?.last} ${people[id]?.first}` : `${kind} ${id}`,
  fieldOf: (_, id, field) => field === "first" ? people[id]?.first : people[id]?.last
})

const codesFor = ({ codeOf, fieldOf, nameOf }: Files.Codes): PayrollFile.PayrollCodes => ({
  getCode: codeOf,
  getName: nameOf,
  fields: ["first", "last"],
  getField: fieldOf
})

/** A file to write: what `Close.file` takes, as the second computation knows it. */
interface Wanted {
  readonly form: Form
  readonly codes: Files.Codes
  readonly revisions: ReadonlyArray<string>
  readonly set: Readonly<Record<string, string>>
  readonly payDate: number | undefined
}

/** What is wrong with a file, and what the refusal must say. */
interface Spoilt {
  readonly kind: string
  readonly wanted: Wanted
  readonly tag: string
  readonly says: ReadonlyArray<string>
}

/** A failure or a defect with what it is of. */
const hinted = <A, E, R>(hint: string, effect: Effect.Effect<A, E, R>) =>
  Effect.catchCause(effect, (cause) => Effect.die(new Error(`${hint}: ${Cause.pretty(cause)}`)))

/** The classes that a mapping shows, in the order of the record. */
const shownClasses = ({ columns, payCodes }: Form): ReadonlySet<string> =>
  new Set([
    ...["regular", "over", "double"].filter((kind) => payCodes?.[kind] !== undefined),
    ...columns.flatMap(({ value = "" }) =>
      /^hours(?:Regular|Over|Double)$/.test(value) ? [value.slice(5).toLowerCase()] : []
    )
  ])

/** Whether a mapping shows what the sums have. */
const fits = (form: Form, { hasDouble, hasOver }: Classes): boolean => {
  const shown = shownClasses(form)
  return (shown.size === 0 || hasOver) && (!shown.has("double") || hasDouble) &&
    !(shown.has("regular") && hasDouble && !shown.has("double"))
}

/** Checks the files of one company while its plan runs: `grown` after each close or correction, `ended` at the end. */
export const makeLaws = (
  seed: number,
  copy: OpenHistory,
  company: CompanyId,
  counts: ReturnType<typeof makeCounts>,
  planHint: () => string
) => {
  const random = prng(seed)
  const areShared = random.chance(0.3)
  const codes = codesOf(areShared)
  const parts = new Map<string, ReadonlyArray<Oracle.Part>>()
  const partsOf = ({ id, terms, works }: Paid) => {
    const known = parts.get(id) ?? Oracle.partsOf(terms, works)
    parts.set(id, known)
    return known
  }
  const shuffled = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
    all.map((each) => [random.next(), each] as const).toSorted(([a], [b]) => a - b).map(([, each]) => each)
  /** Lists of random lengths. */
  const split = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
    const most = random.pick([1, 2, all.length])
    const lists: Array<ReadonlyArray<A>> = []
    for (let at = 0; at < all.length;) {
      const size = random.between(1, most)
      lists.push(all.slice(at, at + size))
      at += size
    }
    return lists
  }
  const notes = Effect.map(
    copy.query("SELECT count(*) AS notes FROM time_punches_close_file"),
    ([row]) => Number(row?.["notes"])
  )
  const wantedOf = (form: Form, revisions: ReadonlyArray<string>): Wanted => ({
    form,
    codes,
    revisions,
    set: textsOfRun(form),
    payDate: 20_600
  })
  const write = ({ codes, form, payDate, revisions, set }: Wanted) =>
    Effect.flatMap(Effect.fromResult(PayrollFile.decodeMapping(form)), (mapping) =>
      copy.run(Close.file(company, {
        revisions,
        mapping,
        codes: codesFor(codes),
        set,
        payDate: payDate === undefined ? undefined : dateOf(payDate),
        user: "the test"
      })))

  /** The revision, and the one before it. */
  const pairOf = (ledger: Ledger, revision: string): readonly [Paid, Paid | undefined] => {
    for (const active of ledger) {
      const at = active.findIndex(({ id }) => id === revision)
      const found = active[at]
      if (found !== undefined) return [found, active[at - 1]]
    }
    return assert.fail(`no ${revision}`)
  }
  /** The punches of all sums that a file reads. */
  const readBy = (ledger: Ledger, revisions: ReadonlyArray<string>): ReadonlyArray<Oracle.Part> =>
    revisions.flatMap((revision) => pairOf(ledger, revision).flatMap((each) => each === undefined ? [] : partsOf(each)))

  /** The punches to pay by a file, those of the sums before taken off. */
  const dueIn = (ledger: Ledger, revisions: ReadonlyArray<string>): ReadonlyArray<Oracle.Part> =>
    revisions.flatMap((revision) => {
      const [state, before] = pairOf(ledger, revision)
      return [...partsOf(state), ...before === undefined ? [] : partsOf(before).map(Oracle.negated)]
    })

  const expectedOf = (ledger: Ledger, form: Form, revisions: ReadonlyArray<string>): Files.Rows =>
    revisions.reduce<Files.Rows>((sum, revision) => {
      const [state, before] = pairOf(ledger, revision)
      const now = Files.plus(sum, Files.rowsOf(form, codes, partsOf(state)), 1)
      return before === undefined ? now : Files.plus(now, Files.rowsOf(form, codes, partsOf(before)), -1)
    }, new Map())

  const hintOf = (wanted: Wanted) => `${planHint()}: ${wanted.revisions.join(" ")} by ${JSON.stringify(wanted.form)}`

  /** What rounding and the mapping leave out is said beside the file, to the millisecond and the cent; so are shared codes. */
  const assertSaid = (
    ledger: Ledger,
    form: Form,
    revisions: ReadonlyArray<string>,
    file: PayrollFile.PayrollFile,
    rows: ReadonlyArray<Files.Row>,
    hint: string
  ) => {
    const due = dueIn(ledger, revisions)
    const sumOf = (amountOf: (part: Oracle.Part) => number) => due.reduce((sum, part) => sum + amountOf(part), 0)
    assert.deepStrictEqual(
      file.remainders.map(({ remainder }) => Duration.toMillis(remainder)),
      Files.remaindersOf(form, due, rows),
      `${hint}: what is rounded`
    )
    const hasTips = form.payCodes?.["tips"] !== undefined || form.columns.some(({ value }) => value === "tips")
    const omitted = (["cost", "tips"] as const).flatMap((amount) => {
      const people = new Map<number, number>()
      for (const part of due) people.set(part.person, (people.get(part.person) ?? 0) + part[amount])
      const count = [...people.values()].filter((cents) => cents !== 0).length
      const isShown = amount === "tips" ? hasTips : form.columns.some(({ value }) => value === "cost")
      return isShown || count === 0 ? [] : [`${amount} of ${count}: ${sumOf((part) => part[amount])}`]
    })
    assert.deepStrictEqual(
      file.omitted.map(({ amount, people, sum }) => `${amount} of ${people}: ${String(sum)}`),
      omitted,
      `${hint}: what is in no column`
    )
    const persons = new Set(readBy(ledger, revisions).map(({ person }) => person))
    const isShared = areShared && persons.has(501) && persons.has(502) &&
      form.columns.some(({ value }) => value === "userCode")
    assert.deepStrictEqual(file.sharedCodes.map(({ userIds }) => [...userIds]), isShared ? [[501, 502]] : [], hint)
  }

  /** Writes a file, reads it, and compares it with the punches. */
  const written = Effect.fnUntraced(function*(ledger: Ledger, form: Form, revisions: ReadonlyArray<string>) {
    const wanted = wantedOf(form, revisions)
    const hint = hintOf(wanted)
    const before = yield* notes
    const file = yield* hinted(hint, write(wanted))
    assert.strictEqual(yield* notes, before + revisions.length, `${hint}: notes`)
    const [first] = pairOf(ledger, revisions[0] ?? "")
    const shared: Files.Shared = {
      revision: first.id,
      first: first.terms.first,
      last: first.terms.last,
      payDate: wanted.payDate ?? 0,
      set: wanted.set
    }
    const rows = yield* hinted(`${hint}: ${file.text}`, Effect.sync(() => Files.read(form, shared, file.bytes)))
    const expected = expectedOf(ledger, form, revisions)
    const found = Files.byTexts(rows)
    assert.strictEqual(Files.textOf(found), Files.textOf(expected), `${hint}: its rows`)
    assert.isTrue(Files.isInOrder(rows, expected), `${hint}: the order of ${file.text}`)
    assert.strictEqual(file.rows, rows.length, hint)
    assertSaid(ledger, form, revisions, file, rows, hint)
    counts.files++
    counts.revisions += revisions.length
    if (revisions.length > 1) counts.joint++
    if (form.by.includes("day")) counts.byDay++
    if (form.hoursOf === "punch") counts.byPunch++
    if (form.addUp === "user") counts.byUser++
    if (form.columns.some(({ width }) => width !== undefined)) counts.widths++
    counts.rows += rows.length
    for (const { cells } of rows) {
      counts.cells += cells.length
      if (cells.some((cell) => cell < 0)) counts.negative++
    }
    return { found, bytes: file.bytes, revisions }
  })

  type Written = Effect.Success<ReturnType<typeof written>>

  const assertSame = Effect.fnUntraced(function*(form: Form, { bytes, revisions }: Written) {
    const wanted = wantedOf(form, revisions)
    const again = yield* write(wanted)
    assert.isTrue(Buffer.from(again.bytes).equals(bytes), `${hintOf(wanted)}: other bytes: ${again.text}`)
    counts.again++
  })

  /** What all files printed is what the newest revisions have. */
  const assertAddUp = (ledger: Ledger, form: Form, files: ReadonlyArray<Written>) => {
    const printed = files.reduce<Files.Rows>((sum, { found }) => Files.plus(sum, found, 1), new Map())
    const newest = ledger.reduce<Files.Rows>((sum, active) => {
      const last = active.at(-1)
      return last === undefined ? sum : Files.plus(sum, Files.rowsOf(form, codes, partsOf(last)), 1)
    }, new Map())
    counts.laws++
    assert.strictEqual(
      Files.textOf(printed),
      Files.textOf(newest),
      `${planHint()}: ${files.map(({ revisions }) => revisions.join("+")).join(" ")} by ${JSON.stringify(form)}`
    )
  }

  const assertRefused = Effect.fnUntraced(function*({ kind, says, tag, wanted }: Spoilt) {
    const hint = hintOf(wanted)
    const before = yield* notes
    const outcome = yield* Effect.result(write(wanted))
    if (Result.isSuccess(outcome))
      return assert.fail(`${hint}: not refused as ${tag} ${says.join()}: ${outcome.success.text}`)
    const { _tag, message } = outcome.failure
    assert.strictEqual(_tag, tag, `${hint}: ${message}`)
    for (const word of says) assert.include(message, word, hint)
    assert.strictEqual(yield* notes, before, `${hint}: a refused file is noted`)
    counts.refused.set(kind, (counts.refused.get(kind) ?? 0) + 1)
  })

  /** A revision whose record has no class that the mapping shows, or one that it does not. */
  const assertClasses = (form: Form, all: ReadonlyArray<Paid>) =>
    Effect.gen(function*() {
      const other = all.find((each) => !fits(form, classesOf(each)) && partsOf(each).length > 0)
      if (other === undefined) return
      const known = all.find((each) => fits(form, classesOf(each)) && partsOf(each).length > 0)
      for (const revisions of known === undefined ? [[other]] : [[other], [other, known], [known, other]]) {
        const wanted = wantedOf(form, revisions.map(({ id }) => id))
        yield* assertRefused({ kind: "class", wanted, tag: "MappingError", says: [`the sums of ${other.id}`] })
      }
    })

  const places = (form: Form, isWanted: (column: Column) => boolean) =>
    form.columns.flatMap((column, at) => isWanted(column) ? [at] : [])
  const withColumn = (form: Form, at: number, change: Column): Form => ({
    ...form,
    columns: form.columns.map((column, turn) => turn === at ? { ...column, ...change } : column)
  })

  /** Something that is wrong with a file that was right, if it can be. */
  const spoilt = (ledger: Ledger, form: Form, revisions: ReadonlyArray<string>): Spoilt | undefined => {
    const wanted = wantedOf(form, revisions)
    const known = readBy(ledger, revisions)
    const persons = [...new Set(known.map(({ person }) => person))].toSorted((a, b) => a - b)
    const [one, other] = shuffled(persons)
    const shown = [...Files.shownOf(expectedOf(ledger, form, revisions)).values()]
    const has = (value: string) => places(form, (column) => column.value === value).length > 0
    const hasField = places(form, ({ of }) => of === "user").length > 0
    switch (random.between(0, 11)) {
      case 0: {
        // All ids without a code are named at once.
        const kind = ["user", "location", "role", "department"].find((each) => has(`${each}Code`))
        const ids = kind === undefined
          ? []
          : [...new Set(known.flatMap((part) => Files.idOf(part, kind) ?? []))].filter(() => random.chance(0.6))
        if (kind === undefined || ids.length === 0) return undefined
        const codeOf = (of: string, id: number) => of === kind && ids.includes(id) ? "" : codes.codeOf(of, id)
        return {
          kind: "code",
          wanted: { ...wanted, codes: { ...codes, codeOf } },
          tag: "MissingCodes",
          says: ids.map((id) => `${kind} ${id}`)
        }
      }
      case 1: {
        // A name that is a key, or a required one.
        const at = places(form, ({ value }) => value === "userName")[0]
        if (at === undefined || one === undefined) return undefined
        const nameOf = (kind: string, id: number) => kind === "user" && id === one ? undefined : codes.nameOf(kind, id)
        return {
          kind: "name",
          wanted: { ...wanted, form: withColumn(form, at, { required: true }), codes: { ...codes, nameOf } },
          tag: "MissingCodes",
          says: [`no name for user ${one}`]
        }
      }
      case 2: {
        // Two people of one name would be one row.
        if (has("userCode") || has("userId") || !(has("userName") || hasField)) return undefined
        if (one === undefined || other === undefined) return undefined
        const twin = {
          ...codes,
          nameOf: (kind: string, id: number) => codes.nameOf(kind, kind === "user" && id === one ? other : id),
          fieldOf: (kind: string, id: number, field: string) =>
            codes.fieldOf(kind, kind === "user" && id === one ? other : id, field)
        }
        return {
          kind: "twins",
          wanted: { ...wanted, codes: twin },
          tag: "MappingError",
          says: [`by[${form.by.indexOf("user")}]`, `${one}`, `${other}`, "equal texts"]
        }
      }
      case 3: {
        // A cell is longer than its width.
        const at = shuffled(places(form, (column) => Files.isNumber(column)))[0]
        const row = at === undefined
          ? undefined
          : shown.find(({ cells }) => Math.abs(cells[at] ?? 0) >= 1000)
        if (at === undefined || row === undefined) return undefined
        const narrow = form.header ? { width: 3, header: "n" } : { width: 3 }
        const cramped = { ...withColumn(form, at, narrow), preamble: [], trailer: [] }
        return {
          kind: "width",
          wanted: { ...wanted, form: cramped, set: textsOfRun(cramped) },
          tag: "UnfitCell",
          says: ["row ", `column ${at + 1}`, "the width is 3"]
        }
      }
      case 4: {
        // A character that the encoding lacks.
        const at = places(form, ({ of, value }) => value === "userName" || of === "user")[0]
        const texts = shown.flatMap((row) => at === undefined ? [] : [row.texts[at] ?? ""])
        if (form.encoding !== "windows-1252" || texts.length === 0 || one === undefined) return undefined
        const strange = (text: string | undefined) => `${text}`.replace(/^./, "Ł")
        const nameOf = (kind: string, id: number) => strange(codes.nameOf(kind, id))
        const fieldOf = (kind: string, id: number, field: string) => strange(codes.fieldOf(kind, id, field))
        return {
          kind: "character",
          wanted: { ...wanted, codes: { ...codes, nameOf, fieldOf } },
          tag: "UnfitCell",
          says: ["row 1", "windows-1252 has no \"Ł\""]
        }
      }
      case 5: {
        if (Object.keys(wanted.set).length === 0) {
          return {
            kind: "set",
            wanted: { ...wanted, set: { lot: "1" } },
            tag: "MappingError",
            says: ["the text lot is given"]
          }
        }
        return {
          kind: "set",
          wanted: { ...wanted, set: {} },
          tag: "MappingError",
          says: ["no text batch is given", ".set"]
        }
      }
      case 6: {
        const at = places(form, ({ value }) => value === "payDate")[0]
        if (at === undefined) return undefined
        return {
          kind: "payDate",
          wanted: { ...wanted, payDate: undefined },
          tag: "MappingError",
          says: [`columns[${at}].value`, "no pay date"]
        }
      }
      case 7: {
        // Two days of one text would be one row.
        const at = places(form, ({ value }) => value === "date")
        const days = new Set(known.map(({ date }) => date))
        const months = new Set([...days].map((day) => dateOf(day).slice(0, 7)))
        if (at.length !== 1 || months.size === days.size) return undefined
        return {
          kind: "days",
          wanted: { ...wanted, form: withColumn(form, at[0] ?? 0, { format: "YYYY-MM" }) },
          tag: "MappingError",
          says: [`by[${form.by.indexOf("day")}]`, "have equal texts"]
        }
      }
      case 8: {
        if (!has("userCode") || one === undefined) return undefined
        const codeOf = (kind: string, id: number) => kind === "user" && id === one ? `=1+${id}` : codes.codeOf(kind, id)
        return {
          kind: "formula",
          wanted: { ...wanted, codes: { ...codes, codeOf } },
          tag: "FormulaText",
          says: [`the code of user ${one}`, `=1+${one}`]
        }
      }
      case 9: {
        const [first = ""] = revisions
        return {
          kind: "twice",
          wanted: { ...wanted, revisions: [...revisions, first] },
          tag: "UnknownClose",
          says: [first, "it is named twice"]
        }
      }
      case 10: {
        // A separator in a text that has no quotes.
        const at = places(form, ({ value }) => value === "userCode")[0]
        if (form.quote !== "never" || form.separator === "" || at === undefined || shown.length === 0) return undefined
        const codeOf = (kind: string, id: number) =>
          `${codes.codeOf(kind, id)}${kind === "user" ? `${form.separator}1` : ""}`
        return {
          kind: "separator",
          wanted: { ...wanted, codes: { ...codes, codeOf } },
          tag: "UnfitCell",
          says: ["row 1", `column ${at + 1}`, "it has the separator"]
        }
      }
      default:
        return {
          kind: "unknown",
          wanted: { ...wanted, revisions: shuffled([...revisions, "99.1"]) },
          tag: "UnknownClose",
          says: ["99: there is no such close"]
        }
    }
  }

  /** The mapping by which files are written as revisions become known, and what it printed. */
  let standing: Form | undefined
  const sent: Array<Written> = []

  /** Writes what has no file yet, of all revisions that the mapping shows whole. */
  const grown = Effect.fnUntraced(function*(ledger: Ledger) {
    const all = ledger.flat()
    const [oldest] = all
    if (oldest === undefined) return
    standing ??= randomMapping(random, classesOf(oldest))
    const form = standing
    yield* assertClasses(form, all)
    const open = all.filter((each) =>
      fits(form, classesOf(each)) && !sent.some(({ revisions }) => revisions.includes(each.id))
    )
    // Some wait for the next time.
    const due = open.filter(() => random.chance(0.7)).map(({ id }) => id)
    for (const revisions of split(due))
      sent.push(yield* written(ledger, form, random.chance(0.3) ? shuffled(revisions) : revisions))
  })

  /** The files that were written, then any mapping over any partition. */
  const ended = Effect.fnUntraced(function*(ledger: Ledger, mappings: number) {
    const all = ledger.flat()
    const isActive = (revision: string) => all.some(({ id }) => id === revision)
    if (standing !== undefined) {
      const form = standing
      const own = ledger.map((active) => active.filter((each) => fits(form, classesOf(each))))
      const valid = sent.filter(({ revisions }) => revisions.every(isActive))
      for (const { revisions } of sent) {
        const voided = revisions.filter((each) => !isActive(each))
        if (voided.length === 0) continue
        yield* assertRefused({
          kind: "voided",
          wanted: wantedOf(form, revisions),
          tag: "UnknownClose",
          says: [voided[0] ?? "", "voided by"]
        })
      }
      const first = valid[random.between(0, Math.max(0, valid.length - 1))]
      if (first !== undefined) yield* assertSame(form, first)
      const left = own.flat().filter(({ id }) => !valid.some(({ revisions }) => revisions.includes(id))).map(({ id }) =>
        id
      )
      const rest = yield* Effect.forEach(split(left), (revisions) => written(ledger, form, revisions))
      assertAddUp(own, form, [...valid, ...rest])
    }
    for (let turn = 0; turn < mappings; turn++) {
      const [some] = shuffled(all)
      if (some === undefined) return
      const form = randomMapping(random, classesOf(some))
      yield* assertClasses(form, all)
      const own = ledger.map((active) => active.filter((each) => fits(form, classesOf(each))))
      const partition = split(shuffled(own.flat().map(({ id }) => id)))
      const files = yield* Effect.forEach(partition, (revisions) => written(ledger, form, revisions))
      assertAddUp(own, form, files)
      const [again] = shuffled(files)
      if (again === undefined) continue
      if (random.chance(0.3)) yield* assertSame(form, again)
      for (let attempt = 0; attempt < 4; attempt++) {
        const wrong = spoilt(own, form, again.revisions)
        if (wrong !== undefined) yield* assertRefused(wrong)
      }
    }
  })

  return { grown, ended }
}

export type Laws = ReturnType<typeof makeLaws>
