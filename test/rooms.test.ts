/** The plan of `src`: which room may import which, and which rooms are closed to a program. */
import { assert, describe, expect, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "..")

/** Every TypeScript file below a folder, by its path from the root of the repository. */
const read = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    Fs.readdirSync(Path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
      .map((name) => [`${folder}/${name}`, Fs.readFileSync(Path.join(root, folder, name), "utf8")] as const)
  )

const sources = read("src")

/** The client stands on top of the files that callers name; both lie flat in `src`. */
const roomOf = (file: string): string => {
  const folder = Path.dirname(file).replace(/^src\/?/, "")
  // What ends a command: every room of the command may name it.
  if (/^src\/cli\/(failure|describe|verb)\.ts$/.test(file)) return "cli/base"
  // What the statements of a fleet and its operator both stand on.
  if (/^src\/fleet\/(CompanyState|FleetError|FleetReason|Schedule|Settings)\.ts$/.test(file)) return "fleet/base"
  if (folder !== "") return folder
  return file === "src/TimePunches.ts" || file === "src/index.ts" ? "client" : "names"
}

const ground = ["internal/http", "internal/telemetry", "internal/resilience", "internal/wire"]

/** What every verb of the command may import. */
const shared = [
  "cli/args",
  "cli/flags",
  "cli/print",
  "cli/base",
  "client",
  "listing",
  "payroll",
  "names",
  "internal/wire"
]

/** A verb over a copy. */
const ofCopy = ["cli/database", "sql", "sync", ...shared]

/** The rooms of the verbs. None imports another, except the assistant's server, which runs some of them. */
const verbs: Readonly<Record<string, ReadonlyArray<string>>> = {
  "cli/payroll": ["close", "export", ...ofCopy],
  "cli/report": ["close", "report", ...ofCopy],
  "cli/summary": ["cli/database", ...shared],
  "cli/copy": ["cli/telemetry", "close", "export", "internal/sql", ...ofCopy],
  "cli/doctor": ofCopy,
  "cli/fleet": [
    "close",
    "cli/telemetry",
    "fleet/node/page",
    "fleet/node",
    "fleet",
    "fleet/store",
    "fleet/base",
    "internal/sql",
    ...ofCopy
  ],
  "cli/export": ["cli/telemetry", "cli/database", "export", ...shared],
  "cli/list": ["cli/database", "export", ...shared],
  "cli/config": shared,
  "cli/help": shared,
  "cli/sandbox": ["testing", "testing/page", "testing/service", "testing/base", ...shared]
}

/** What is said of a value. A room that may import `internal/wire` may import these. */
const said = ["internal/setting", "internal/text"]

