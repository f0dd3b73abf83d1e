/** The topics of `time-punches help`, by name: what the list says of each. */
export const topics = {
  periods: "weeks, months, pay periods, and the clock that they follow",
  filters: "which punches, by place, person, state and instant",
  csv: "CSV for a spreadsheet",
  columns: "the columns of CSV and the keys of JSON, by command",
  messages: "what --log-format json writes to standard error",
  environment: "the variables that hold settings and secrets",
  "exit-codes": "what the exit code of a command says"
} as const

/** The topics, a line each. */
export const topicList = Object.entries(topics).map(([name, title]) => `    ${name.padEnd(12)} ${title}`).join("\n")
