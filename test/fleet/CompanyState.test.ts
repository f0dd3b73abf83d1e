import { assert, describe, it } from "@effect/vitest"
import { Duration, Option } from "effect"
import * as Errors from "../../src/ApiError.ts"
import {
  decide,
  type Decision,
  defectOf,
  type EndContext,
  FleetState,
  type Outcome,
  outcomeOf,
  type OutcomeTag,
  phaseAfter,
  type RowAtEnd
} from "../../src/fleet/CompanyState.ts"
import { CompanyId } from "../../src/index.ts"
import { SyncError, SyncReason } from "../../src/sync/index.ts"

const minute = 60_000

const row: RowAtEnd = { state: "active", every: 900_000, failures: 2, tag: undefined, tagCount: 0, tagSince: undefined }

const context: EndContext = {
  now: 1_000_000_000,
  random: 0.5,
  isPaged: false,
  credentials: "shared",
  isPaused: false,
  throttledOthers: 0,
  unauthorized: 0,
  isServedElsewhere: false,
  active: 300
}

const failure = { tag: "T", text: "what happened" }

/** One outcome of each kind. A kind that is missing does not compile. */
const every: { readonly [Tag in OutcomeTag]: Extract<Outcome, { readonly _tag: Tag }> } = {
  Complete: { _tag: "Complete", isResumed: false },
  TurnOver: { _tag: "TurnOver", isEmpty: false },
  Transient: { _tag: "Transient", failure },
  StoreFailed: { _tag: "StoreFailed", failure },
  Throttled: { _tag: "Throttled", failure },
  Refused: { _tag: "Refused", failure },
  Invalid: { _tag: "Invalid", failure },
  NoCredential: { _tag: "NoCredential", failure, reason: "InvalidClient" },
  Unreadable: { _tag: "Unreadable", failure },
  TooManyMissing: { _tag: "TooManyMissing", failure },
  Defect: { _tag: "Defect", failure }
}

const outcomes = Object.values(every)

/** The outcome of an answer that asks to wait. */
const asking = (
  outcome: Extract<Outcome, { readonly _tag: "Throttled" | "Transient" | "Refused" | "Unreadable" }>,
  retryAfter: Duration.Duration
): Outcome => ({
  ...outcome,
  failure: { ...failure, retryAfter }
})

/** What a decision does, on one line. */
const said = ({ error, failures, next, pause, reason, state }: Decision): string =>
  [
    state,
    reason,
    next._tag === "In" ? `in ${next.millis}` : next._tag,
    `failures ${failures}`,
    typeof error === "string" ? error : "error",
    pause && `pause ${pause.reason} ${pause.millis}`
  ].filter((part) => part !== undefined).join(", ")

/** `every` is 15 minutes, two failures before, the draw 0.5: half of an hour. */
const halfAnHour = 30 * minute

