/** The pages of the documents: their text, their fences, their links. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { root } from "./examples.ts"

export interface Page {
  /** The path from the root of the repository. */
  readonly path: string
  readonly text: string
}

export interface Fence {
  readonly page: string
  readonly language: string
  readonly code: string
}

const read = (path: string): Page => ({ path, text: Fs.readFileSync(root + path, "utf8") })

/** README, CHANGELOG, CONTRIBUTING and the pages in `docs/`; the generated listing of the API is not a page. */
export const pages: ReadonlyArray<Page> = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...Fs.readdirSync(`${root}docs`).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)
].map(read)

/** The fences of all pages, or those of one language. */
export const fences = (language?: string): ReadonlyArray<Fence> =>
  pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
      page: path,
      language,
      code
    }))
  ).filter((fence) => language === undefined || fence.language === language)

/** Every example file. */
export const examples: ReadonlyArray<Page> = Fs.readdirSync(`${root}docs/examples`)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => read(`docs/examples/${name}`))

/** An output without the port and the elapsed time, which differ in each run. */
export const unchanging = (output: string): string =>
  output.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT").replaceAll(/in \d+\.\d+ s\b/g, "in TIME s")

export interface Link {
  readonly from: string
  readonly file: string
  /** The anchor of a heading, or the empty string. */
  readonly heading: string
}

/** The links of a page to files and headings in the repository. */
export const links = ({ path, text }: Page): ReadonlyArray<Link> =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", heading = ""] = target.split("#")
      return { from: path, file: file === "" ? path : Path.join(Path.dirname(path), file), heading }
    })

/** The anchors of a page's headings. */
export const anchors = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  )
