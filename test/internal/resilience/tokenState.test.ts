import { assert, describe, it } from "@effect/vitest"
import { Duration, Option, Redacted, Result } from "effect"
import {
  decide,
  emptyState,
  invalidated,
  issued,
  refused,
  renewalStarted,
  requestDelay,
  requested,
  settled,
  type TokenLife,
  type TokenState
} from "../../../src/internal/resilience/tokenState.ts"

interface Failure {
  readonly reason: string
  readonly retryAfter: Option.Option<Duration.Duration>
}

type State = TokenState<Failure>

/** A time of the monotonic clock, in seconds. */
const at = (seconds: number): bigint => BigInt(Math.round(seconds * 1e9))

const tokenOf = (lifetime: Duration.Input) => ({
  token: Redacted.make("a token"),
  lifetime: Duration.fromInputUnsafe(lifetime)
})

const empty: State = emptyState

/** What happens to a state, and in which second. */
type Event = (state: State) => State

const request = (second: number): Event => (state) => requested(state, at(second))

const issue = (second: number, lifetime: Duration.Input = "1 hour"): Event => (state) =>
  issued(state, tokenOf(lifetime), at(second))[1]

const failureOf = (reason: string, retryAfter?: Duration.Input): Failure => ({
  reason,
  retryAfter: Option.map(Option.fromUndefinedOr(retryAfter), Duration.fromInputUnsafe)
})

const refuse = (second: number, reason: string, retryAfter?: Duration.Input): Event => (state) =>
  refused(state, failureOf(reason, retryAfter), at(second))

const startRenewal = (second: number): Event => (state) => renewalStarted(state, at(second))

const drop = (generation: number): Event => (state) => invalidated(state, { generation })

/** The state after these events. */
const after = (...events: ReadonlyArray<Event>): State => events.reduce((state, event) => event(state), empty)

const decisionAt = (state: State, second: number): string =>
  decide(state, at(second), {
    use: ({ generation }) => `use ${generation}`,
    useAndRenew: ({ generation }, now) => `use ${generation} and renew from ${now}`,
    wait: "wait"
  })

const settledAt = (state: State, second: number): string =>
  Option.match(settled(state, at(second)), {
    onNone: () => "request",
    onSome: Result.match({ onSuccess: ({ generation }) => `use ${generation}`, onFailure: ({ reason }) => reason })
  })

const delayAt = (state: State, second: number): number => Duration.toMillis(requestDelay(state, at(second)))

const currentOf = (state: State): TokenLife => Option.getOrThrow(state.current)

describe("decide", () => {
  const renewing = "use 1 and renew from"

  const table: ReadonlyArray<readonly [name: string, state: State, second: number, decision: string]> = [
    ["there was never a token", empty, 0, "wait"],
    ["the token is new", after(issue(0)), 0, "use 1"],
    ["the token is not due", after(issue(0)), 3299.999, "use 1"],
    ["the renewal is due", after(issue(0)), 3300, `${renewing} ${at(3300)}`],
    ["a renewal started", after(issue(0), startRenewal(3300)), 3300, "use 1"],
    ["a renewal started 30 seconds ago", after(issue(0), startRenewal(3300)), 3330, `${renewing} ${at(3330)}`],
    ["the token is about to end", after(issue(0), startRenewal(3560)), 3569.999, "use 1"],
    ["the token has ended", after(issue(0)), 3570, "wait"],
    ["the token has ended during a renewal", after(issue(0), startRenewal(3560)), 3570, "wait"],
    ["the token had no life", after(issue(0, 0)), 0, "wait"],
    ["the service refused the token", after(issue(0), drop(1)), 1, "wait"],
    ["the service refused its predecessor", after(issue(0), drop(1), issue(1), drop(1)), 1, "use 2"],
    ["the client was refused while the token is good", after(issue(0), refuse(3300, "InvalidClient")), 3000, "use 1"],
    ["a renewal brought the next token", after(issue(0), startRenewal(3300), issue(3301)), 3331, "use 2"]
  ]

  it.each(table)("when %s", (_name, state, second, decision) => {
    assert.strictEqual(decisionAt(state, second), decision)
  })
})

describe("settled", () => {
  const table: ReadonlyArray<readonly [name: string, state: State, second: number, answer: string]> = [
    ["there was never a token", empty, 0, "request"],
    ["the token is not due, as for a waiter that another renewal served", after(issue(0)), 3299.999, "use 1"],
    ["the renewal is due", after(issue(0)), 3300, "request"],
    ["the token is not due, whatever was refused", after(issue(0), refuse(0, "InvalidClient")), 1, "use 1"],
    ["the client was refused", after(refuse(0, "InvalidClient")), 29.999, "InvalidClient"],
    ["the client was refused 30 seconds ago", after(refuse(0, "InvalidClient")), 30, "request"],
    [
      "the renewal is due, and the client was refused",
      after(issue(0), refuse(3300, "InvalidClient")),
      3300,
      "InvalidClient"
    ],
    [
      "the service refused the token, and the endpoint the client",
      after(issue(0), refuse(9, "InvalidClient"), drop(1)),
      9,
      "InvalidClient"
    ]
  ]

  it.each(table)("when %s", (_name, state, second, answer) => {
    assert.strictEqual(settledAt(state, second), answer)
  })
})

