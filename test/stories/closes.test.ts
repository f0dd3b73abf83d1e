import { databases } from "../support/databases.ts"
import { itPlaysCloses } from "./closes.ts"

const [sqlite] = databases()

itPlaysCloses(sqlite)
