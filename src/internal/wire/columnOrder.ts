/** The fields of a punch in the order of the columns of a table, of CSV and of a help text: apart, since a client has no columns. */
import { type Fields, namesOf, punchFields } from "./schema.ts"

/** The same fields in another order: first these. */
function inOrder<F extends Fields>(fields: F, order: ReadonlyArray<keyof F & string>): F
function inOrder(fields: Fields, order: ReadonlyArray<string>) {
  return { ...Object.fromEntries(order.map((key) => [key, fields[key]])), ...fields }
}

/** The same in the order of the columns of a table. A new field is behind them. */
export const tableFields = inOrder(punchFields, [
  "id",
  "companyId",
  "userId",
  "roleId",
  "locationId",
  "departmentId",
  "shiftId",
  "clockedIn",
  "clockedOut",
  "hourlyWage",
  "tips",
  "approved",
  "editablePunch",
  "autoClockedOut",
  "clockedInOffline",
  "clockedOutOffline",
  "posType",
  "notes",
  "created",
  "modified",
  "deleted",
  "breaks"
])

/** Their wire names. */
export const columnNames = namesOf(tableFields)
