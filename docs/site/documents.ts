/** Pages as documents of TypeDoc, and the addresses of all pages. */
import { join } from "node:path"
import {
  type CommentDisplayPart,
  type Converter,
  DefaultTheme,
  DocumentReflection,
  MinimalSourceFile,
  type NavigationElement,
  normalizePath,
  type ProjectReflection,
  type Reflection,
  StructureRouter
} from "typedoc"
import { further, type SitePage } from "./pages.ts"

const addresses = new WeakMap<Reflection, string>()

/** The group of the examples, and of the names. */
const reference = "Reference and examples"

/** The group of a page. */
export const groups = new WeakMap<Reflection, string>()

/** Adds pages to the project, so that links to their files lead to them; those of a list stand below its page. */
export const addPages = (
  converter: Converter,
  project: ProjectReflection,
  root: string,
  pages: ReadonlyArray<SitePage>,
  listed?: string
): void => {
  const contentOf = (text: string, file: string): Array<CommentDisplayPart> =>
    converter.parseRawComment(new MinimalSourceFile(text, normalizePath(file)), project.files).content
  const add = (
    parent: ProjectReflection | DocumentReflection,
    title: string,
    text: string,
    path: string,
    group: string
  ) => {
    const document = new DocumentReflection(title, parent, contentOf(text, join(root, path)), {})
    addresses.set(document, path.replace(/\.(?:md|ts)$/, ""))
    groups.set(document, group)
    parent.addChild(document)
    project.registerReflection(document, undefined, normalizePath(join(root, path)))
    return document
  }
  const list = pages.map(({ path, summary, title }) => `- [${title}](${path}): ${summary}`)
  const parent = listed === undefined
    ? project
    : add(project, listed, `# ${listed}\n\n${list.join("\n")}\n`, `${listed.toLowerCase()}.md`, reference)
  for (const { group, path, text, title } of pages) add(parent, title, text, path, group)
}

/** A page has the address of its file, and a name of the reference that of the path to it. */
export class PageRouter extends StructureRouter {
  override getIdealBaseName(reflection: Reflection): string {
    return addresses.get(reflection) ?? `reference/${super.getIdealBaseName(reflection)}`
  }
}

/**
 * The entries of the navigation. The schema and the type of one name are one entry, which leads to the first; the page of their
 * module has both. What opens a list is no link, which a person could not reach by the keyboard: its page is the first below.
 */
const entries = (elements: ReadonlyArray<NavigationElement>): Array<NavigationElement> =>
  elements.filter(({ text }, at) => elements.findIndex((other) => other.text === text) === at).map((element) =>
    element.children === undefined
      ? element
      : { text: element.text, children: [{ text: "Overview", path: element.path ?? "" }, ...entries(element.children)] }
  )

/** The theme of TypeDoc with that navigation, under the headings of the groups. */
export class SiteTheme extends DefaultTheme {
  override buildNavigation(project: ProjectReflection): Array<NavigationElement> {
    const elements = super.buildNavigation(project)
    const groupOf = new Map(
      project.documents?.map((page) => [this.router.getFullUrl(page), groups.get(page) ?? further])
    )
    const headings = new Set([...groupOf.values()].filter((group) => group !== further))
    return [...headings, further].flatMap((text) => {
      const below = elements.filter(({ path = "" }) => (groupOf.get(path) ?? reference) === text)
      return [{ text }].concat(entries(below))
    })
  }
}

/** Names the column of each cell: a narrow window shows a row as a block, each cell behind its title. */
const titled = (table: string): string => {
  const titles = [...table.matchAll(/<th[^>]*>([^]*?)<\/th>/g)].map(([, title = ""]) =>
    title.replaceAll(/<[^>]*>/g, "").replaceAll("\"", "&quot;")
  )
  return table.replaceAll(/<tr>[^]*?<\/tr>/g, (row) => {
    let at = 0
    return row.replaceAll("<td", () => `<td data-title="${titles[at++] ?? ""}"`)
  })
}

/**
 * The page for a person without a mouse: what is wider than a window scrolls in itself, and can be reached; a heading that folds
 * its section has no link in it.
 */
export const reachable = (html: string): string =>
  html.replaceAll("<pre>", "<pre tabindex=\"0\">")
    .replaceAll(/<table>[^]*?<\/table>/g, titled)
    .replaceAll("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
    .replaceAll("</table>", "</table></div>")
    .replaceAll(/<summary[^]*?<\/summary>/g, (summary) => summary.replaceAll(/<a [^>]*tsd-anchor-icon[^]*?<\/a>/g, ""))
