/** The pages of the site, in the order in which a reader of the README meets them, and the examples. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"

/** A page of the site. */
export interface SitePage {
  /** The path from the root of the repository. */
  readonly path: string
  /** Its first heading, or the name of its file. */
  readonly title: string
  /** What the first comment of a file of code says first. */
  readonly summary: string
  /** Markdown. */
  readonly text: string
}

/** A page of Markdown, or a file of code as a page. */
const readPage = (root: string, path: string): SitePage => {
  const text = readFileSync(join(root, path), "utf8")
  const name = basename(path)
  const comment = /\/\*\*([\s\S]*?)(?:\*\/|\.\s)/.exec(text)?.[1]?.replaceAll(/\s*\n \*/g, "").trim() ?? ""
  return path.endsWith(".md")
    ? { path, title: /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? name, summary: "", text }
    : { path, title: name, summary: comment, text: `# ${name}\n\n\`\`\`ts\n${text.trimEnd()}\n\`\`\`\n` }
}

/** The section of a page that links most other pages, without its heading. */
export const mostLinked = (text: string): string => {
  const links = (section: string) => section.match(/\]\([^)\s#:]+\.md/g)?.length ?? 0
  const sections = text.split(/^## .+\n+/m)
  return sections.reduce((best, section) => links(section) > links(best) ? section : best)
}

/** What the README links, first in the order of its section of pages, and then what those pages link. */
const linkedFrom = (root: string, readme: string): ReadonlyArray<SitePage> => {
  const found = new Map([[readme, readPage(root, readme)]])
  for (const { path, text } of found.values()) {
    const first = path === readme ? mostLinked(text) : ""
    for (const [, target = ""] of (first + text).matchAll(/\]\(([^)\s#:]+\.(?:md|ts))(?:#[^)\s]*)?\)/g)) {
      const linked = relative(root, join(root, dirname(path), target))
      if (!found.has(linked) && existsSync(join(root, linked))) found.set(linked, readPage(root, linked))
    }
  }
  return [...found.values()].slice(1)
}

/** Every page but the README, which is the first, and every file of code that is a page: the examples, and what a page links. */
export const readPages = (root: string): Record<"pages" | "code", ReadonlyArray<SitePage>> => {
  const linked = linkedFrom(root, "README.md")
  const folder = "docs/examples/"
  const examples = readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).toSorted()
    .map((name) => readPage(root, folder + name))
  return {
    pages: linked.filter(({ path }) => path.endsWith(".md")),
    code: [...examples, ...linked.filter(({ path }) => path.endsWith(".ts") && !path.startsWith(folder))]
  }
}

/** The languages of the fences. */
export const languagesOf = (pages: ReadonlyArray<SitePage>): ReadonlyArray<string> => [
  ...new Set(pages.flatMap(({ text }) => [...text.matchAll(/^```(\w+)$/gm)].map(([, language = ""]) => language)))
]
