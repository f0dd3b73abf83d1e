/** What a search of the site finds: the sections of pages, the rows of flags and settings, and the names of the reference. */
import {
  type Comment,
  type DeclarationReflection,
  type PageEvent,
  Reflection,
  ReflectionKind,
  type RouterTarget
} from "typedoc"
import { groups } from "./documents.ts"
import { browse } from "./find.ts"
import { further } from "./pages.ts"

/** One place of the site. */
export interface Entry {
  /** A heading, a flag or a name. */
  readonly title: string
  /** Where it stands: the page of a heading, the subpath of a name. */
  readonly parent: string
  readonly url: string
  readonly text: string
  /** How much more it counts than another with the same words. */
  readonly weight: number
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'" }

/** What a person reads of HTML. */
const plain = (html: string): string =>
  html.replaceAll(/<(button|svg)[^]*?<\/\1>/g, "")
    .replaceAll(/<\/?(?:p|li|t[dhr]|pre|h\d|div|br)\b[^>]*>/g, " ")
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (all, name: string) => entities[name] ?? all)
    .replaceAll(/\s+/g, " ").trim()

/** A page of the README's groups counts more than another, and what changed from version to version the least. */
const weightOf = (page: Reflection): number =>
  page.name === "Changelog" ? 0.2 : groups.get(page) === further || page.parent?.isDocument() === true ? 1 : 3

/** The sections of a page of text, and each row of a table that tells of a flag or a variable. */
export const sectionsOf = ({ contents = "", model, url }: PageEvent): ReadonlyArray<Entry> => {
  if (!(model instanceof Reflection) || !(model.isDocument() || url === "index.html")) return []
  const html = /<div class="tsd-panel tsd-typography">([^]*?)<div class="col-sidebar">/.exec(contents)?.[1] ?? ""
  const weight = weightOf(model)
  return html.split(/(?=<h[1-4] id=)/).flatMap((section) => {
    const [, level, id, heading = "", body = ""] = /^<h([1-4]) id="([^"]+)"[^>]*>([^]*?)<\/h\1>([^]*)/.exec(section) ??
      []
    if (id === undefined) return []
    const isPage = level === "1"
    const title = plain(heading)
    const parent = isPage ? "" : model.name
    const address = isPage ? url : `${url}#${id}`
    const rows = [...body.matchAll(/<td[^>]*>(<code>(?:--|[A-Z]+_)[^]*?)<\/td>([^]*?)<\/tr>/g)]
    const within = isPage ? title : `${parent} › ${title}`
    return [{ title, parent, url: address, text: plain(body), weight }].concat(
      rows.map(([, name = "", meaning = ""]) => (
        { title: plain(name), parent: within, url: address, text: plain(meaning), weight }
      ))
    )
  })
}

const textOf = (comment: Comment | undefined): string =>
  [...comment?.summary ?? [], ...comment?.blockTags.flatMap(({ content }) => content) ?? []].map(({ text }) => text)
    .join("")

const owners = ReflectionKind.ClassOrInterface | ReflectionKind.Namespace | ReflectionKind.TypeAlias

/** The names of the reference. The schema and the type of one name are found once. */
export const namesOf = (
  targets: ReadonlyArray<RouterTarget>,
  urlOf: (target: RouterTarget) => string
): ReadonlyArray<Entry> => {
  const seen = new Set<string>()
  const entryOf = (found: DeclarationReflection): Entry => {
    const owner = found.parent?.kindOf(owners) === true ? found.parent : undefined
    const isMember = !found.kindOf(ReflectionKind.SomeExport | ReflectionKind.SomeModule)
    return {
      title: owner === undefined ? found.name : `${owner.name}.${found.name}`,
      parent: (owner ?? found).parent?.getFullName() ?? "",
      url: urlOf(found),
      text: [found, ...found.getAllSignatures()].map(({ comment }) => textOf(comment)).join(" ").replaceAll(/\s+/g, " ")
        .trim(),
      weight: isMember ? 0.5 : 2
    }
  }
  return targets.flatMap((target) => {
    if (!(target instanceof Reflection) || !target.isDeclaration() || target.name.startsWith("_")) return []
    const name = target.getFullName()
    if (seen.has(name)) return []
    seen.add(name)
    return [entryOf(target)]
  })
}

/** The script that a page loads: the entries, and what finds and shows them. */
export const scriptOf = (entries: ReadonlyArray<Entry>): string =>
  `(${browse.toString()})(${JSON.stringify(entries)})\n`
