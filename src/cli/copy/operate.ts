/** What the verbs of a copy load only when they run: the drivers of the databases are large. */
export { holdingsOf } from "../../close/holdings.ts"
export * as SqlStore from "../../sql/SqlStore.ts"
export { layerCopy, requireAge } from "../database/copy.ts"
export { erase } from "../database/erase.ts"
