import { assert, describe, it } from "@effect/vitest"
import { DateTime, Equal, Option, Struct } from "effect"
import { differencesOf, type PunchDisplay } from "../../../src/cli/database/punchFields.ts"
import type { NameKind } from "../../../src/cli/flags/names.ts"
import { BreakId, Cents, LocationId, UserId } from "../../../src/Ids.ts"
import type { PunchChange } from "../../../src/sql/history.ts"
import { TimePunch } from "../../../src/TimePunch.ts"
import { at, punch, rest } from "../../support/arbitraryPunch.ts"
import { PunchPair } from "../../support/punchPair.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const berlin = DateTime.zoneMakeNamedUnsafe("Europe/Berlin")

const reading: PunchDisplay = {
  zoneOf: ({ locationId }) => Option.some(locationId === 5 ? berlin : newYork),
  names: undefined,
  asOf: undefined
}

const hour = 3600

/** Each difference as its three texts. */
const told = (
  before: Option.Option<TimePunch>,
  after: Option.Option<TimePunch>,
  { by = reading, kind = "edited" }: { readonly by?: PunchDisplay; readonly kind?: PunchChange["kind"] } = {}
) => differencesOf({ kind, before, after }, by).map((each) => [each.field, each.before, each.after])

const edited = (change: Partial<TimePunch>, of: Partial<TimePunch> = {}, kind: PunchChange["kind"] = "edited") =>
  told(Option.some(punch(of)), Option.some(punch({ ...of, ...change })), { kind })

describe("the differences of two versions", () => {
  it("are none where there are none", () => {
    assert.deepStrictEqual(edited({}), [])
  })

  it("are in local time and money, with the paid time that follows", () => {
    const paid = rest({ in: 4 * hour, out: 4 * hour + 1800, paid: true })
    const unpaid = { ...paid, paid: false }

    assert.deepStrictEqual(
      edited({ clockedOut: Option.some(at(9 * hour + 30)), hourlyWage: Cents.make(1600), tips: Cents.make(-5) }),
      [
        ["clocked_out", "2026-03-02T11:00:00-05:00", "2026-03-02T12:00:30-05:00"],
        ["net", "8:00", "9:00:30"],
        ["hourly_wage", "15.50", "16.00"],
        ["tips", "0.00", "-0.05"]
      ]
    )
    assert.deepStrictEqual(edited({ breaks: [unpaid] }, { breaks: [paid] }), [
      ["breaks", "07:00 to 07:30 paid", "07:00 to 07:30 unpaid"],
      ["net", "8:00", "7:30"]
    ])
    assert.deepStrictEqual(edited({ breaks: [{ ...unpaid, deleted: true }] }, { breaks: [unpaid] }), [
      ["breaks", "07:00 to 07:30 unpaid", "07:00 to 07:30 unpaid, deleted"],
      ["net", "7:30", "8:00"]
    ])
    assert.deepStrictEqual(edited({ breaks: [{ ...paid, deleted: true }] }, { breaks: [paid] }), [
      ["breaks", "07:00 to 07:30 paid", "07:00 to 07:30 paid, deleted"]
    ])
    assert.deepStrictEqual(edited({ clockedOut: Option.none() }), [
      ["clocked_out", "2026-03-02T11:00:00-05:00", "open"],
      ["net", "8:00", "?"]
    ])
  })

  it("show breaks of equal times in full where they differ", () => {
    const one = rest({ in: 90, out: null, paid: true })

    assert.deepStrictEqual(edited({ breaks: [{ ...one, id: BreakId.make(2) }] }, { breaks: [one] }), [
      [
        "breaks",
        "1: 2026-03-02T03:01:30-05:00 to none paid, type 0, user 7",
        "2: 2026-03-02T03:01:30-05:00 to none paid, type 0, user 7"
      ]
    ])
    assert.deepStrictEqual(edited({ breaks: [one] }), [["breaks", "", "03:01:30 to none paid"]])
  })

  it("do not take another clock for another time", () => {
    assert.deepStrictEqual(edited({ locationId: LocationId.make(5) }), [["location_id", "4", "5"]])
  })

  it("have the net time that counts in the period", () => {
    const moved = { clockedIn: at(-hour) }
    const clockedIn = ["clocked_in", "2026-03-02T03:00:00-05:00", "2026-03-02T02:00:00-05:00"]

    assert.deepStrictEqual(edited({ deleted: true }, {}, "deleted"), [["net", "8:00", ""], ["deleted", "no", "yes"]])
    assert.deepStrictEqual(edited({ deleted: false }, { deleted: true }, "undeleted"), [
      ["net", "", "8:00"],
      ["deleted", "yes", "no"]
    ])
    assert.deepStrictEqual(edited(moved, {}, "movedOut"), [clockedIn, ["net", "8:00", ""]])
    assert.deepStrictEqual(edited(moved, {}, "movedIn"), [clockedIn, ["net", "", "9:00"]])
    assert.deepStrictEqual(edited(moved), [clockedIn, ["net", "8:00", "9:00"]])
  })

  it("are without modified, which moves with every edit", () => {
    assert.deepStrictEqual(edited({ modified: Option.some(at(0)), approved: false }), [["approved", "yes", "no"]])
  })

  it("are the main fields where there is one version", () => {
    const whole = [
      ["clocked_out", "2026-03-02T11:00:00-05:00"],
      ["net", "8:00"],
      ["hourly_wage", "15.50"],
      ["tips", "0.00"],
      ["approved", "yes"],
      ["notes", "late"]
    ]

    assert.deepStrictEqual(
      told(Option.none(), Option.some(punch({ notes: "late" }))),
      whole.map(([field, text]) => [field, "", text])
    )
    assert.deepStrictEqual(
      told(Option.some(punch({ notes: "late" })), Option.none()),
      whole.map(([field, text]) => [field, text, ""])
    )
  })

  it("have names beside the ids that the file names", () => {
    const names = (kind: NameKind, id: number) => kind === "user" && id === 8 ? "Анна" : undefined

    assert.deepStrictEqual(
      told(Option.some(punch()), Option.some(punch({ userId: UserId.make(8) })), { by: { ...reading, names } }),
      [
        ["user_id", "7", "8 Анна"]
      ]
    )
  })

  it("count an open punch up to asOf", () => {
    const open = Option.some(punch({ clockedOut: Option.none() }))

    assert.deepStrictEqual(told(open, Option.some(punch()), { by: { ...reading, asOf: at(hour) } }), [
      ["clocked_out", "open", "2026-03-02T11:00:00-05:00"],
      ["net", "1:00", "8:00"]
    ])
  })

  it.prop("show every field that differs", [PunchPair, PunchPair], ([{ domain: before }, { domain: after }]) => {
    const shown = told(Option.some(before), Option.some(after))
    const { companyId: _company, id: _id, modified: _modified, ...expected } = TimePunch.fields

    for (const key of Struct.keys(expected)) {
      const field = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      assert.strictEqual(shown.some(([name]) => name === field), !Equal.equals(before[key], after[key]), key)
    }
    assert.notInclude(JSON.stringify(shown), "[object")
  })
})
