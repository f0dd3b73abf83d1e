/** What a person sees who hovers over a public name: read with TypeScript's own API. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import {
  API,
  type Checker,
  SignatureKind,
  type Symbol as TsSymbol,
  SymbolFlags,
  type Type
} from "typescript/unstable/sync"

export interface Hover {
  /** The public name, as `TimePunches.list` or `RetrySettings.attempts`. */
  readonly name: string
  /** The file of its declaration, from the root of the repository. */
  readonly file: string
  /** The first of the files by which it was reached: what a program imports. */
  readonly from: string
  readonly text: string
}

/** The files that `exports` of `package.json` lets a program import. */
export const publicFiles = (root: string): ReadonlyArray<string> => {
  const { exports }: { readonly exports: Record<string, string | null | Record<string, string>> } = JSON.parse(
    Fs.readFileSync(Path.join(root, "package.json"), "utf8")
  )
  const named = Object.values(exports).flatMap((target) => {
    const source = target === null || typeof target === "string" ? undefined : target["effect-time-punches:source"]
    return source === undefined || source.includes("*") ? [] : [Path.normalize(source)]
  })
  const flat = Fs.readdirSync(Path.join(root, "src"))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `src/${name}`)
  return [...new Set([...named, ...flat])].toSorted()
}

export interface Hovers {
  readonly hovers: ReadonlyArray<Hover>
  /** Names that `@internal` leaves out of the declarations of the package. */
  readonly internal: ReadonlyArray<string>
}

/** Every hover of the public names that are declared in `root`. One process reads the whole project. */
export const readHovers = (root: string, files = publicFiles(root)): Hovers => {
  const api = new API({ cwd: root })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [Path.join(root, "tsconfig.json")] })
    const project = snapshot.getProject(Path.join(root, "tsconfig.json"))
    if (project === undefined) throw new Error(`no project at ${root}`)
    const reader = makeReader(project.checker, root)
    for (const file of files) {
      const source = project.program.getSourceFile(Path.join(root, file))
      const module = source === undefined ? undefined : project.checker.getSymbolAtLocation(source)
      if (module === undefined) throw new Error(`${file} is not a module of the project`)
      reader.readFile(file, module)
    }
    return reader.result()
  } finally {
    api.close()
  }
}

const makeReader = (checker: Checker, root: string) => {
  const found = new Map<string, Hover>()
  const internal = new Set<string>()
  const read = new Set<number>()
  let from = ""

  /** Where in this repository's sources a name is declared; nothing for the names of others and of the language. */
  const fileOf = (symbol: TsSymbol): string | undefined => {
    const path = symbol.declarations[0]?.path
    const file = path === undefined ? undefined : Path.relative(root, path)
    return file?.startsWith("src/") === true ? file : undefined
  }

  /** Notes the hover of a name. Answers whether the name is ours and new. */
  const note = (name: string, symbol: TsSymbol): boolean => {
    const file = fileOf(symbol)
    if (file === undefined) return false
    const text = checker.getDocumentationCommentOfSymbol(symbol)
    if (checker.getJsDocTagsOfSymbol(symbol).some((tag) => tag.name === "internal")) {
      internal.add(name)
      return false
    }
    // A type and a value of one name are two symbols or one; a hover on either is enough.
    if (!found.has(name) || found.get(name)?.text === "") found.set(name, { name, file, from, text })
    if (read.has(symbol.id)) return false
    read.add(symbol.id)
    return true
  }

  /** The members of a type that are declared here, and those of the object types in them without a name. */
  const readMembers = (owner: string, type: Type | undefined, depth = 0): void => {
    if (type === undefined || depth > 4) return
    for (const part of type.isUnionType() || type.isIntersectionType() ? type.getTypes() ?? [] : [type]) {
      for (const member of checker.getPropertiesOfType(part)) {
        if (/^(prototype$|_tag$|~|__)/.test(member.name)) continue
        const name = `${owner}.${member.name}`
        if (!note(name, member)) continue
        readSignatures(name, checker.getTypeOfSymbol(member), depth)
        readInline(name, checker.getTypeOfSymbol(member), depth)
      }
    }
  }

  /** A type literal: its members are seen nowhere else. */
  const readInline = (owner: string, type: Type | undefined, depth: number): void => {
    if (type === undefined) return
    for (const part of type.isUnionType() ? type.getTypes() ?? [] : [type]) {
      const symbol = part.getSymbol()
      if (part.getAliasSymbol() !== undefined || type.getAliasSymbol() !== undefined) continue
      if (symbol !== undefined && symbol.name === "__type" && fileOf(symbol) !== undefined) {
        readMembers(owner, part, depth + 1)
      }
    }
  }

  const readSignatures = (owner: string, type: Type | undefined, depth: number): void => {
    if (type === undefined || !type.isObjectType()) return
    for (const signature of checker.getSignaturesOfType(type, SignatureKind.Call)) {
      for (const parameter of signature.getParameters()) {
        readInline(`${owner}(${parameter.name})`, checker.getTypeOfSymbol(parameter), depth)
      }
    }
  }

  const readExport = (name: string, exported: TsSymbol): void => {
    const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    if (symbol.flags & SymbolFlags.ValueModule) return readModule(`${name}.`, symbol)
    if (!note(name, symbol)) return
    if (symbol.flags & SymbolFlags.Class) {
      for (const member of symbol.getExports().values()) {
        if (member.name === "prototype") continue
        const type = checker.getTypeOfSymbol(member)
        if (note(`${name}.${member.name}`, member)) readSignatures(`${name}.${member.name}`, type, 0)
      }
    }
    // A record of functions and values, such as `Fault`.
    if (symbol.flags & SymbolFlags.Variable) readMembers(name, checker.getTypeOfSymbol(symbol))
    if (symbol.flags & SymbolFlags.Type) {
      const type = checker.getDeclaredTypeOfSymbol(symbol)
      readMembers(name, type)
      const service = checker.getPropertyOfType(type, "Service")
      if (service !== undefined) readMembers(name, checker.getTypeOfSymbol(service))
    }
    if (symbol.flags & SymbolFlags.Value) {
      const type = checker.getTypeOfSymbol(symbol)
      readSignatures(name, type, 0)
      const domain = type === undefined ? undefined : checker.getPropertyOfType(type, "Type")
      if (domain !== undefined) readMembers(name, checker.getTypeOfSymbol(domain))
    }
  }

  const readModule = (prefix: string, module: TsSymbol): void => {
    for (const exported of checker.getExportsOfModule(module)) readExport(`${prefix}${exported.name}`, exported)
  }

  const readFile = (file: string, module: TsSymbol): void => {
    from = file
    readModule("", module)
  }

  return { readFile, result: (): Hovers => ({ hovers: [...found.values()], internal: [...internal] }) }
}