describe("requestDelay", () => {
  const replaced = after(request(0), issue(0), drop(1), request(0.5), issue(0.5), drop(2))

  const table: ReadonlyArray<readonly [name: string, state: State, second: number, millis: number]> = [
    ["of the first request", empty, 0, 0],
    ["after a request that failed", after(request(0)), 0.25, 750],
    ["a second after the last request", after(request(0)), 1, 0],
    ["long after the last request", after(request(0)), 100, 0],
    ["after a request whose token has ended", after(request(0), issue(0, 0)), 0.25, 750],
    ["of the replacement of a refused token", after(request(0), issue(0), drop(1)), 0.25, 0],
    ["of a second replacement in a row", replaced, 0.75, 750],
    ["of a replacement that failed", after(request(0), issue(0), drop(1), request(0.5)), 0.75, 750],
    [
      "of a replacement after a renewal between",
      after(request(0), issue(0), drop(1), request(0.5), issue(0.5), request(3301), issue(3301), drop(3)),
      3301.5,
      0
    ]
  ]

  it.each(table)("%s", (_name, state, second, millis) => {
    assert.strictEqual(delayAt(state, second), millis)
  })
})

describe("issued", () => {
  const lives: ReadonlyArray<readonly [lifetime: number, renewAt: number, expiresAt: number]> = [
    [3600, 3300, 3570],
    [600, 300, 570],
    [599, 299.5, 569],
    [300, 150, 270],
    [299, 149.5, 269.1],
    [10, 5, 9],
    [0, 0, 0]
  ]

  it.each(lives)(
    "renews a token of %s seconds from second %s on, and drops it from second %s on",
    (life, renewAt, end) => {
      const [token, state] = issued(empty, tokenOf(Duration.seconds(life)), at(1000))

      assert.deepStrictEqual([token.renewAt, token.expiresAt], [at(1000 + renewAt), at(1000 + end)])
      assert.strictEqual(currentOf(state), token)
      assert.strictEqual(state.nextRenewal, token.renewAt)
    }
  )

  it("keeps a token with an infinite lifetime", () => {
    assert.strictEqual(decisionAt(after(issue(0, "Infinity")), 1e9), "use 1")
  })

  it("counts one generation more, also after a refused token", () => {
    const state = after(issue(0), issue(1), drop(2), issue(2))

    assert.strictEqual(currentOf(state).generation, 3)
    assert.strictEqual(state.generation, 3)
  })
})

describe("refused", () => {
  const blocks: ReadonlyArray<readonly [reason: string, retryAfter: Duration.Input | undefined, seconds: number]> = [
    ["InvalidClient", undefined, 30],
    ["InvalidClient", "1 hour", 30],
    ["Throttled", "45 seconds", 45],
    ["Throttled", "5 minutes", 300],
    ["Throttled", "1 hour", 300],
    ["Throttled", "Infinity", 300],
    ["Throttled", 0, 0],
    ["Throttled", undefined, 60],
    ["Transport", "45 seconds", 0],
    ["Rejected", undefined, 0],
    ["Malformed", undefined, 0]
  ]

  it.each(blocks)("with %s and a Retry-After of %s blocks requests for %s seconds", (reason, retryAfter, seconds) => {
    const { blockedUntil } = after(refuse(100, reason, retryAfter))

    assert.deepStrictEqual(
      blockedUntil,
      seconds === 0 ? Option.none() : Option.some({ time: at(100 + seconds), error: failureOf(reason, retryAfter) })
    )
  })

  it("ends the block of the failure before it", () => {
    assert.strictEqual(settledAt(after(refuse(0, "InvalidClient"), refuse(1, "Rejected")), 2), "request")
  })

  it("keeps the current token", () => {
    assert.strictEqual(currentOf(after(issue(0), refuse(1, "InvalidClient"))).generation, 1)
  })
})

describe("invalidated", () => {
  it("drops the token of that generation", () => {
    assert.isTrue(Option.isNone(after(issue(0), drop(1)).current))
  })

  it.each([
    ["of an older generation", after(issue(0), issue(1)), 1],
    ["when the token is dropped already", after(issue(0), drop(1)), 1],
    ["when there was never a token", empty, 1]
  ])("changes nothing %s", (_name, state, generation) => {
    assert.strictEqual(invalidated(state, { generation }), state)
  })
})
