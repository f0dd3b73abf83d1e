/** One simulated run, drawn from a seed: what is listed, how, with which credential and policy, and what goes wrong. */
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
  defaultSession,
  type FakeServiceOptions,
  type StoredPunch
} from "../../src/testing/index.ts"
import { drawPunches, drawQuestion, type Due, dueRows, type Question, strangers } from "./data.ts"
import { drawTroubles, oddRetryAfter, type Trouble } from "./faults.ts"

/** The knobs of a policy in milliseconds. */
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
  readonly question: Question
  readonly due: ReadonlyArray<Due>
  readonly mode: "list" | "listResults" | "pages"
  readonly pageSize: number
  readonly prefetchPages: number
  readonly credential: "accessToken" | "accessTokens" | "cookie" | "oauth" | "oauthOfCompany"
  readonly policy: Policy
  readonly service: { readonly order: "asked" | "id"; readonly latency: number; readonly tokenLifetime: number }
  readonly troubles: ReadonlyArray<Trouble>
  /** Failures that the operator looks on before the service is mended. */
  readonly patience: number
  /** Milliseconds between a failure and the next run, one after another. */
  readonly pauses: readonly [number, ...ReadonlyArray<number>]
  /** Milliseconds that the consumer takes for each element. */
  readonly pace: number
  /** In `pages`: a consumer that ends after so many pages and goes on from the last of them later. */
  readonly stopAfter: number | undefined
}

export const companyId = CompanyId.make(defaultCompany.id)

const guid = CompanyGuid.make(defaultCompany.guid)

/** The company as the caller of this plan names it. */
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

/** Timeouts are odd numbers, so that none of them can be mistaken for a wait between two tries. */
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

const everything: Question = { filter: {}, query: {}, isAtEnd: () => false }

/** What every setting draws alike; `most` is the usual bound of the rows. */
const drawListing = (random: Prng, most: number) => {
  const punches = drawPunches(random, most)
  const question = random.chance(0.25) ? everything : drawQuestion(random, punches)
  const order: Plan["service"]["order"] = random.chance(0.1) ? "id" : "asked"
  const due = dueRows(punches, question, order === "asked")
  const pageSize = random.chance(0.95) ? random.between(1, 10) : 200
  const credential = random.pick(credentials)
  return {
    punches,
    question,
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
    troubles: drawTroubles(random, {
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

/** A token endpoint that stalls, refuses or throttles is waited for, or remembered, for many seconds. */
const holdsUp = ({ fault, when }: Trouble): boolean =>
  when.target === "token" && (
    fault._tag === "StallBeforeHeaders" || fault._tag === "StallBody" ||
    (fault._tag === "Status" && [400, 401, 429].includes(fault.status))
  )

/** A plan for real sockets: everything that is waited for is short, or longer than the policy waits at all. */
export const drawSocketPlan = (seed: number): Plan => {
  const random = prng(seed)
  const { order, pages, ...listing } = drawListing(random, 30)
  const stopAfter = random.chance(0.3) ? random.between(1, 3) : undefined
  return {
    ...listing,
    // A page that is read ahead when the consumer stops may reach the service only during the next run.
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
    troubles: drawTroubles(random, {
      pages,
      retryAfter: ["0", "1", "60", "99999999", "-5", "abc", "", "Wed, 31 Dec 1969 23:59:59 GMT"],
      delays: [1, 20, 80, 400],
      token: isOAuth(listing) ? 0.1 : 0
    }).filter((trouble) => !holdsUp(trouble)),
    pauses: [0],
    pace: random.pick([0, 0, 0, 1]),
    stopAfter
  }
}

/** The service of a plan, before anything goes wrong. */
export const serviceOf = ({ punches, service }: Plan): FakeServiceOptions => ({
  ...service,
  punches: [...strangers, ...punches]
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

/** The client of a plan, over whatever transport is provided. */
export const clientOf = (plan: Plan, baseUrl: string) =>
  TimePunches.layer.pipe(
    Layer.provide(RetryPolicy.layer(plan.policy)),
    Layer.provide(credentialsOf(plan)),
    Layer.provide(Endpoints.layer({ baseUrl })),
    Layer.orDie
  )

/** What is printed beside a seed that failed. */
export const describePlan = (plan: Plan): string =>
  JSON.stringify({
    mode: plan.mode,
    rows: plan.due.length,
    pageSize: plan.pageSize,
    prefetchPages: plan.prefetchPages,
    credential: plan.credential,
    query: plan.question.query,
    policy: plan.policy,
    service: plan.service,
    troubles: plan.troubles,
    patience: plan.patience,
    pauses: plan.pauses,
    pace: plan.pace,
    stopAfter: plan.stopAfter
  })
