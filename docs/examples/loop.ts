/** The loop of the README: punches without Effect. */
// oxlint-disable no-console -- A program prints, and a logger of Effect is what it does without.
import { makeClient } from "effect-time-punches/promise"

const env = (name: string) => process.env[`TIME_PUNCHES_${name}`] ?? ""
const credentials = { clientId: env("CLIENT_ID"), clientSecret: env("CLIENT_SECRET") }
const company = { companyId: 4021, companyGuid: env("COMPANY_GUID") }
const client = makeClient({ baseUrl: env("BASE_URL"), credentials, ...company })
for await (const punch of client.list({ clockedIn: { gte: new Date("2026-03-15T04:00:00Z") } })) {
  console.log(punch.userId, punch.clockedIn, punch.clockedOut)
}
await client.close()
