import { databases } from "../support/databases.ts"
import { itPlaysCloses } from "./closes.ts"

const [, postgres] = databases()

itPlaysCloses(postgres)
