/** The variables that connect a client to a fake service, as a command prints and writes them and as the page shows them. */
import type { FakeAccess, FakeCompany } from "../service/options.ts"

/** Lines for a shell that connect a client: as an OAuth client, and commented out with other credentials. */
export const environmentLines = (
  url: string,
  { oauthClients: [client], sessions: [session] }: FakeAccess,
  company: FakeCompany | undefined
): ReadonlyArray<string> => [
  "# OAuth client:",
  ...Object.entries(clientVariables(url, client, company)).map(([name, value]) => `export ${name}=${value}`),
  ...company === undefined ? [] : [
    "",
    "# or, in place of client id and secret, the access token of one company:",
    `# export TIME_PUNCHES_ACCESS_TOKEN=${company.accessToken}`,
    ...session === undefined
      ? []
      : ["# or a session cookie:", `# export TIME_PUNCHES_SESSION_COOKIE=${session.cookie}`]
  ]
]

/** The variables of an OAuth client, and of a company if one is given. */
export const clientVariables = (
  url: string,
  client: FakeAccess["oauthClients"][number] | undefined,
  company: FakeCompany | undefined
): Readonly<Record<string, string>> => ({
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_AUTH_URL: url,
  ...client && { TIME_PUNCHES_CLIENT_ID: client.clientId, TIME_PUNCHES_CLIENT_SECRET: client.clientSecret },
  ...company && { TIME_PUNCHES_COMPANY_ID: `${company.id}`, TIME_PUNCHES_COMPANY_GUID: company.guid },
  // The limit of the command is for a real service: this one has none.
  TIME_PUNCHES_REQUESTS_PER_SECOND: "none"
})
