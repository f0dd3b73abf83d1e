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
  ReflectionKind,
  StructureRouter
} from "typedoc"
import type { SitePage } from "./pages.ts"

const addresses = new WeakMap<Reflection, string>()

/** Adds pages to the project, so that links to their files lead to them; those of a group stand below its heading. */
export const addPages = (
  converter: Converter,
  project: ProjectReflection,
  root: string,
  pages: ReadonlyArray<SitePage>,
  group?: string
): void => {
  const contentOf = (text: string, file: string): Array<CommentDisplayPart> =>
    converter.parseRawComment(new MinimalSourceFile(text, normalizePath(file)), project.files).content
  const add = (parent: ProjectReflection | DocumentReflection, title: string, text: string, path: string) => {
    const document = new DocumentReflection(title, parent, contentOf(text, join(root, path)), {})
    addresses.set(document, path.replace(/\.(?:md|ts)$/, ""))
    parent.addChild(document)
    project.registerReflection(document, undefined, normalizePath(join(root, path)))
    return document
  }
  const list = pages.map(({ path, summary, title }) => `- [${title}](${path}): ${summary}`)
  const parent = group === undefined
    ? project
    : add(project, group, `# ${group}\n\n${list.join("\n")}\n`, `${group.toLowerCase()}.md`)
  for (const { path, text, title } of pages) add(parent, title, text, path)
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

/** The theme of TypeDoc with that navigation, pages first. */
export class SiteTheme extends DefaultTheme {
  override buildNavigation(project: ProjectReflection): Array<NavigationElement> {
    const isPage = ({ kind }: NavigationElement) => kind === ReflectionKind.Document
    return entries(super.buildNavigation(project).toSorted((a, b) => Number(isPage(b)) - Number(isPage(a))))
  }
}

/**
 * The page for a person without a mouse: what is wider than a window scrolls in itself, and can be reached; a heading that folds
 * its section has no link in it.
 */
export const reachable = (html: string): string =>
  html.replaceAll("<pre>", "<pre tabindex=\"0\">")
    .replaceAll("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
    .replaceAll("</table>", "</table></div>")
    .replaceAll(/<summary[^]*?<\/summary>/g, (summary) => summary.replaceAll(/<a [^>]*tsd-anchor-icon[^]*?<\/a>/g, ""))
