/** A plan, drawn from a seed: what to list, how, with which credential and policy, and which faults to inject. */
import { Effect, Layer, Redacted } from "effect"
import {
  type Company,
  CompanyGuid,
  CompanyId,
  Credentials,
  Endpoints,
  RetryPolicy,
  TimePunches
} from "../../src/index.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  type FakeServiceOptions,
  type StoredPunch
} from "../../src/testing/index.ts"
import { defaultSession } from "../../src/testing/service/options.ts"
import { drawPunches, drawSelection, type Due, dueRows, foreignPunches, type Selection } from "./data.ts"
import { drawFaults, type InjectedFault, oddRetryAfter } from "./faults.ts"

/** A retry policy, in milliseconds. */
export interface Policy {
  readonly attempts: number
  readonly attemptTimeout: number
  readonly pageTimeout: number
  readonly baseDelay: number
  readonly throttleDelay: number
  readonly maxDelay: number
  readonly retryAfterCap: number
  readonly budget: number
}

export interface Plan {
  readonly seed: number
  readonly punches: ReadonlyArray<StoredPunch>
  readonly selection: Selection
  readonly due: ReadonlyArray<Due>
  readonly mode: "list" | "listResults" | "pages"
  readonly pageSize: number
  readonly prefetchPages: number
  readonly credential: "accessToken" | "accessTokens" | "cookie" | "oauth" | "oauthOfCompany"
  readonly policy: Policy
  readonly service: { readonly order: "asked" | "id"; readonly latency: number; readonly tokenLifetime: number }
  readonly faults: ReadonlyArray<InjectedFault>
  /** Failures after which the operator removes all faults. */
  readonly patience: number
  /** Milliseconds between a failure and the next run, in turn. */
  readonly pauses: readonly [number, ...ReadonlyArray<number>]
  /** Milliseconds that the consumer needs per element. */
  readonly pace: number
  /** In mode `pages`: the consumer stops after so many pages and resumes from the last of them later. */
  readonly stopAfter: number | undefined
}

export const companyId = CompanyId.make(defaultCompany.id)

const guid = CompanyGuid.make(defaultCompany.guid)

/** The company as the caller passes it. */
export const companyOf = ({ credential }: Plan): CompanyId | Company =>
  credential === "oauth" ? { id: companyId, guid } : companyId

/** The defaults of the library, in milliseconds. */
const defaults: Policy = {
  attempts: 4,
  attemptTimeout: 30_000,
  pageTimeout: 120_000,
  baseDelay: 200,
  throttleDelay: 5_000,
  maxDelay: 20_000,
  retryAfterCap: 60_000,
  budget: 500
}

/** Timeouts are odd numbers, so that none of them equals a wait between two attempts. */
const drawPolicy = (random: Prng): Policy =>
  random.chance(0.4) ? defaults : {
    attempts: random.between(1, 4),
    attemptTimeout: random.pick([1_003, 5_003, 30_003]),
    pageTimeout: random.pick([6_007, 20_007, 120_007]),
    baseDelay: random.pick([0, 1, 200, 3_000]),
    throttleDelay: random.pick([0, 100, 1_000, 5_000]),
    maxDelay: random.pick([0, 500, 20_000]),
    retryAfterCap: random.pick([0, 5_000, 60_000, 600_000]),
    budget: random.pick([0, 5, 14, 60, 500])
  }

const modes = ["list", "list", "list", "listResults", "pages"] as const
const credentials = ["oauth", "oauth", "oauthOfCompany", "accessToken", "accessTokens", "cookie"] as const
const pauses = [0, 0, 900, 31_000, 301_000] as const

const everything: Selection = { filter: {}, query: {}, isAtEnd: () => false }

/** The part that all plans share; `most` bounds the usual number of rows. */
const drawListing = (random: Prng, most: number) => {
  const punches = drawPunches(random, most)
  const selection = random.chance(0.25) ? everything : drawSelection(random, punches)
  const order: Plan["service"]["order"] = random.chance(0.1) ? "id" : "asked"
  const due = dueRows(punches, selection, order === "asked")
  const pageSize = random.chance(0.95) ? random.between(1, 10) : 200
  const credential = random.pick(credentials)
  return {
    punches,
    selection,
    due,
    order,
    pageSize,
    credential,
    pages: Math.ceil(due.length / pageSize),
    mode: random.pick(modes),
    prefetchPages: random.chance(0.8) ? 0 : random.between(1, 3),
    patience: random.between(0, 5)
  }
}

export const isOAuth = ({ credential }: Pick<Plan, "credential">): boolean =>
  credential === "oauth" || credential === "oauthOfCompany"

