/**
 * Writes the site: the pages, the examples and the reference of what was built, with search over all of it. Fails if TypeDoc
 * warns of anything. `npm run docs` builds the package first.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as TypeDoc from "typedoc"
import { addPages, PageRouter, reachable, SiteTheme } from "./documents.ts"
import { languagesOf, readPages } from "./pages.ts"
import { callFunctions, clientFirst, foldCore, linkNames, nameModules } from "./reference.ts"
import { type Entry, namesOf, scriptOf, sectionsOf } from "./search.ts"

const root = join(import.meta.dirname, "../..")

interface Target {
  readonly "effect-time-punches:source": string
  readonly types: string
}

const manifest: { readonly name: string; readonly exports: Readonly<Record<string, string | null | Target>> } = JSON
  .parse(readFileSync(join(root, "package.json"), "utf8"))

/** The subpaths with declarations. The modules of `./*` are those that the main entry exports, one by one. */
const subpaths = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  target === null || typeof target === "string" || subpath.includes("*")
    ? []
    : [{
      name: join(manifest.name, subpath),
      source: join(root, target["effect-time-punches:source"]),
      types: join(root, target.types)
    }]
)

const { examples, pages } = readPages(root)

/** Fences that have no grammar: what a program prints, and a diagram as text. */
const plain = ["output", "mermaid", "txt"]

const app = await TypeDoc.Application.bootstrap({
  name: manifest.name,
  entryPoints: subpaths.map(({ types }) => types),
  tsconfig: join(import.meta.dirname, "tsconfig.reference.json"),
  readme: join(root, "README.md"),
  out: join(root, "site"),
  customCss: join(import.meta.dirname, "style.css"),
  theme: "site",
  router: "pages",
  headings: { readme: false, document: false },
  lightHighlightTheme: "github-light-high-contrast",
  darkHighlightTheme: "dark-plus",
  highlightLanguages: languagesOf([...pages, ...examples]).filter((language) => !plain.includes(language)),
  ignoredHighlightLanguages: plain,
  // Types of one expression, which say in place what a reader needs.
  intentionallyNotExported: [
    "approvalStatuses",
    "fieldNames",
    "Derived",
    "SumName",
    "Current",
    "PunchBreak",
    "Row",
    "SqliteViews",
    "Version",
    "Sqlite",
    "Postgres"
  ],
  excludeExternals: true,
  excludeInternal: true,
  disableSources: true,
  hideGenerator: true,
  sort: ["documents-first", "source-order"],
  sortEntryPoints: false,
  groupOrder: ["Modules", "Classes", "Functions", "Properties", "Methods", "Accessors", "*", "Constructors"],
  navigation: { includeGroups: false, includeCategories: false, includeFolders: false },
  useFirstParagraphOfCommentAsSummary: true,
  includeHierarchySummary: false,
  visibilityFilters: {},
  includeVersion: true,
  validation: {
    notExported: true,
    invalidLink: true,
    invalidPath: true,
    rewrittenLink: true,
    notDocumented: false,
    unusedMergeModuleWith: true
  },
  locales: {
    en: {
      kind_module: "Subpath",
      kind_plural_module: "Subpaths",
      kind_namespace: "Module",
      kind_plural_namespace: "Modules"
    }
  }
})
app.renderer.defineTheme("site", SiteTheme)
app.renderer.defineRouter("pages", PageRouter)
// Without an icon, a browser would ask the host for one.
app.renderer.hooks.on("head.end", () => TypeDoc.JSX.createElement("link", { rel: "icon", href: "data:," }))
const entries: Array<Entry> = []
app.renderer.on(TypeDoc.PageEvent.END, (page) => {
  page.contents = reachable(page.contents ?? "")
  entries.push(...sectionsOf(page))
})
app.renderer.on(TypeDoc.RendererEvent.END, ({ outputDirectory }) => {
  const { router } = app.renderer
  if (router === undefined) throw new Error("TypeDoc has no router: the search has no addresses of names")
  const names = namesOf(router.getLinkTargets(), (target) => router.getFullUrl(target))
  writeFileSync(join(outputDirectory, "assets/search.js"), scriptOf([...entries, ...names]))
})
app.converter.on(TypeDoc.Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  callFunctions(project)
  nameModules(app.converter, project, new Map(subpaths.map(({ name, source }) => [source, name])))
  addPages(app.converter, project, root, pages)
  addPages(app.converter, project, root, examples, "Examples")
}, 1000)
app.converter.on(TypeDoc.Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  const file = TypeDoc.normalizePath(join(root, "README.md"))
  const readme = new TypeDoc.MinimalSourceFile(readFileSync(file, "utf8"), file)
  project.readme = app.converter.parseRawComment(readme, project.files).content
}, -1000)
app.converter.on(TypeDoc.Converter.EVENT_RESOLVE_END, ({ project }) => {
  foldCore(project)
  linkNames(project)
  clientFirst(project)
}, -1000)

const project = await app.convert()
if (project !== undefined) {
  app.validate(project)
  await app.generateOutputs(project)
}
if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1