/** Which rooms each room may import, from the highest to the lowest. A room always sees itself. */
const mayImport: Readonly<Record<string, ReadonlyArray<string>>> = {
  cli: [
    "cli/mcp",
    ...Object.keys(verbs),
    "cli/args",
    "cli/flags",
    "cli/print",
    "cli/base",
    "internal/wire",
    "node"
  ],
  "cli/mcp": ["cli/payroll", "cli/summary", "cli/list", "export", ...ofCopy],
  ...verbs,
  "cli/database": ["close", "sql/node", "sql", "sync", "internal/files", "internal/sql", ...shared],
  "cli/telemetry": ["cli/flags", "internal/telemetry", "internal/wire"],
  "cli/args": ["cli/flags", "cli/print", "cli/base", "names", "internal/telemetry", "internal/wire"],
  "cli/flags": [
    "cli/print",
    "cli/base",
    "export",
    "sync",
    "client",
    "listing",
    "payroll",
    "names",
    "internal/files",
    "internal/telemetry",
    "internal/wire"
  ],
  "cli/print": ["cli/base", "names", "internal/page", "internal/telemetry", "internal/wire"],
  "cli/base": ["close", "fleet/base", "sql", "sync", "export", "payroll", "names", "internal/sql", "internal/wire"],
  testing: [
    "sync",
    "client",
    "names",
    "internal/wire",
    "testing/service",
    "testing/faults",
    "testing/generate",
    "testing/page",
    "testing/transports",
    "testing/base",
    "internal/page",
    "internal/peer"
  ],
  "testing/page": [
    "testing/page/browser",
    "testing/service",
    "testing/faults",
    "testing/transports",
    "testing/base",
    "internal/page"
  ],
  "testing/page/browser": [],
  "testing/transports": ["testing/base", "internal/page"],
  "testing/service": ["testing/faults", "testing/base"],
  "testing/faults": ["testing/base"],
  "testing/generate": ["testing/base"],
  "testing/base": [],
  "fleet/node/page": ["fleet/node", "fleet/store", "fleet/base", "internal/page", "internal/sql"],
  "fleet/node": [
    "fleet",
    "fleet/store",
    "fleet/base",
    "sql/node",
    "sql",
    "sync",
    "client",
    "listing",
    "names",
    "internal/files",
    "internal/http",
    "internal/sql",
    "internal/wire"
  ],
  close: ["report", "sql", "sync", "payroll", "names", "internal/page", "internal/sql", "internal/wire"],
  report: ["payroll", "names", "internal/page", "internal/wire"],
  fleet: ["fleet/store", "fleet/base", "listing", "names", "internal/sql"],
  "fleet/store": ["fleet/base", "listing", "names", "internal/sql"],
  "fleet/base": ["sync", "listing", "names", "internal/sql", "internal/wire"],
  sql: ["sync", "listing", "payroll", "names", "internal/sql", "internal/wire"],
  "sql/node": ["internal/files", "internal/sql"],
  sync: ["client", "listing", "names", "internal/resilience", "internal/wire"],
  export: ["payroll", "names", "internal/wire"],
  promise: ["client", "listing", "payroll", "names", "internal/wire"],
  payroll: ["names", "internal/wire"],
  node: ["internal/http", "internal/peer", "internal/wire"],
  client: ["backfill", "listing", "names", ...ground],
  backfill: ["listing", "names", ...ground],
  listing: ["names", ...ground],
  names: ground,
  "internal/page": ["internal/wire"],
  "internal/peer": [],
  "internal/files": [],
  "internal/http": ["internal/telemetry", "internal/resilience", "internal/wire"],
  "internal/sql": ["internal/wire"],
  "internal/telemetry": [],
  "internal/resilience": [],
  "internal/wire": said,
  "internal/setting": [],
  "internal/text": []
}

/** The imports that run up, each with its reason. */
const runsUp: Readonly<Record<string, string>> = {
  "src/internal/wire/errorFields.ts -> src/Ids.ts": "every error holds a company id and a cursor",
  "src/internal/wire/schema.ts -> src/Ids.ts": "the wire form of a punch is made of branded ids"
}

