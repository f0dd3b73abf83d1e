/** How the reference reads: names of subpaths, modules with their import, no trace of core's base classes, links in backticks. */
import { readFileSync } from "node:fs"
import {
  Comment,
  type CommentDisplayPart,
  type Converter,
  type DeclarationReflection,
  MinimalSourceFile,
  normalizePath,
  type ProjectReflection,
  type Reflection,
  ReflectionFlag,
  ReflectionKind
} from "typedoc"

/** The first comment of a file, which says its subject, as text of a page. */
const subjectOf = (converter: Converter, project: ProjectReflection, file: string): Array<CommentDisplayPart> => {
  const text = /^\/\*\*\s([\s\S]*?)\*\//.exec(readFileSync(file, "utf8"))?.[1]?.replaceAll(/^ \* ?/gm, "") ?? ""
  return converter.parseRawComment(new MinimalSourceFile(text.trim(), normalizePath(file)), project.files).content
}

const importOf = (names: string, from: string): CommentDisplayPart => ({
  kind: "code",
  text: `\`\`\`ts\nimport ${names} from "${from}"\n\`\`\``
})

/** Names each module by the subpath from which a person imports it, and says the import of what stands in it as a module. */
export const nameModules = (
  converter: Converter,
  project: ProjectReflection,
  nameOfFile: ReadonlyMap<string, string>
): void => {
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const file = project.getSymbolIdFromReflection(module)?.fileName ?? ""
    module.name = nameOfFile.get(file) ?? module.name
    module.comment = new Comment(subjectOf(converter, project, file))
    for (const inner of module.getChildrenByKind(ReflectionKind.Namespace)) {
      const file = project.getSymbolIdFromReflection(inner)?.fileName ?? ""
      inner.comment = new Comment([
        ...subjectOf(converter, project, file),
        { kind: "text", text: "\n\n" },
        importOf(`{ ${inner.name} }`, module.name)
      ])
    }
  }
}

/** The class that core makes for a schema, an error or a service, and that the declared class extends. */
const isBase = (name: string): boolean => name.endsWith("_base")

const declarations = (project: ProjectReflection): ReadonlyArray<DeclarationReflection> =>
  Object.values(project.reflections).filter((reflection) => reflection.isDeclaration())

/**
 * Shows a constant that is a function as a function, and one of a class as a method: with its parameters and its result.
 * Declarations do not tell them from other constants. The constructor of a service is for core alone: it is left out.
 */
export const callFunctions = (project: ProjectReflection): void => {
  for (const declared of declarations(project)) {
    if (declared.signatures?.[0]?.parameters?.[0]?.type?.toString() === "never") {
      project.removeReflection(declared)
      continue
    }
    const isStatic = declared.kindOf(ReflectionKind.Property) && declared.parent?.kindOf(ReflectionKind.Class) === true
    if (declared.type?.type !== "reflection" || !(isStatic || declared.kindOf(ReflectionKind.Variable))) continue
    const { declaration } = declared.type
    if (declaration.signatures === undefined || declaration.children !== undefined) continue
    declared.kind = isStatic ? ReflectionKind.Method : ReflectionKind.Function
    declared.signatures = declaration.signatures
    for (const signature of declared.signatures) {
      signature.name = declared.name
      signature.parent = declared
      if (declared.comment !== undefined) signature.comment ??= declared.comment
    }
    declared.flags.setFlag(ReflectionFlag.Const, false)
    delete declared.comment
    delete declared.type
    delete declaration.signatures
    project.removeReflection(declaration)
  }
}

/** Takes out the base classes: what is inherited from them reads as declared. */
export const foldCore = (project: ProjectReflection): void => {
  for (const declared of declarations(project)) {
    if (declared.typeHierarchy?.types.some((type) => isBase(type.toString())) === true) {
      delete declared.typeHierarchy
      delete declared.extendedTypes
    }
    for (const member of [declared, ...declared.getAllSignatures()]) {
      if (isBase(member.inheritedFrom?.name.split(".")[0] ?? "")) delete member.inheritedFrom
      if (isBase(member.overwrites?.name.split(".")[0] ?? "")) delete member.overwrites
    }
  }
}

