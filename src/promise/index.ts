/** The client without Effect: its declarations name nothing of `effect`. */
export { makeClient, type TimePunchesClient } from "./client.ts"
export * from "./errors.ts"
export { cost, measure } from "./labor.ts"
export type * from "./values.ts"
