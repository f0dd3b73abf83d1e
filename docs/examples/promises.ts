/** The client without Effect: loops, a response that is written as the pages arrive, and a provider of a framework. */
import { cost, makeClient, type TimePunch, type TimePunchesClient } from "effect-time-punches/promise"

/** The settings of the README, from the environment. */
export const fromEnvironment = (env: NodeJS.ProcessEnv = process.env): TimePunchesClient =>
  makeClient({
    baseUrl: env["TIME_PUNCHES_BASE_URL"] ?? "",
    companyId: Number(env["TIME_PUNCHES_COMPANY_ID"]),
    companyGuid: env["TIME_PUNCHES_COMPANY_GUID"],
    credentials: {
      clientId: env["TIME_PUNCHES_CLIENT_ID"] ?? "",
      clientSecret: env["TIME_PUNCHES_CLIENT_SECRET"] ?? ""
    }
  })

/** Who is clocked in, since when. */
export const open = async (client: TimePunchesClient, signal?: AbortSignal): Promise<ReadonlyMap<number, Date>> => {
  const found = new Map<number, Date>()
  const since = new Date(Date.now() - 24 * 3_600_000)
  for await (const { clockedIn, clockedOut, userId } of client.list({ clockedIn: { gte: since } }, { signal })) {
    if (clockedOut === undefined) found.set(userId, clockedIn)
  }
  return found
}

/** What each role costs in a window, in cents, and the punches whose time is unknown, which have no cost yet. */
export const costByRole = async (client: TimePunchesClient, clockedIn: { readonly gte: Date; readonly lt: Date }) => {
  const cents = new Map<number, number>()
  const unknown: Array<number> = []
  for await (const punch of client.list({ clockedIn })) {
    const wages = cost(punch, { rounding: "halfUp" })
    if (wages === undefined) unknown.push(punch.id)
    else cents.set(punch.roleId, (cents.get(punch.roleId) ?? 0) + wages)
  }
  return { cents, unknown }
}

/** A response body, a line for each punch. */
export const lines = async function*(punches: AsyncIterable<TimePunch>): AsyncGenerator<string> {
  for await (const punch of punches) yield `${JSON.stringify(punch)}\n`
}

/** A provider of a framework that makes instances of classes and closes them: one instance for the process. */
export class PunchProvider {
  readonly client: TimePunchesClient

  constructor(client: TimePunchesClient = fromEnvironment()) {
    this.client = client
  }

  /** Called by the framework at its shutdown, as NestJS does. */
  onModuleDestroy(): Promise<void> {
    return this.client.close()
  }
}
