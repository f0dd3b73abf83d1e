/** What a search finds first. */
import { type DeclarationReflection, type DocumentReflection, type ProjectReflection, ReflectionKind } from "typedoc"

/** Pages before names, since their length counts against them; names of their own before members. */
const boostOf = (found: DeclarationReflection | DocumentReflection): number =>
  found.isDocument()
    ? found.parent?.isProject() === true ? 20 : 2
    : isMember(found)
    ? 0.2
    : 3

const isMember = (found: DeclarationReflection): boolean =>
  !found.kindOf(ReflectionKind.SomeExport | ReflectionKind.SomeModule)

/** Ranks what a search finds. A member that many errors or options have is found once. */
export const rank = (project: ProjectReflection): void => {
  const seen = new Set<string>()
  for (const found of Object.values(project.reflections)) {
    if (!found.isDeclaration() && !found.isDocument()) continue
    const again = found.isDeclaration() && isMember(found) && seen.has(found.name)
    found.relevanceBoost = again ? 0 : boostOf(found)
    if (found.isDeclaration() && isMember(found)) seen.add(found.name)
  }
}