describe("decide", () => {
  const table: { readonly [Tag in OutcomeTag]: string } = {
    Complete: "active, Slot, failures 0, clear",
    TurnOver: "active, Now, failures 2, keep",
    Transient: `active, in ${halfAnHour}, failures 3, error`,
    StoreFailed: "active, in 30000, failures 3, error",
    Throttled: `active, in ${halfAnHour}, failures 3, error`,
    Refused: `active, in ${halfAnHour}, failures 3, error`,
    Invalid: `blocked, T, in ${halfAnHour}, failures 3, error`,
    NoCredential: "active, Now, failures 3, error, pause InvalidClient undefined",
    Unreadable: `active, in ${halfAnHour}, failures 3, error`,
    TooManyMissing: "active, Slot, failures 0, error",
    Defect: `active, in ${halfAnHour}, failures 3, error`
  }

  it.each(outcomes)("ends an active company as the table says: $_tag", (outcome) => {
    assert.strictEqual(said(decide(outcome, row, context)), table[outcome._tag])
  })

  const others = FleetState.literals.filter((state) => state !== "active")

  it.each(others.flatMap((state) => outcomes.map((outcome) => ({ state, outcome, kind: outcome._tag }))))(
    "leaves the state $state that was set while the turn ran: $kind",
    ({ outcome, state }) => {
      const struck = { ...row, state, tag: "T", tagCount: 9, tagSince: 0 }
      const decided = decide(outcome, struck, context)

      assert.strictEqual(decided.state, state)
      assert.strictEqual(decided.reason, undefined)
    }
  )

  it("is due again at once after a resumed pass", () => {
    assert.strictEqual(decide({ _tag: "Complete", isResumed: true }, row, context).next._tag, "Now")
  })

  it("waits five seconds behind a turn whose pages were all empty", () => {
    assert.deepStrictEqual(decide({ _tag: "TurnOver", isEmpty: true }, row, context).next, { _tag: "In", millis: 5000 })
  })

  it("counts failures from 0 once a page was stored", () => {
    assert.strictEqual(decide(every.TurnOver, row, { ...context, isPaged: true }).failures, 0)
    assert.strictEqual(decide(every.Transient, row, { ...context, isPaged: true }).failures, 1)
  })

  it("waits as long as the service asks, and pauses the fleet from the third throttled company on", () => {
    const throttled: Outcome = asking(every.Throttled, Duration.minutes(2))

    assert.strictEqual(said(decide(throttled, row, context)), "active, in 120000, failures 3, error")
    assert.strictEqual(decide(throttled, row, { ...context, throttledOthers: 1 }).pause, undefined)
    for (const minutes of [24 * 60 + 1, 1e15]) {
      const { next } = decide(asking(every.Throttled, Duration.minutes(minutes)), row, context)
      assert.deepStrictEqual(next, { _tag: "In", millis: 24 * 60 * minute }, "a wait of years is one for ever")
    }
    for (const minutes of [1, 15, 24 * 60]) {
      for (let random = 0; random <= 1; random += 0.001) {
        for (const bare of [every.Throttled, asking(every.Throttled, Duration.zero)]) {
          const { next } = decide(bare, { ...row, failures: 0, every: minutes * minute }, { ...context, random })
          const millis = next._tag === "In" ? next.millis : 0
          assert.isAtLeast(millis, minute, "a block of a minute that the service does not name")
          assert.isAtMost(millis, Math.max(1.2, minutes) * minute)
        }
      }
    }
    for (const [retryAfter, millis] of [[1, 1], [2, 2], [60, 15]] as const) {
      const outcome = asking(every.Throttled, Duration.minutes(retryAfter))
      const { pause } = decide(outcome, row, { ...context, throttledOthers: 2 })
      assert.deepStrictEqual(pause, { reason: "RateLimited", millis: millis * minute })
    }
  })

  it.each(
    [
      ["Unreadable", 3, "blocked"],
      ["Defect", 5, "quarantined"]
    ] as const
  )("takes %s for a fault of the company after %i of one tag in a row", (tag, count, state) => {
    let struck: Pick<RowAtEnd, "tag" | "tagCount" | "tagSince"> = row
    for (let turn = 1; turn <= count; turn++) {
      const decided = decide(every[tag], { ...row, ...struck }, context)
      assert.strictEqual(decided.state, turn === count ? state : "active", `turn ${turn}`)
      const { strike } = decided
      struck = { tag: strike?.tag, tagCount: strike?.count ?? 0, tagSince: strike?.since }
    }
  })

  it("begins again to count with another tag, and with another outcome", () => {
    const struck = { ...row, tag: "Other", tagCount: 2, tagSince: 5 }

    assert.deepStrictEqual(decide(every.Unreadable, struck, context).strike, { tag: "T", count: 1, since: context.now })
    for (const tag of ["Complete", "TurnOver", "Transient", "Throttled", "TooManyMissing"] as const) {
      assert.strictEqual(decide(every[tag], struck, context).strike, undefined, tag)
    }
  })

  it("blocks a refused company after three refusals that span 15 minutes and two intervals", () => {
    const refused = (tagCount: number, span: number, interval: number) =>
      decide(
        every.Refused,
        { ...row, every: interval, tag: "T", tagCount, tagSince: context.now - span },
        context
      ).state

    assert.strictEqual(refused(1, 60 * minute, minute), "active")
    assert.strictEqual(refused(2, 15 * minute - 1, minute), "active")
    assert.strictEqual(refused(2, 15 * minute, minute), "blocked")
    assert.strictEqual(refused(2, 120 * minute - 1, 60 * minute), "active")
    assert.strictEqual(refused(2, 120 * minute, 60 * minute), "blocked")
  })

  it("pauses the fleet instead if ten companies are unauthorized, or all of fewer, and then counts none", () => {
    const unauthorized: Outcome = { _tag: "Refused", failure: { tag: "Unauthorized", text: "" } }
    const struck = { ...row, tag: "Unauthorized", tagCount: 2, tagSince: 0 }
    const pause = { reason: "Unauthorized", millis: undefined } as const
    const with10 = decide(unauthorized, struck, { ...context, unauthorized: 10 })

    assert.deepStrictEqual([with10.state, with10.pause, with10.strike], ["active", pause, undefined])
    assert.deepStrictEqual(decide(unauthorized, struck, { ...context, unauthorized: 9 }).pause, undefined)
    assert.deepStrictEqual(decide(unauthorized, struck, { ...context, unauthorized: 3, active: 3 }).pause, pause)
    assert.strictEqual(decide(every.Refused, struck, { ...context, unauthorized: 10 }).pause, undefined)
  })

  it("counts no strike while a pause holds", () => {
    const struck = { ...row, tag: "T", tagCount: 2, tagSince: 0 }
    for (const tag of ["Refused", "Unreadable"] as const) {
      const decided = decide(every[tag], struck, { ...context, isPaused: true })

      assert.strictEqual(decided.state, "active", tag)
      assert.deepStrictEqual(decided.strike, { tag: "T", count: 2, since: 0 }, tag)
    }
  })

  it("pauses nothing for a process that is refused alone, and leaves its company to the others", () => {
    const decided = decide(every.NoCredential, row, { ...context, isServedElsewhere: true })

    assert.deepStrictEqual([decided.state, decided.next._tag, decided.pause], ["active", "Now", undefined])
  })

  it("blocks the company whose credential is its own", () => {
    const decided = decide(every.NoCredential, row, { ...context, credentials: "perCompany" })

    assert.deepStrictEqual([decided.state, decided.pause], ["blocked", undefined])
  })
})

