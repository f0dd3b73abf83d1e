/** The pages of the site, in the groups and the order of the README, and the examples. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"

/** A page of the site. */
export interface SitePage {
  /** The path from the root of the repository. */
  readonly path: string
  /** Its first heading without a number, or the name of its file. */
  readonly title: string
  /** The heading of the menu under which it stands. */
  readonly group: string
  /** What the first comment of a file of code says first. */
  readonly summary: string
  /** Markdown. */
  readonly text: string
}

/** The group of what the README's groups do not link. */
export const further = "Further pages"

/**
 * A page of Markdown, or a file of code as a page. The order of the site is that of the README's groups, and not that of the
 * numbers of files: a page has no number here, and its last line does not name the file of the next number.
 */
const readPage = (root: string, path: string, group: string): SitePage => {
  const text = readFileSync(join(root, path), "utf8")
  const name = basename(path)
  if (path.endsWith(".md")) {
    const page = text.replace(/^# \d+\. /m, "# ").replaceAll(/\[\d+\. (?=[^\]]+\]\([^)]+\.md)/g, "[").replace(
      /^Next: .*$/m,
      ""
    )
    return { path, title: /^# (.+)$/m.exec(page)?.[1]?.replaceAll("`", "") ?? name, group, summary: "", text: page }
  }
  const summary = /\/\*\*([\s\S]*?)(?:\*\/|\.\s)/.exec(text)?.[1]?.replaceAll(/\s*\n \*/g, "").trim() ?? ""
  return { path, title: name, group, summary, text: `# ${name}\n\n\`\`\`ts\n${text.trimEnd()}\n\`\`\`\n` }
}

/** The section of a page that links most other pages, without its heading. */
export const mostLinked = (text: string): string => {
  const links = (section: string) => section.match(/\]\([^)\s#:]+\.md/g)?.length ?? 0
  const sections = text.split(/^## .+\n+/m)
  return sections.reduce((best, section) => links(section) > links(best) ? section : best)
}

/** The groups of the README's section of pages, by name, with the text that links their pages. */
export const groupsOf = (readme: string): ReadonlyArray<readonly [name: string, text: string]> =>
  [...mostLinked(readme).matchAll(/^\*\*(.+?)\.\*\*([^]*?)(?=^\*\*|$(?![^]))/gm)].map((
    [, name = "", text = ""]
  ) => [name, text])

/** What the README's groups link, in their order, and then what those pages link. */
const linkedFrom = (root: string, readme: string): ReadonlyArray<SitePage> => {
  const found = new Map<string, SitePage>()
  const add = (from: string, text: string, group: string): void => {
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s#:]+\.(?:md|ts))(?:#[^)\s]*)?\)/g)) {
      const path = relative(root, join(root, dirname(from), target))
      if (path !== readme && !found.has(path) && existsSync(join(root, path)))
        found.set(path, readPage(root, path, group))
    }
  }
  const text = readFileSync(join(root, readme), "utf8")
  for (const [group, links] of groupsOf(text)) add(readme, links, group)
  add(readme, text, further)
  for (const page of found.values()) add(page.path, page.text, further)
  return [...found.values()]
}

/** Ends each page of the README's groups with a link to the next. */
const withNext = (page: SitePage, at: number, pages: ReadonlyArray<SitePage>): SitePage => {
  const next = pages[at + 1]
  if (page.group === further || next === undefined || next.group === further) return page
  return {
    ...page,
    text: `${page.text.trimEnd()}\n\nNext: [${next.title}](${relative(dirname(page.path), next.path)})\n`
  }
}

/** Every page but the README, which is the first, and the examples. */
export const readPages = (root: string): Record<"pages" | "examples", ReadonlyArray<SitePage>> => {
  const folder = "docs/examples/"
  const examples = readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).toSorted()
    .map((name) => readPage(root, folder + name, "Examples"))
  return { pages: linkedFrom(root, "README.md").filter(({ path }) => !path.startsWith(folder)).map(withNext), examples }
}

/** The languages of the fences. */
export const languagesOf = (pages: ReadonlyArray<SitePage>): ReadonlyArray<string> => [
  ...new Set(pages.flatMap(({ text }) => [...text.matchAll(/^```(\w+)$/gm)].map(([, language = ""]) => language)))
]