/** A plan for memory, where time costs nothing. */
export const drawPlan = (seed: number): Plan => {
  const random = prng(seed)
  const { order, pages, ...listing } = drawListing(random, 36)
  return {
    ...listing,
    seed,
    policy: drawPolicy(random),
    service: {
      order,
      latency: random.pick([0, 0, 0, 20, 300]),
      tokenLifetime: random.pick([2_000, 45_000, 400_000, 3_600_000])
    },
    faults: drawFaults(random, {
      pages,
      retryAfter: oddRetryAfter,
      delays: [100, 700, 2_900, 6_100, 31_300, 130_700],
      token: isOAuth(listing) ? 0.5 : 0
    }),
    pauses: [random.pick(pauses), random.pick(pauses), random.pick(pauses)],
    pace: random.pick([0, 0, 0, 0, 0, 40, 9_000, 700_000]),
    stopAfter: random.chance(0.3) ? random.between(1, 3) : undefined
  }
}

/** Whether the client waits for such a token endpoint, or remembers it, for many seconds. */
const holdsUp = ({ fault, when }: InjectedFault): boolean =>
  when.target === "token" && (
    fault._tag === "StallBeforeHeaders" || fault._tag === "StallBody" ||
    (fault._tag === "Status" && [400, 401, 429].includes(fault.status))
  )

/** A plan for real sockets: every wait is short, or longer than the policy allows. */
export const drawSocketPlan = (seed: number): Plan => {
  const random = prng(seed)
  const { order, pages, ...listing } = drawListing(random, 30)
  const stopAfter = random.chance(0.3) ? random.between(1, 3) : undefined
  return {
    ...listing,
    // The request of a prefetched page may reach the service after the consumer stopped, during the next run.
    prefetchPages: stopAfter === undefined ? listing.prefetchPages : 0,
    seed,
    policy: {
      attempts: random.between(1, 4),
      attemptTimeout: random.pick([150, 300]),
      pageTimeout: 20_000,
      baseDelay: random.pick([0, 1, 4]),
      throttleDelay: random.pick([0, 1]),
      maxDelay: 8,
      retryAfterCap: random.pick([0, 10]),
      budget: random.pick([14, 100, 500])
    },
    service: { order, latency: random.pick([0, 0, 0, 3]), tokenLifetime: random.pick([2_000, 45_000, 3_600_000]) },
    faults: drawFaults(random, {
      pages,
      retryAfter: ["0", "1", "60", "99999999", "-5", "abc", "", "Wed, 31 Dec 1969 23:59:59 GMT"],
      delays: [1, 20, 80, 400],
      token: isOAuth(listing) ? 0.1 : 0
    }).filter((injected) => !holdsUp(injected)),
    pauses: [0],
    pace: random.pick([0, 0, 0, 1]),
    stopAfter
  }
}

/** The service of a plan, without its faults. */
export const serviceOf = ({ punches, service }: Plan): FakeServiceOptions => ({
  ...service,
  punches: [...foreignPunches, ...punches]
})

const oauth = {
  clientId: defaultOAuthClient.clientId,
  clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
}

const credentialsOf = ({ credential }: Plan) => {
  const accessToken = Redacted.make(defaultCompany.accessToken)
  switch (credential) {
    case "accessToken":
      return Credentials.layerAccessToken(accessToken)
    case "accessTokens":
      return Credentials.layerAccessTokens(() => Effect.succeed(accessToken))
    case "cookie":
      return Credentials.layerSessionCookie(Redacted.make(defaultSession.cookie))
    case "oauth":
      return Credentials.layerOAuth(oauth)
    case "oauthOfCompany":
      return Credentials.layerOAuth({ ...oauth, company: { id: companyId, guid } })
  }
}

/** The client of a plan, over the provided transport. */
export const clientOf = (plan: Plan, baseUrl: string) =>
  TimePunches.layer.pipe(
    Layer.provide(RetryPolicy.layer(plan.policy)),
    Layer.provide(credentialsOf(plan)),
    Layer.provide(Endpoints.layer({ baseUrl })),
    Layer.orDie
  )

/** The report beside a seed that failed. */
export const describePlan = (plan: Plan): string =>
  JSON.stringify({
    mode: plan.mode,
    rows: plan.due.length,
    pageSize: plan.pageSize,
    prefetchPages: plan.prefetchPages,
    credential: plan.credential,
    query: plan.selection.query,
    policy: plan.policy,
    service: plan.service,
    faults: plan.faults,
    patience: plan.patience,
    pauses: plan.pauses,
    pace: plan.pace,
    stopAfter: plan.stopAfter
  })
