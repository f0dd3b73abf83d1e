import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Result, Stdio } from "effect"
import { Command } from "effect/cli"
import { describeFilter, filterFlags, type FilterInput, toFilter } from "../../../src/cli/flags/filter.ts"
import { BusinessDate, DepartmentId, LocationId, type PunchFilter, RoleId, UserId } from "../../../src/index.ts"
import { parameters } from "../../../src/listing/parameters.ts"

/** What the flags are parsed to; fails as the command does. */
const parse = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const inputs: Array<FilterInput> = []
  const probe = Command.make("probe", filterFlags, (input) => Effect.sync(() => inputs.push(input)))
  yield* Command.runWith(probe, { version: "0", renderErrors: false })(args).pipe(
    Effect.provide(Stdio.layerTest({})),
    Effect.provide(NodeServices.layer)
  )
  const [input] = inputs
  return input === undefined ? yield* Effect.die(new Error("the handler did not run")) : input
})

const filterOf = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(parse(...args), (input) => Effect.result(toFilter(input)))

/** A filter without what is undefined, so that it can be compared. */
const given = (filter: Result.Result<PunchFilter, unknown>) =>
  Result.map(filter, (filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)))

const at = DateTime.makeUnsafe

describe("the filter flags", () => {
  it.effect("filter nothing where none is given", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(given(yield* filterOf()), Result.succeed({}))
    }))

  it.effect("make a filter, each in the terms of the interface", () =>
    Effect.gen(function*() {
      const call = `
        --location-id 3 --department-id 4 --role-id 5 --user-id 9007199254740991
        --approved false --deleted include --localize-search-time
        --modified-since 2026-03-01T00:00:00Z --flags late,missed_break
        --employee-approval-statuses disputed --sort-by clocked_in.desc,hourly_wage.asc,id
        --clocked-in-gte 2026-03-01T00:00:00+01:00 --clocked-in-lte 2026-03-02T00:00:00.250Z
        --clocked-out-lte=2026-03-03T00:00:00Z`
      const filter = yield* filterOf(...call.trim().split(/\s+/))

      assert.deepStrictEqual(
        given(filter),
        Result.succeed({
          locationId: LocationId.make(3),
          departmentId: DepartmentId.make(4),
          roleId: RoleId.make(5),
          userId: UserId.make(Number.MAX_SAFE_INTEGER),
          approved: false,
          deleted: "include",
          modifiedSince: at("2026-03-01T00:00:00Z"),
          flags: ["late", "missed_break"],
          employeeApprovalStatuses: ["disputed"],
          localizeSearchTime: true,
          sortBy: [["clockedIn", "desc"], ["hourlyWage", "asc"], ["id", "asc"]],
          clockedIn: { gte: at("2026-02-28T23:00:00Z"), lte: at("2026-03-02T00:00:00.250Z"), lt: undefined },
          clockedOut: { gte: undefined, lte: at("2026-03-03T00:00:00Z"), lt: undefined }
        })
      )
    }))

  it.effect("make windows that end before an instant, and windows of business dates", () =>
    Effect.gen(function*() {
      const halfOpen = yield* filterOf("--clocked-in-lt", "2026-03-02T00:00:00Z", "--approved", "true")
      const dates = yield* filterOf("--business-date-start", "2026-03-01", "--business-date-end", "2026-03-31")

      assert.deepStrictEqual(
        given(halfOpen),
        Result.succeed({
          approved: true,
          clockedIn: { gte: undefined, lte: undefined, lt: at("2026-03-02T00:00:00Z") }
        })
      )
      assert.deepStrictEqual(
        given(dates),
        Result.succeed({
          businessDate: { first: BusinessDate.make("2026-03-01"), last: BusinessDate.make("2026-03-31") }
        })
      )
    }))

  it.effect("refuse business dates beside clock windows, which the service would drop", () =>
    Effect.gen(function*() {
      const filter = yield* filterOf("--business-date-end", "2026-03-31", "--clocked-out-gte", "2026-03-01T00:00:00Z")

      assert.isTrue(Result.isFailure(filter))
      if (Result.isFailure(filter)) assert.match(filter.failure.message, /--business-date-start and -end switch/)
    }))

  it.effect.each([
    "--user-id=-1",
    "--user-id=1.0",
    "--user-id=1e3",
    "--user-id= 1",
    "--user-id=",
    "--user-id=9007199254740992",
    "--approved=yes",
    "--approved=null",
    "--deleted=true",
    "--modified-since=2026-03-01",
    "--modified-since=2026-03-01T00:00:00",
    "--modified-since=2026-02-30T00:00:00Z",
    "--modified-since=yesterday",
    "--business-date-start=2026-02-29",
    "--business-date-start=2026-3-1",
    "--flags=",
    "--flags=late,",
    "--flags=late, missed_break",
    "--flags=early",
    "--employee-approval-statuses=approved,unknown",
    "--sort-by=clockedIn.desc",
    "--sort-by=clocked_in.down",
    "--sort-by=clocked_in.desc.asc",
    "--sort-by=to_string.asc",
    "--sort-by=breaks.asc",
    "--sort-by="
  ])("refuse %s", (flag) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(parse(flag))

      assert.strictEqual(error._tag, "ShowHelp")
      assert.match(error._tag === "ShowHelp" ? error.errors.join() : "", new RegExp(flag.replace(/=.*/, "")))
    }))

  it.effect("refuse a flag that is given twice, and one that does not exist", () =>
    Effect.gen(function*() {
      const twice = yield* Effect.flip(parse("--user-id", "1", "--user-id", "2"))
      const unknown = yield* Effect.flip(parse("--clocked_in_gte", "2026-03-01T00:00:00Z"))

      assert.strictEqual(twice._tag, "ShowHelp")
      assert.strictEqual(unknown._tag, "ShowHelp")
    }))

  const names = Object.values(parameters).flatMap(({ wire }) =>
    wire.map((name) => `--${name.replaceAll(/[_[]/g, "-")}`)
  )

  it.effect.each([...names, "--clocked-in-lt", "--clocked-out-lt"])(
    "have the names of the wire, with dashes: %s",
    (name) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(parse(`${name.replace("]", "")}=%`))

        assert.deepStrictEqual(error._tag === "ShowHelp" ? error.errors.map(({ _tag }) => _tag) : [], ["InvalidValue"])
      })
  )

  it.effect("are described by what was given, in the form that a checkpoint keeps", () =>
    Effect.gen(function*() {
      const call = `
        --location-id 3 --approved false --deleted include --localize-search-time --flags late,missed_break
        --employee-approval-statuses disputed --sort-by clocked_in.desc,id --clocked-in-gte 2026-03-01T00:00:00+01:00
        --clocked-in-lt 2026-03-02T00:00:00.250Z`

      assert.deepStrictEqual(describeFilter(yield* parse(...call.trim().split(/\s+/))), {
        "--location-id": "3",
        "--approved": "false",
        "--deleted": "include",
        "--localize-search-time": "true",
        "--flags": "late,missed_break",
        "--employee-approval-statuses": "disputed",
        "--sort-by": "clockedIn.desc,id.asc",
        "--clocked-in-gte": "2026-02-28T23:00:00Z",
        "--clocked-in-lt": "2026-03-02T00:00:00.250Z"
      })
      assert.deepStrictEqual(describeFilter(yield* parse("--business-date-end", "2026-03-31")), {
        "--business-date-end": "2026-03-31"
      })
      assert.deepStrictEqual(describeFilter(yield* parse()), {})
    }))

  it.effect("are described in one form for one meaning", () =>
    Effect.gen(function*() {
      const one = describeFilter(yield* parse("--clocked-in-gte", "2026-03-01T01:00:00+01:00", "--sort-by", "id"))
      const other = describeFilter(
        yield* parse("--sort-by", "id.asc", "--deleted", "exclude", "--clocked-in-gte", "2026-03-01T00:00:00.000Z")
      )

      assert.deepStrictEqual(one, { "--clocked-in-gte": "2026-03-01T00:00:00Z", "--sort-by": "id.asc" })
      assert.deepStrictEqual(other, one)
    }))
})