describe("outcomeOf", () => {
  const companyId = CompanyId.make(1)
  const sync = (tag: SyncError["reason"]["_tag"]) =>
    new SyncError({
      companyId,
      reason: tag === "TooManyMissing" ? new SyncReason[tag]({ missing: 101, rows: 200 }) : new SyncReason[tag]({})
    })
  const token = (reason: Errors.TokenError["reason"]) => new Errors.TokenError({ reason })

  it.each<readonly [Errors.ListError | SyncError, OutcomeTag, string]>([
    [new Errors.TransportError({ reason: "Connect" }), "Transient", "TransportError"],
    [new Errors.ServerError({}), "Transient", "ServerError"],
    [new Errors.ServiceUnavailable({}), "Transient", "ServiceUnavailable"],
    [token("Transport"), "Transient", "TokenError.Transport"],
    [token("Malformed"), "Transient", "TokenError.Malformed"],
    [sync("Superseded"), "Transient", "SyncError.Superseded"],
    [sync("Store"), "StoreFailed", "SyncError.Store"],
    [new Errors.RateLimited({}), "Throttled", "RateLimited"],
    [token("Throttled"), "Throttled", "TokenError.Throttled"],
    [new Errors.Unauthorized({}), "Refused", "Unauthorized"],
    [new Errors.Forbidden({}), "Refused", "Forbidden"],
    [new Errors.InvalidRequest({ field: "guid", detail: "" }), "Invalid", "InvalidRequest"],
    [sync("Checkpoint"), "Invalid", "SyncError.Checkpoint"],
    [sync("NewerCheckpoint"), "StoreFailed", "SyncError.NewerCheckpoint"],
    [token("InvalidClient"), "NoCredential", "TokenError.InvalidClient"],
    [token("Rejected"), "NoCredential", "TokenError.Rejected"],
    [new Errors.DecodeError({ reason: "Schema" }), "Unreadable", "DecodeError"],
    [new Errors.PaginationError({ reason: "CursorCycle" }), "Unreadable", "PaginationError"],
    [new Errors.UnprocessableEntity({}), "Unreadable", "UnprocessableEntity"],
    [new Errors.UnexpectedStatus({ status: 302 }), "Unreadable", "UnexpectedStatus"],
    [new Errors.UnexpectedStatus({ status: 404 }), "Unreadable", "UnexpectedStatus"],
    [new Errors.UnexpectedStatus({ status: 400, isHtml: true }), "Unreadable", "UnexpectedStatus"],
    [new Errors.UnexpectedStatus({ status: 999 }), "Unreadable", "UnexpectedStatus"],
    // Of what stands in front of the service, whatever the tag.
    [new Errors.UnexpectedStatus({ status: 404, isHtml: true }), "Transient", "UnexpectedStatus"],
    [new Errors.UnexpectedStatus({ status: 501 }), "Transient", "UnexpectedStatus"],
    [new Errors.UnexpectedStatus({ status: 511, isHtml: true }), "Transient", "UnexpectedStatus"],
    [new Errors.ServiceUnavailable({ status: 522, isHtml: true }), "Transient", "ServiceUnavailable"],
    [new Errors.Unauthorized({ isHtml: true }), "Transient", "Unauthorized"],
    [new Errors.Forbidden({ isHtml: true }), "Transient", "Forbidden"],
    [new Errors.DecodeError({ reason: "ContentType" }), "Transient", "DecodeError"],
    [new Errors.DecodeError({ reason: "NotJson" }), "Transient", "DecodeError"],
    [new Errors.DecodeError({ reason: "Empty" }), "Transient", "DecodeError"],
    [new Errors.DecodeError({ reason: "Charset" }), "Unreadable", "DecodeError"],
    [new Errors.RateLimited({ isHtml: true }), "Throttled", "RateLimited"],
    [sync("CursorLost"), "Unreadable", "SyncError.CursorLost"],
    [sync("TooManyMissing"), "TooManyMissing", "SyncError.TooManyMissing"]
  ])("knows every error of a sync: %#", (error, kind, tag) => {
    const outcome = outcomeOf(error)

    assert.strictEqual(outcome._tag, kind)
    assert.strictEqual("failure" in outcome ? outcome.failure.tag : "", tag)
  })

  it("says of a company without a guid how it gets one", () => {
    const outcome = outcomeOf(
      new Errors.InvalidRequest({ companyId: CompanyId.make(7), field: "company.guid", detail: "x" })
    )

    assert.deepInclude("failure" in outcome ? outcome.failure : {}, {
      tag: "InvalidRequest",
      text: "no guid, which an OAuth client must send: add the company again as 7=GUID, then resume it"
    })
  })

  it.each([
    new Errors.RateLimited({ retryAfter: Option.some(Duration.seconds(7)) }),
    new Errors.ServerError({ retryAfter: Option.some(Duration.seconds(7)) }),
    new Errors.ServiceUnavailable({ retryAfter: Option.some(Duration.seconds(7)) }),
    new Errors.Forbidden({ retryAfter: Option.some(Duration.seconds(7)) }),
    new Errors.TokenError({ reason: "Throttled", retryAfter: Option.some(Duration.seconds(7)) })
  ])("keeps how long the service asks to wait: $_tag", (error) => {
    const outcome = outcomeOf(error)

    assert.deepStrictEqual("failure" in outcome ? outcome.failure.retryAfter : undefined, Duration.seconds(7))
  })

  it.each(["Transient", "Refused", "Unreadable"] as const)(
    "takes no turn before the wait of the service is over: %s",
    (tag) => {
      const next = (retryAfter: Duration.Duration) => {
        const { next } = decide(asking(every[tag], retryAfter), row, context)
        return next._tag === "In" ? next.millis : 0
      }
      const usual = next(Duration.zero)

      assert.strictEqual(next(Duration.millis(usual - 1)), usual)
      assert.strictEqual(next(Duration.millis(usual + 1)), usual + 1)
      assert.strictEqual(next(Duration.days(365)), 24 * 60 * minute)
    }
  )

  it("keeps one printable line of 500 characters", () => {
    const outcome = defectOf(`first\nsecond ${"x".repeat(900)}`)
    const text = "failure" in outcome ? outcome.failure.text : ""

    assert.lengthOf(text, 500)
    assert.notInclude(text, "\n")
  })
})

describe("phaseAfter", () => {
  it("is first until a pass is complete, and sweep while one is under way", () => {
    const { Complete, TooManyMissing, Transient, TurnOver } = every

    assert.deepStrictEqual(phaseAfter("first", TurnOver, "first"), { phase: "first", isSwept: false })
    assert.deepStrictEqual(phaseAfter("first", Transient, undefined), { phase: "first", isSwept: false })
    assert.deepStrictEqual(phaseAfter("first", Complete, "first"), { phase: "increment", isSwept: true })
    assert.deepStrictEqual(phaseAfter("increment", Complete, "increment"), { phase: "increment", isSwept: false })
    assert.deepStrictEqual(phaseAfter("increment", TurnOver, "sweep"), { phase: "sweep", isSwept: false })
    assert.deepStrictEqual(phaseAfter("sweep", Transient, undefined), { phase: "sweep", isSwept: false })
    assert.deepStrictEqual(phaseAfter("sweep", Complete, "sweep"), { phase: "increment", isSwept: true })
    assert.deepStrictEqual(phaseAfter("sweep", TooManyMissing, "sweep"), { phase: "increment", isSwept: true })
  })
})
