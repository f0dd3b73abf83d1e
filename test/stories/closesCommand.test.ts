/** The stories of what the verbs of `payroll` print, by the command over a copy in a file. `npm run test:full` plays those of closes. */
import { verbs } from "./closes.ts"
import { itPlaysByCommand } from "./command.ts"

itPlaysByCommand("The verbs of payroll", verbs)
