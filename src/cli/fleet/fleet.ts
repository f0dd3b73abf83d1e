/** `time-punches fleet`: its verbs, each in its own file. */
import type { Group } from "../verb.ts"

export const group: Group = {
  text: `Keep copies of many companies in one database, each on its own schedule.

  Set a password in PGPASSWORD, or in the URL of TIME_PUNCHES_DATABASE_URL;
  --database refuses one.`,
  examples: [
    ["fleet add --database punches.db < companies.csv", "Companies, with their guids"],
    ["fleet run --database punches.db", "The whole fleet in one process"]
  ],
  entries: {
    run: ["Sync all companies on their schedules", () => import("./run.ts")],
    migrate: ["Create the tables, or bring them to this release", () => import("./migrate.ts")],
    add: ["Add companies", () => import("./add.ts")],
    remove: ["Remove companies", () => import("./remove.ts")],
    list: ["List the companies and the pauses", () => import("./list.ts")],
    status: ["Show a company and its last turns", () => import("./status.ts")],
    runners: ["List the processes of the fleet", () => import("./runners.ts")],
    sync: ["Sync companies as soon as there is room", () => import("./sync.ts")],
    pause: ["Pause companies, or the whole fleet", () => import("./pause.ts")],
    resume: ["Resume companies, or the whole fleet", () => import("./resume.ts")]
  }
}
