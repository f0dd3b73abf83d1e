/** The `**Example**` blocks of docstrings, and whether they compile as the programs that a reader copies. */
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { root } from "./examples.ts"

export interface DocExample {
  /** The file that has it, from the root of the repository. */
  readonly path: string
  /** The line of its first line of code. */
  readonly line: number
  /** What it documents: `Period.week`, `TimePunches`, `TimePunches.layer`. */
  readonly name: string
  readonly code: string
}

const docstring = /\/\*\*[\s\S]*?\*\//g
const block =
  /^[ \t]*\*[ \t]*\*\*Example\*\*[^\n]*\n(?:[ \t]*\*(?![^\n]*(?:```|\*\*Example))[^\n]*\n)*[ \t]*\*[ \t]?```ts\n([\s\S]*?)^[ \t]*\*[ \t]?```/gm
const topLevel = /^\s*export (?:declare )?(?:abstract )?(?:class|const|function|interface|type|namespace) (\w+)/
const member = /^\s*(?:readonly |static |get |override )*(\w+)/

/** The name of what a docstring stands before: a top-level declaration, or a member of the class or interface around it. */
const nameOf = (path: string, text: string, end: number): string => {
  const file = Path.basename(path, ".ts")
  const after = text.slice(end)
  const declared = topLevel.exec(after)?.[1]
  if (declared !== undefined) return declared === file ? file : `${file}.${declared}`
  const around = [...text.slice(0, end).matchAll(/^export (?:abstract )?(?:class|interface) (\w+)/gm)].at(-1)?.[1]
  return `${around ?? file}.${member.exec(after)?.[1] ?? "?"}`
}

/** Every example in the docstrings of a file. */
export const examplesIn = (path: string, text: string): ReadonlyArray<DocExample> =>
  [...text.matchAll(docstring)].flatMap((comment) =>
    [...comment[0].matchAll(block)].map((found) => {
      const [whole, lines = ""] = found
      const start = comment.index + found.index + whole.indexOf(lines)
      return {
        path,
        line: text.slice(0, start).split("\n").length,
        name: nameOf(path, text, comment.index + comment[0].length),
        code: lines.replaceAll(/^[ \t]*\* ?/gm, "")
      }
    })
  )

/** How many lines say that an example follows; each of them must have a block that was found. */
export const announced = (text: string): number => text.match(/\*\*Example\*\*/g)?.length ?? 0

/** Every source file that a docstring can be in. */
export const sources: ReadonlyArray<{ readonly path: string; readonly text: string }> = Fs
  .readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => `src/${name}`)
  .map((path) => ({ path, text: Fs.readFileSync(root + path, "utf8") }))

const options = {
  extends: `${root}tsconfig.json`,
  // An example may end in the constant that it shows. Each is a module, whatever it declares.
  compilerOptions: { noUnusedLocals: false, moduleDetection: "force" },
  include: ["*.ts"]
}

const run = (folder: string): string => {
  try {
    execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "--pretty", "false", "-p", folder], {
      encoding: "utf8"
    })
    return ""
  } catch (error) {
    return typeof error === "object" && error !== null && "stdout" in error ? String(error.stdout) : String(error)
  }
}

/**
 * Compiles each example as a file in a folder below the package, so that `effect-time-punches` is the package itself: one
 * process for all of them. Returns what the compiler said, by example.
 */
export const compileErrors = (examples: ReadonlyArray<DocExample>): ReadonlyMap<DocExample, string> => {
  Fs.mkdirSync(`${root}reports`, { recursive: true })
  const folder = Fs.mkdtempSync(`${root}reports/docstrings-`)
  try {
    Fs.writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(options))
    examples.forEach(({ code }, index) => Fs.writeFileSync(`${folder}/example${index}.ts`, code))
    const output = run(folder)
    const errors = new Map<DocExample, string>()
    for (
      const [said, index = "", line = "", message = ""] of output.matchAll(
        /example(\d+)\.ts\((\d+),\d+\): (.*(?:\n[ \t].*)*)/g
      )
    ) {
      const example = examples[Number(index)]
      if (example === undefined) throw new Error(said)
      const place = `${example.path}:${example.line + Number(line) - 1}`
      errors.set(example, `${errors.get(example) ?? ""}${place} (${example.name}): ${message}\n`)
    }
    if (output !== "" && errors.size === 0) throw new Error(output)
    return errors
  } finally {
    Fs.rmSync(folder, { recursive: true })
  }
}
