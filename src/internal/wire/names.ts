/**
 * The wire name of every field: one map for the codec, `sort_by`, the columns of CSV and of SQL. `TimePunch.Wire`
 * compiles only while each field has a name and each name a field.
 */
import { breakFields, namesOf, punchFields } from "./schema.ts"

/** Wire names of the fields of `TimePunch`. */
export const timePunchNames = namesOf(punchFields)

/** Whether punches can be sorted by what has this name: by any field but the list of breaks. */
export const isSortField = (name: string): name is Exclude<keyof typeof timePunchNames, "breaks"> =>
  name !== "breaks" && Object.hasOwn(timePunchNames, name)

/** Wire names of the fields of `Break`. */
export const breakNames = namesOf(breakFields)

type Names = Readonly<Record<string, string>>

/** What has a value under every wire name of `N`. */
type Wire<N extends Names> = { readonly [K in N[keyof N]]: unknown }

/** What has a value under every field of `N`. */
type Fields<N extends Names> = { readonly [K in keyof N]: unknown }

type FieldOf<N extends Names, Name> = { readonly [K in keyof N]: N[K] extends Name ? K : never }[keyof N]

/** The same values under the names of the fields. */
export function fromWireNames<N extends Names>(names: N): <W extends Wire<N>>(
  wire: W
) => { readonly [K in keyof N]: W[N[K]] }
export function fromWireNames(names: Names) {
  return rename(Object.entries(names))
}

/** The same values under the names of the wire. */
export function toWireNames<N extends Names>(names: N): <A extends Fields<N>>(
  fields: A
) => { readonly [Name in N[keyof N]]: A[FieldOf<N, Name>] }
export function toWireNames(names: Names) {
  return rename(Object.entries(names).map(([field, name]) => [name, field]))
}

const rename =
  (entries: ReadonlyArray<readonly [to: string, from: string]>) => (row: Readonly<Record<string, unknown>>) => {
    const renamed: Record<string, unknown> = {}
    for (const [to, from] of entries) renamed[to] = row[from]
    return renamed
  }

/** The variables of the environment that each kind of credential needs; none belongs to two kinds. */
export const credentialVariables = {
  accessToken: ["TIME_PUNCHES_ACCESS_TOKEN"],
  oauth: ["TIME_PUNCHES_CLIENT_ID", "TIME_PUNCHES_CLIENT_SECRET"],
  sessionCookie: ["TIME_PUNCHES_SESSION_COOKIE"]
} as const

/** The marks of a punch by which a filter selects. */
export const punchFlags = ["late", "auto_clocked_out", "missed_break"] as const

/** The approvals of an employee by which a filter selects. */
export const approvalStatuses = ["pending", "approved", "disputed"] as const
