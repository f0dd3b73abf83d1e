/** The parameters of a statement, in the order of their placeholders. */
import type { Dialect } from "./Dialect.ts"

/**
 * Each placeholder has its own parameter, since SQLite knows them by their place alone. An instant is in milliseconds; one
 * before the year 1, of which PostgreSQL holds few, is the start of that year: no row is earlier.
 */
export const parametersFor = (dialect: Dialect) => {
  const parameters: Array<number | string> = []
  const placeholder = (type: "bigint" | "timestamptz", value: number): string => {
    parameters.push(type === "bigint" ? dialect.integer(value) : dialect.instant(Math.max(value, earliest)))
    return dialect.placeholder(parameters.length, type)
  }
  return { parameters, placeholder }
}

const earliest = -62_135_596_800_000
