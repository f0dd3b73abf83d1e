/** What the pages of one run share: the settings of its client, changed by what is provided to the run and by its options. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { InvalidRequest } from "../ApiError.ts"
import { ApiVersion } from "../ApiVersion.ts"
import type { Credentials } from "../Credentials.ts"
import { BusinessDate, type CompanyId } from "../Ids.ts"
import type { SendRequest } from "../internal/http/client.ts"
import { timedOut } from "../internal/http/transportFailure.ts"
import { type Deadlines, makeDeadlines } from "../internal/resilience/deadline.ts"
import { type Budget, type Limits, makeBudget, monotonicMillis } from "../internal/resilience/retry.ts"
import { changeRetry, durationOf } from "../internal/wire/retryOptions.ts"
import type { Spelling } from "../internal/wire/spelling.ts"
import { PageSize, type RunOptions } from "../ListOptions.ts"
import { RetryPolicy, type RetrySettings } from "../RetryPolicy.ts"
import { deadlineFailure, type Failure, transportFailure } from "./failure.ts"
import { invalid } from "./request.ts"
import { RunVersions, type Versions } from "./version.ts"

/** What every page request of a client shares. */
export interface Client {
  readonly baseUrl: string
  readonly version: Option.Option<string>
  /** Rows in one request of a run that names no other number. */
  readonly pageSize: number
  readonly sign: Credentials["Service"]["sign"]
  readonly send: SendRequest
  readonly retry: RetrySettings
  /** `retry` in milliseconds. */
  readonly policy: Policy
  /** The budgets of policies that are provided to runs and name another one, by the policy. */
  readonly budgets: WeakMap<RetrySettings, Budget>
  /** How requests last named deleted punches and others alike, by the company. */
  readonly spellings: Map<CompanyId, Spelling>
}

/** A client with what the pages of one run share. */
export interface Run extends Client {
  readonly deadlines: Deadlines<Failure>
  /** When the run must have ended, in milliseconds of the monotonic clock; `Infinity` without a deadline. */
  readonly end: number
  /** The versions that answered. */
  readonly versions: Versions
}

/** `RetryPolicy` in milliseconds, with the budget that all pages of a client share. */
export interface Policy extends Limits {
  readonly attemptTimeout: number
  readonly budget: Budget
}

/** Rows in one request of a run. */
export const pageSizeOf = (
  client: Client,
  context: Context.Context<never>,
  options: { readonly pageSize?: number | undefined } | undefined
): number =>
  options?.pageSize === undefined ? Context.getOrUndefined(context, PageSize) ?? client.pageSize : options.pageSize

export const makePolicy = (options: RetrySettings, budget: Budget = makeBudget(options.budget)): Policy => ({
  attempts: options.attempts,
  attemptTimeout: Duration.toMillis(options.attemptTimeout),
  total: Duration.toMillis(options.pageTimeout),
  baseDelay: Duration.toMillis(options.baseDelay),
  throttleDelay: Duration.toMillis(options.throttleDelay),
  maxDelay: Duration.toMillis(options.maxDelay),
  retryAfterCap: Duration.toMillis(options.retryAfterCap),
  budget
})

/** The names of `RunOptions`. */
export const runOptions: { readonly [K in keyof RunOptions]-?: true } = {
  apiVersion: true,
  retry: true,
  deadline: true
}

/** What one run changes of its client, and how many milliseconds it may take. */
export interface Settings extends Pick<Client, "version" | "policy"> {
  readonly timeout: number
}

/** Validates the settings of a run: its options, then what `context` provides to it, then those of the client. */
export const settingsOf = (
  client: Client,
  context: Context.Context<never>,
  companyId: CompanyId,
  options: RunOptions
): Result.Result<Settings, InvalidRequest> =>
  Result.gen(function*() {
    return {
      version: yield* versionOf(client, context, companyId, options.apiVersion),
      policy: yield* policyOf(client, context, companyId, options.retry),
      timeout: options.deadline === undefined ? Infinity : yield* timeoutOf(companyId, options.deadline)
    }
  })

const isDate = Schema.is(BusinessDate)

const versionOf = (
  client: Client,
  context: Context.Context<never>,
  companyId: CompanyId,
  requested: RunOptions["apiVersion"]
) => {
  const provided = Context.getOrUndefined(context, ApiVersion) ?? client.version
  const version = requested === undefined ? provided : Option.isOption(requested) ? requested : Option.some(requested)
  return version === client.version || Option.isNone(version) || isDate(version.value)
    ? Result.succeed(version)
    : invalid(companyId, "apiVersion", "must be a real date as YYYY-MM-DD")
}

const policyOf = (
  client: Client,
  context: Context.Context<never>,
  companyId: CompanyId,
  changes: RunOptions["retry"]
): Result.Result<Policy, InvalidRequest> => {
  const provided = Context.getOrUndefined(context, RetryPolicy) ?? client.retry
  if (changes === undefined && provided === client.retry) return Result.succeed(client.policy)
  const changed = changeRetry(provided, changes === undefined ? {} : changes)
  if (Result.isFailure(changed)) {
    const { setting, what } = changed.failure
    return invalid(companyId, setting === "" ? "retry" : `retry.${setting}`, what)
  }
  const retry = changed.success
  return Result.succeed(makePolicy(retry, changes?.budget === undefined ? budgetOf(client, provided) : undefined))
}

/** The budget that the runs with a policy share: an outage must not be met with a new one by each run. */
const budgetOf = ({ budgets, policy, retry }: Client, provided: RetrySettings): Budget => {
  if (provided.budget === retry.budget) return policy.budget
  const known = budgets.get(provided) ?? makeBudget(provided.budget)
  budgets.set(provided, known)
  return known
}

const timeoutOf = (companyId: CompanyId, deadline: Duration.Input) =>
  Option.match(Option.filter(durationOf(deadline), Duration.isPositive), {
    onNone: () => invalid(companyId, "deadline", "must be a duration above zero"),
    onSome: (duration) => Result.succeed(Duration.toMillis(duration))
  })

/** Starts a run: its time counts from here. */
export const startRun = (
  client: Client,
  { timeout, ...settings }: Settings
): Effect.Effect<Run, never, Scope.Scope> =>
  Effect.gen(function*() {
    const end = (yield* monotonicMillis) + timeout
    const deadlines = yield* makeDeadlines(settings.policy.attemptTimeout, expiredAt(end))
    return { ...client, ...settings, deadlines, end, versions: (yield* RunVersions) ?? new Map() }
  })

const expired = Effect.fail(transportFailure(timedOut))

/** A deadline is kept to the microsecond: finer than that is rounding noise. */
const noise = 1e-3

/** An attempt that is late is the end of its run, or only of itself. */
const expiredAt = (end: number): Effect.Effect<never, Failure> =>
  end === Infinity
    ? expired
    : Effect.flatMap(monotonicMillis, (at) => at >= end - noise ? Effect.fail(deadlineFailure) : expired)
