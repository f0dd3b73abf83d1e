/** Checks the table of faults against the tests that ran: no effects, no runner. */
import { tables } from "../docs/support/tables.ts"

/** The scripts that run tests. A row is shown by one of them. */
export type Script = "test" | "test:full" | "test:soak"

/** A test that a row names. */
export interface Citation {
  readonly row: string
  /** From the root of the repository. */
  readonly file: string
  /** The title, with the titles of the suites around it where the table gives them. */
  readonly title: ReadonlyArray<string>
  readonly script: Script
}

export interface FaultRow {
  readonly row: string
  readonly fault: string
  readonly does: string
  readonly shown: ReadonlyArray<Citation>
}

/** A test as the runner reports it. */
export interface RanTest {
  readonly file: string
  /** The titles of the suites around it, then its own. */
  readonly title: ReadonlyArray<string>
  /** `inverted` is a test that passes because it fails. */
  readonly state: "passed" | "failed" | "skipped" | "pending" | "inverted"
  /** Why it was skipped, if it said so. */
  readonly reason?: string | undefined
}

export interface Run {
  /** The files whose tests the runner collected, also those without a test. */
  readonly files: ReadonlyArray<string>
  readonly tests: ReadonlyArray<RanTest>
  /**
   * What the run can tell. `whole`: a cited test that is not in it does not exist. `files`: each of its files is whole,
   * and other files were left out. `none`: tests were left out of its files, so that a missing one proves nothing.
   */
  readonly scope: "whole" | "files" | "none"
}

export interface Verdict {
  /** Citations that this run shows, or must show. */
  readonly judged: number
  /** Citations of this script about which the run says nothing. */
  readonly unseen: number
  /** A line for each citation that the run contradicts. */
  readonly broken: ReadonlyArray<string>
}

const isScript = (word: string): word is Script => ["test", "test:full", "test:soak"].includes(word)

/** The rows of the table. A citation of another script than `npm test` has its name behind it, in parentheses. */
export const faultRows = (markdown: string): ReadonlyArray<FaultRow> =>
  tables(markdown).flatMap(([head, ...body]) =>
    head?.[0] !== "row" ? [] : body.map(([row = "", fault = "", does = "", shown = ""]) => ({
      row,
      fault,
      does,
      shown: [...shown.matchAll(/`([^`]+)`(?: \(([\w:]+)\))?/g)].map(([, name = "", word = "test"]) => {
        const [file = "", ...title] = name.split(" › ")
        if (!isScript(word)) throw new Error(`${row}: no script is named ${word}`)
        return { row, file, title, script: word }
      })
    }))
  )

/** What the runner replaces in a title: `%s` and its kind, `$name` and `$name.field`, and `${…}` of the source. */
const placeholder = /%[sdifjoOc#$]|\$\{[^}]*\}|\$[A-Za-z_][\w.]*\w/

/** `RegExp.escape` needs a later library than ours. */
const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** Matches the titles that a quoted one becomes. A row that stands first in it is that row and no other. */
const patternOf = (title: string, row: string): RegExp => {
  const named = title.replace(/^\[(?:\$row|%s)\]/, `[${row}]`)
  return new RegExp(`^${named.split(placeholder).map(escapeRegExp).join("[^]*")}$`)
}

const matches = (citation: Citation, test: RanTest): boolean => {
  const { file, row, title } = citation
  const own = test.title.slice(-title.length)
  return test.file === file && title.length > 0 && own.length === title.length &&
    title.every((text, index) => patternOf(text, row).test(own[index] ?? ""))
}

const words = {
  failed: "failed",
  skipped: "was skipped",
  pending: "did not end",
  inverted: "passes only because it fails"
}

/** What contradicts a citation; nothing where all tests that it stands for passed, and there is one. */
const objection = (citation: Citation, tests: ReadonlyArray<RanTest>): string | undefined => {
  const found = tests.filter((test) => matches(citation, test))
  const bad = found.find(({ state }) => state !== "passed")
  const name = `${citation.row}: ${citation.file} › ${citation.title.join(" › ")}`
  if (bad === undefined) return found.length > 0 ? undefined : `${name}: no such test ran`
  if (bad.state === "passed") return undefined
  const reason = bad.reason === undefined ? "" : ` (${bad.reason})`
  return `${name}: ${JSON.stringify(bad.title.at(-1))} ${words[bad.state]}${reason}`
}

/** Checks the citations of a script against a run of it. */
export const checkTable = (rows: ReadonlyArray<FaultRow>, script: Script, run: Run): Verdict => {
  const own = rows.flatMap(({ shown }) => shown).filter((citation) => citation.script === script)
  const judged = run.scope === "none"
    ? []
    : own.filter(({ file }) => run.scope === "whole" || run.files.includes(file))
  const broken = judged.flatMap((citation) => objection(citation, run.tests) ?? [])
  return { judged: judged.length, unseen: own.length - judged.length, broken }
}

/** What the options of the runner leave out. */
export interface Filters {
  /** Parts of the names of files. */
  readonly files: ReadonlyArray<unknown>
  /** Options that choose files: `--shard`, `--changed` and so on. */
  readonly choosesFiles: boolean
  /** Options that choose tests within files: `-t`, tags, lines, `--bail`; or the run was interrupted. */
  readonly choosesTests: boolean
  readonly watch: boolean
}

/** Any way to leave out tests that is not known here makes a run whole, so that it fails for what it left out. */
export const scopeOf = ({ choosesFiles, choosesTests, files, watch }: Filters): Run["scope"] => {
  if (choosesTests || files.some((name) => /:\d+$/.test(String(name)))) return "none"
  return watch || choosesFiles || files.length > 0 ? "files" : "whole"
}
