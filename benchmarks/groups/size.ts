/** What the library adds to a bundle, and to the start of a program. */
import { called } from "../measure.ts"
import { atMost, number, type Section, table } from "../report.ts"
import type { Sizes } from "../size.ts"

export const size = (): Section => {
  const { imports, parts, rooms, sizes } = called<Sizes>("size.ts", "size")
  const of = (what: string) => sizes.find((row) => row.what === what)
  const sizeTable = table(
    ["minified and gzipped, bytes", "esbuild", "rolldown"],
    sizes.map((row) => [row.what, number(row.esbuild, 0), number(row.rolldown, 0)])
  )
  const partTable = table(
    ["of the worker app, minified and gzipped, bytes", "esbuild"],
    parts.map((row) => [row.what, number(row.bytes, 0)])
  )
  const roomTable = table(
    ["of the worker app without effect, minified bytes", "esbuild"],
    rooms.map((row) => [row.what, number(row.bytes, 0)])
  )
  const importLine = `Importing what the library needs of \`effect\` takes ${
    number(imports.effect, 0)
  } ms, the library on top ${number(imports.ours, 1)} ms, its entry of promises ${
    number(imports.promise, 1)
  } ms, and the library ${number(imports.oneFile, 1)} ms as one file.`
  return {
    name: "size",
    text: [sizeTable, partTable, roomTable, importLine].join("\n\n"),
    targets: [
      atMost(
        "main entry in a worker app without effect, bytes (rolldown)",
        22_000,
        of("worker app, effect left out")?.rolldown ?? NaN,
        { digits: 0 }
      ),
      atMost("worker app with effect, bytes (esbuild)", 60_000, of("worker app, effect included")?.esbuild ?? NaN, {
        digits: 0
      }),
      atMost("import on top of effect's, ms", 5, imports.ours, { digits: 1 })
    ]
  }
}
