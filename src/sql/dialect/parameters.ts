/** The parameters of a statement, in the order of their placeholders. */
import type { Dialect } from "./Dialect.ts"

/**
 * Each placeholder has its own parameter, since SQLite knows them by their place alone. An instant is in milliseconds; one
 * outside of the years 1 to 9999, of which PostgreSQL holds few, is the nearest within them.
 */
export const parametersFor = (dialect: Dialect) => {
  const parameters: Array<number | string> = []
  const placeholder = (type: "bigint" | "timestamptz", value: number): string => {
    parameters.push(
      type === "bigint" ? dialect.integer(value) : dialect.instant(Math.min(Math.max(value, earliest), latest))
    )
    return dialect.placeholder(parameters.length, type)
  }
  return { parameters, placeholder }
}

const earliest = -62_135_596_800_000
const latest = 253_402_300_799_999
