/** `time-punches copy`: its verbs, each in its own file. */
import type { Group } from "../verb.ts"

export const group: Group = {
  text: `Keep a copy of the punches of a company in a database.

  sync brings it up to date, status says how old it is, feed tells what
  changes in it, and erase removes it.
  time-punches fleet keeps the copies of many companies.`,
  examples: [
    ["copy sync --database punches.db", "One sync run, into a file of SQLite"],
    ["copy status --database punches.db", "How old the copy is"]
  ],
  entries: {
    sync: ["Keep a copy of the punches in a database", () => import("./sync.ts")],
    status: ["Print how old a copy is", () => import("./status.ts")],
    feed: ["Tell what changes in a copy, as it happens", () => import("./feed.ts")],
    erase: ["Erase the copy of a company", () => import("./erase.ts")]
  }
}
