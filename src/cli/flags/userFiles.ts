/** The flags that name a file of the user: names of ids, and zones of locations. */
import { fileFlag } from "./values.ts"

/** The kinds of id that may have a name. */
export const nameKinds = ["user", "location", "role", "department"] as const

export const namesFlag = fileFlag(
  "names",
  `Add names to ids, from a CSV file with the columns kind,id,name; a kind is ${listWords(nameKinds)}`
)

export const zoneFileFlag = fileFlag(
  "zone-file",
  "A zone for each location, from a CSV file with the columns location_id,zone and maybe day_starts"
)

/** `a, b or c`. */
export function listWords(kinds: ReadonlyArray<string>): string {
  return `${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}`
}