/** Names that a page may mean otherwise, such as `list`, are no link; `TimePunches`, `getAdvice` and `Period.week` are. */
const isTelling = (name: string): boolean => /^[A-Z]|[a-z][A-Z]|\./.test(name)

/** Every public name by the texts that mean it alone: its own, and with its modules before it. */
const namesOf = (project: ProjectReflection): ReadonlyMap<string, Reflection> => {
  const found = new Map<string, Reflection>()
  const several = new Set<string>()
  const visit = (reflection: DeclarationReflection, path: ReadonlyArray<string>): void => {
    for (const child of reflection.children ?? []) {
      if (child.isReference()) continue
      const names = [...path, child.name]
      for (const name of names.map((_, at) => names.slice(at).join("."))) {
        // A schema and the type of its values have one name; the first of the two is the schema.
        if (found.has(name) && found.get(name)?.getFullName() !== child.getFullName()) several.add(name)
        else if (!found.has(name)) found.set(name, child)
      }
      if (child.kindOf([ReflectionKind.Namespace, ReflectionKind.Class])) visit(child, names)
    }
  }
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) visit(module, [])
  return new Map([...found].filter(([name]) => !several.has(name) && isTelling(name)))
}

const isMember = (reflection: Reflection): boolean => reflection.parent?.kindOf(ReflectionKind.Class) === true

/** Makes links of the public names in backticks, except in headings, which have no code, and in links. */
const linked = (
  parts: ReadonlyArray<CommentDisplayPart>,
  names: ReadonlyMap<string, Reflection>,
  here: Reflection
): Array<CommentDisplayPart> => {
  let line = ""
  return parts.map((part) => {
    line = part.kind === "text" ? `${line}${part.text}`.split("\n").at(-1) ?? "" : `${line}${part.text}`
    if (part.kind !== "code") return part
    const before = line.slice(0, -part.text.length)
    // The address of a heading, and its entry among those of the page, are made of its text without code.
    if (before.startsWith("#")) return { kind: "text", text: part.text.slice(1, -1).replaceAll(/[^\w\s]/g, "\\$&") }
    const name = /^`([\w.]+)`$/.exec(part.text)?.[1] ?? ""
    const target = names.get(name)
    // A member is meant with its owner before it.
    if (target === undefined || target === here || isMember(target) && !name.includes(".")) return part
    if (before.lastIndexOf("[") > before.lastIndexOf("]")) return part
    return { kind: "inline-tag", tag: "@linkcode", text: name, target }
  })
}

/** Puts the client first among the names of its subpath. */
export const clientFirst = (project: ProjectReflection): void => {
  const first = (one: Reflection, other: Reflection) =>
    Number(other.name === "TimePunches") - Number(one.name === "TimePunches")
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    module.children?.sort(first)
    module.childrenIncludingDocuments?.sort(first)
    for (const { children } of module.groups ?? []) children.sort(first)
  }
}

/** A line that begins with a status, such as `401. The credential …`, is a sentence and not an item of a list. */
const sentences = (parts: ReadonlyArray<CommentDisplayPart>): Array<CommentDisplayPart> =>
  parts.map((part, at) =>
    at === 0 && part.kind === "text" ? { kind: "text", text: part.text.replace(/^(\d{3})\. /, "$1\\. ") } : part
  )

/** Makes links of the public names that stand in backticks in pages and docstrings. */
export const linkNames = (project: ProjectReflection): void => {
  const names = namesOf(project)
  project.readme = linked(project.readme ?? [], names, project)
  for (const reflection of Object.values(project.reflections)) {
    if (reflection.isDocument()) reflection.content = linked(reflection.content, names, reflection)
    if (reflection.comment !== undefined) {
      reflection.comment.summary = linked(sentences(reflection.comment.summary), names, reflection)
      for (const tag of reflection.comment.blockTags) tag.content = linked(tag.content, names, reflection)
    }
  }
}
