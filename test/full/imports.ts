/** What a file of JavaScript imports or requires, read from its syntax tree. */
import { Predicate } from "effect"
import { parseAst } from "rolldown/parseAst"

/** The text of a literal, also of a template without a value in it. */
const literal = (node: unknown): string | undefined => {
  if (!Predicate.hasProperty(node, "type")) return undefined
  const quasis = Predicate.hasProperty(node, "quasis") && Array.isArray(node.quasis) ? node.quasis : []
  const value = node.type === "TemplateLiteral" && quasis.length === 1
    ? quasis[0]?.value?.cooked
    : Predicate.hasProperty(node, "value") && node.value
  return Predicate.isString(value) ? value : undefined
}

/** The names that the file imports; an import whose name is computed counts as `computed`. */
export const importsOf = (code: string, kind: "static" | "all" = "all"): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (!Predicate.hasProperty(node, "type")) return
    if (/^(Import|Export(Named|All))Declaration$/.test(`${node.type}`) && Predicate.hasProperty(node, "source")) {
      const source = literal(node.source)
      if (source !== undefined) found.push(source)
    }
    if (kind === "all" && node.type === "ImportExpression" && Predicate.hasProperty(node, "source")) {
      found.push(literal(node.source) ?? "computed")
    }
    if (kind === "all" && isRequire(node)) found.push(literal(node.arguments[0]) ?? "computed")
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseAst(code))
  return found
}

const isRequire = (node: object): node is { readonly arguments: ReadonlyArray<unknown> } =>
  Predicate.hasProperty(node, "type") && node.type === "CallExpression" &&
  Predicate.hasProperty(node, "callee") && Predicate.hasProperty(node.callee, "name") &&
  /^(__)?require$/.test(`${node.callee.name}`) && Predicate.hasProperty(node, "arguments") &&
  Array.isArray(node.arguments)