/** The packages that a room may import beside `effect`, and the files that alone may. */
const outside: ReadonlyArray<readonly [files: RegExp, packages: RegExp]> = [
  [/^src\/cli\//, /^(node:|@effect\/(platform-node|sql-pg))/],
  [/^src\/sql\/node\//, /^node:/],
  [/^src\/fleet\/node\//, /^node:/],
  [/^src\/internal\/files\//, /^node:/],
  [/^src\/node\//, /^(node:|@effect\/platform-node)/],
  [/^src\/testing\/FakeServer\.ts$/, /^(node:|@effect\/platform-node)/]
]

/** What a file imports or exports from: relative paths resolved, packages as they are. */
const importsOf = (file: string, text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^(?:import|export|\}).*? from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm)].map(
    ([, from, bare, dynamic]) => {
      const path = from ?? bare ?? dynamic ?? ""
      return path.startsWith(".") ? Path.join(Path.dirname(file), path) : path
    }
  )

/** Every import that the table does not allow. */
const strayImports = (files: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...files].flatMap(([file, text]) =>
    importsOf(file, text).filter((path) => {
      if (!path.startsWith("src/")) {
        return !path.startsWith("effect/") && !outside.some(([of, packages]) => of.test(file) && packages.test(path))
      }
      const room = roomOf(file)
      const to = roomOf(path)
      const isAllowed = mayImport[room]?.some((each) => each === to || (each === "internal/wire" && said.includes(to)))
      return to !== room && isAllowed !== true && !(`${file} -> ${path}` in runsUp)
    }).map((path) => `${file} -> ${path}`)
  )

/** A circle of imports, as its files in turn; nothing where there is none. */
const findCircle = (files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const done = new Set<string>()
  const visit = (file: string, path: ReadonlyArray<string>): ReadonlyArray<string> => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const next of importsOf(file, files.get(file) ?? "")) {
      const circle = files.has(next) ? visit(next, [...path, file]) : []
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of files.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

/** What the first comment of a file says, in one line. */
const subjectOf = (text: string): string =>
  /\/\*\*([\s\S]*?)\*\//.exec(text)?.[1]?.replaceAll(/\s*\n \*/g, "").trim() ?? ""

/** What the file says that is to be read before the others of its folder. */
const mark = "START HERE. "

/** The folders of some files, from the highest room to the lowest. */
const foldersOf = (files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const order = Object.keys(mayImport)
  const place = (file: string) => order.indexOf(roomOf(file))
  return [...new Set([...files.keys()].toSorted((a, b) => place(a) - place(b)).map((file) => Path.dirname(file)))]
}

/** The files of a folder to read first: those that say so, else the one with its name, else that of the subpath. */
const firstFiles = (files: ReadonlyMap<string, string>, folder: string): ReadonlyArray<string> => {
  const marked = [...files].filter(([file, text]) => Path.dirname(file) === folder && subjectOf(text).startsWith(mark))
  const named = [`${Path.basename(folder)}.ts`, "index.ts"].map((name) => `${folder}/${name}`)
    .filter((file) => files.has(file))
  return marked.length > 0 ? marked.map(([file]) => file) : named.slice(0, 1)
}

describe("the rooms of src", () => {
  it("have one table that knows them all", () => {
    const rooms = new Set([...sources.keys()].map(roomOf))

    assert.deepStrictEqual([...rooms].toSorted(), Object.keys(mayImport).toSorted())
  })

  it("stand in the table from the highest to the lowest, so that none may import a higher one", () => {
    const order = Object.keys(mayImport)
    const climbing = order.flatMap((room, place) =>
      (mayImport[room] ?? []).filter((to) => order.indexOf(to) <= place).map((to) => `${room} -> ${to}`)
    )

    assert.deepStrictEqual(climbing, [])
  })

  it("import only what the table allows", () => {
    assert.deepStrictEqual(strayImports(sources), [])
  })

  it("have at most two imports that run up, and each still there", () => {
    const imports = [...sources].flatMap(([file, text]) => importsOf(file, text).map((path) => `${file} -> ${path}`))

    assert.isAtMost(Object.keys(runsUp).length, 2)
    assert.includeMembers(imports, Object.keys(runsUp))
  })

  it.each([
    ["a climb", "src/internal/http/body.ts", `import type { Page } from "../../Page.ts"`],
    ["a climb that is handed on", "src/internal/wire/instant.ts", `export * from "../../listing/rows.ts"`],
    ["a climb of many lines", "src/listing/walk.ts", `import {\n  backfill\n} from "../backfill/workers.ts"`],
    ["the fake that imports the client", "src/testing/service/pages.ts", `import { Cursor } from "../../Ids.ts"`],
    ["Node in the client", "src/Credentials.ts", `import * as Fs from "node:fs"`],
    ["the barrel", "src/Ids.ts", `import { Schema } from "effect"`],
    ["Node in the store", "src/sql/store.ts", `import * as Fs from "node:fs"`],
    ["a driver in the store", "src/sql/node/NodeSqlite.ts", `import { PgClient } from "@effect/sql-pg"`],
    ["a package in the fake", "src/testing/faults/hooks.ts", `import { it } from "vitest"`],
    ["a dynamic import", "src/export/Csv.ts", `export const late = () => import("../cli/main.ts")`]
  ])("would show %s", (_, file, line) => {
    assert.lengthOf(strayImports(new Map([[file, `${line}\n`]])), 1)
  })

  it("have no circle of imports", () => {
    assert.deepStrictEqual(findCircle(sources), [])
  })

  it("would show a circle, also one of types", () => {
    const planted = new Map([
      ["src/a.ts", `import { b } from "./b.ts"\n`],
      ["src/b.ts", `export { c } from "./c.ts"\n`],
      ["src/c.ts", `import type { a } from "./a.ts"\n`]
    ])

    assert.deepStrictEqual(findCircle(planted), ["src/a.ts", "src/b.ts", "src/c.ts", "src/a.ts"])
  })

  it("say their purpose in the first line", () => {
    const mute = [...sources].filter(([, text]) => !/^(#!.*\n\s*)?\/\*\*/.test(text)).map(([file]) => file)

    assert.deepStrictEqual(mute, [])
  })

  it("have one file each to read first", () => {
    const unclear = foldersOf(sources).filter((folder) => firstFiles(sources, folder).length !== 1)

    assert.deepStrictEqual(unclear, [])
  })

  it.each([
    ["none", ["a.ts", "b.ts"], []],
    ["two that say so", ["a.ts START HERE. A.", "b.ts START HERE. B."], ["src/sync/a.ts", "src/sync/b.ts"]],
    ["one that says so", ["index.ts", "sync.ts", "a.ts START HERE. A."], ["src/sync/a.ts"]],
    ["one with the name of the folder", ["index.ts", "sync.ts"], ["src/sync/sync.ts"]],
    ["the one of the subpath", ["a.ts", "index.ts"], ["src/sync/index.ts"]]
  ])("would show %s as the first", (_, planted, first) => {
    const files = planted.map((each) => {
      const [name = "", ...words] = each.split(" ")
      return [`src/sync/${name}`, `/** ${words.join(" ")} */`] as const
    })

    assert.deepStrictEqual(firstFiles(new Map(files), "src/sync"), first)
  })

  it("match their map", async () => {
    const rows = foldersOf(sources).flatMap((folder) => firstFiles(sources, folder)).map((file) => {
      const [sentence = ""] = subjectOf(sources.get(file) ?? "").replace(mark, "").split(/\.(?:\s|$)/)
      return [file, sentence] as const
    })
    const width = Math.max(...rows.map(([file]) => file.length))
    const map = rows.map(([file, sentence]) => `${file.padEnd(width)}  ${sentence}\n`).join("")

    await expect(map).toMatchFileSnapshot("../docs/api/rooms.txt")
  })
})

describe("the exports of the package", () => {
  const { resolve } = createRequire(Path.join(root, "package.json"))
  const opens = (path: string): boolean => {
    try {
      resolve(`effect-time-punches/${path}`)
      return true
    } catch (error) {
      // A file that is not built is not found; a closed one is not exported.
      return error instanceof Error && "code" in error && error.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED"
    }
  }

  it("close every file of src that is not one of them", () => {
    const inside = [...sources.keys()].map((file) => file.slice("src/".length, -".ts".length))

    assert.isAbove(inside.length, 60)
    assert.deepStrictEqual(inside.filter(opens), [])
  })

  it("close a file that does not exist yet", () => {
    for (const folder of new Set([...sources.keys()].map((file) => Path.dirname(file).slice("src/".length)))) {
      assert.isFalse(opens(folder === "" ? "Foo" : `${folder}/Foo`), folder)
    }
  })

  it("open the subpaths", () => {
    for (
      const path of [
        "close",
        "payroll",
        "promise",
        "testing",
        "testing/node",
        "export",
        "sync",
        "sql",
        "sql/node",
        "fleet",
        "fleet/node",
        "report",
        "node"
      ]
    ) {
      assert.isTrue(opens(path), path)
    }
  })
})
