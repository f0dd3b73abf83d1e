/**
 * Calls of the system that fail, are cut short, or are the last of their process, in each command that writes files: the places come from
 * strace and an undisturbed run. The same command follows each. Shared with the soak.
 */
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generateWeeks } from "../../src/testing/index.ts"
import { canBecome, commandOf, type Ended, environmentOf, type User } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"

export const hasStrace: boolean = ChildProcess.spawnSync("strace", ["--version"]).status === 0

export const noStrace = "no strace: install it (Debian: apt-get install strace)"

/** Two pages. */
const punches = generateWeeks({ seed: 9, count: 300, people: 6, companyId: defaultCompany.id })

export const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

/** What each call of the system can fail with. Names differ by processor: strace omits those that it does not know. */
const errorsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  open: ["ENOSPC", "EIO"],
  openat: ["ENOSPC", "EIO"],
  write: ["ENOSPC", "EIO"],
  pwrite64: ["ENOSPC", "EIO"],
  ftruncate: ["EIO"],
  fsync: ["EIO", "ENOSPC"],
  fdatasync: ["EIO", "ENOSPC"],
  rename: ["ENOSPC", "EIO"],
  renameat: ["ENOSPC", "EIO"],
  renameat2: ["ENOSPC", "EIO"],
  link: ["ENOSPC", "EIO", "EPERM"],
  linkat: ["ENOSPC", "EIO", "EPERM"],
  unlink: ["EIO", "EACCES"],
  unlinkat: ["EIO", "EACCES"],
  chmod: ["EIO", "EPERM"],
  fchmod: ["EIO", "EPERM"],
  fchmodat: ["EIO", "EPERM"],
  chown: ["EIO", "EPERM"],
  fchown: ["EIO", "EPERM"],
  fchownat: ["EIO", "EPERM"]
}

/** The `n`-th call of a thread below the folder, or also all behind it; or no file may be longer than `size`. */
export type Fault =
  | {
    readonly _tag: "Error"
    readonly call: string
    readonly n: number
    readonly error: string
    readonly stays: boolean
  }
  | { readonly _tag: "Kill"; readonly call: string; readonly n: number }
  | { readonly _tag: "Room"; readonly size: number }

interface Verb {
  readonly name: string
  /** `@` is the folder. */
  readonly words: string
  /** The folder at its start. */
  readonly from: "nothing" | "copy" | "closed"
  /** The file that it writes. */
  readonly target: string
  /** A file that is there before; if root runs the command, it is of another user. */
  readonly before?: string
  /** Standard output is appended to this file. */
  readonly appends?: string
  /** It serves until it is ended. */
  readonly serves?: boolean
}

const week = "--week 2026-03-02 --zone America/New_York"
const next = "--accept open,unapproved,zeroWage,autoClockedOut,tooLong,overlap,anomaly"
const database = "--database @/c.db"

/** All that write files. `due`, `diff` and `list` write theirs by one way: one of them is here, and one that replaces. */
export const verbs: ReadonlyArray<Verb> = [
  { name: "list", words: "list --source service --format csv -o @/out.csv", from: "nothing", target: "out.csv" },
  {
    name: "list --force",
    words: "list --source service --format csv --force -o @/out.csv",
    from: "nothing",
    target: "out.csv",
    before: "out.csv"
  },
  { name: "export", words: "export --source service -o @/out.csv", from: "nothing", target: "out.csv" },
  {
    name: "export --force",
    words: "export --source service --force -o @/out.csv",
    from: "nothing",
    target: "out.csv",
    before: "out.csv"
  },
  {
    name: "summary",
    words: `summary --source service ${week} --json -o @/out.json`,
    from: "nothing",
    target: "out.json"
  },
  {
    name: "report",
    words: `report ${database} ${week} --as-of 2026-03-20T00:00:00Z -o @/out.html`,
    from: "copy",
    target: "out.html"
  },
  { name: "sync, a new copy", words: `copy sync --history ${database}`, from: "nothing", target: "c.db" },
  { name: "sync", words: `copy sync --history ${database}`, from: "copy", target: "c.db" },
  {
    name: "feed",
    words: `copy feed ${database} --state @/state.json`,
    from: "closed",
    target: "state.json",
    appends: "events"
  },
  { name: "close", words: `payroll close ${week} ${next} ${database}`, from: "copy", target: "c.db" },
  { name: "correct", words: `payroll correct ${database}`, from: "closed", target: "c.db" },
  { name: "void", words: `payroll void 1.1 --note unsent ${database}`, from: "closed", target: "c.db" },
  {
    name: "file",
    words: `payroll file 1.1 --mapping @/m.json ${database} -o @/out.csv`,
    from: "closed",
    target: "out.csv"
  },
  { name: "erase", words: `copy erase --yes --closes-too ${database}`, from: "closed", target: "c.db" },
  { name: "fleet add", words: `fleet add ${database} 4021=${defaultCompany.guid}`, from: "copy", target: "c.db" },
  {
    name: "sandbox",
    words: "sandbox --port 0 --punches 5 --companies 3 --companies-csv @/out.csv --write-env @/out.env",
    from: "nothing",
    target: "out.env",
    serves: true
  }
]

const mapping = JSON.stringify({
  v: 1,
  by: ["user"],
  hours: "minutes",
  rounding: "halfUp",
  columns: [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }],
  lineEnd: "\n"
})

/** Names of scratch files are the same in each run, so that strace can name them; no process has this number. */
const sameNames = `data:text/javascript,${
  encodeURIComponent(`
import Crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
let n = 0
Object.defineProperty(process, "pid", { value: 99999999 })
Crypto.randomUUID = globalThis.crypto.randomUUID = () => "00000000-0000-4000-8000-" + String(++n).padStart(12, "0")
syncBuiltinESMExports()`)
}`

const other: User = { uid: 61_002, gid: 61_002 }

/** Who runs a command; `undefined`: who runs the tests. */
export type Runner = User | undefined

const one: User = { uid: 61_001, gid: 61_001 }

const isRoot = canBecome(one)

export const runners: readonly [Runner, ...ReadonlyArray<Runner>] = isRoot ? [undefined, one] : [undefined]

const own: User = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

const put = (path: string, text: string, { gid, uid }: User) => {
  Fs.writeFileSync(path, text, { mode: 0o640 })
  Fs.chownSync(path, uid, gid)
}

const give = (folder: string, { gid, uid }: User) => {
  for (const name of ["", ...Fs.readdirSync(folder)]) Fs.chownSync(Path.join(folder, name), uid, gid)
}

/** A scratch file of another user, which stays. */
const theirs = (file: string) => `${file}.ffffffff-0000-4000-8000-000000000000.tmp`

/** What a file or a table holds; what is of a moment or of a run does not count. */
type Held = Readonly<Record<string, string>>

const ofMoment = /_at$|^at$|^valid_|^pass|^checkpoint$|^history_|^known_since$|^token$|^epoch$|^unknown$/

const heldByDatabase = (file: string, scratch: string): Held => {
  Fs.rmSync(scratch, { recursive: true, force: true })
  Fs.mkdirSync(scratch)
  for (const suffix of ["", "-wal", "-journal"]) {
    if (Fs.existsSync(file + suffix)) Fs.copyFileSync(file + suffix, Path.join(scratch, `copy${suffix}`))
  }
  using opened = new DatabaseSync(Path.join(scratch, "copy"))
  const check = JSON.stringify(opened.prepare("PRAGMA integrity_check").all().map((row) => Object.values(row)))
  const tables = opened.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
  return Object.fromEntries([
    ["integrity", check],
    ...tables.map(({ name }) => {
      const rows = opened.prepare(`SELECT * FROM "${String(name)}"`).all().map((row) =>
        JSON.stringify(
          Object.entries(row).map(([column, value]) => ofMoment.test(column) && value !== null ? "" : value)
        )
      )
      return [String(name), rows.toSorted().join("\n")]
    })
  ])
}

const isOfDatabase = (name: string) => /^c\.db(-wal|-shm|-journal)?$/.test(name)

/** Each line of a feed once, by its position. */
const events = (text: string): string =>
  [...new Set(text.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}")))].join("\n")

/** The files of a folder, and the tables of its database. */
const heldBy = (folder: string): Held => {
  const held: Record<string, string> = {}
  for (const name of Fs.readdirSync(folder)) {
    if (isOfDatabase(name)) continue
    const text = Fs.readFileSync(Path.join(folder, name), "utf8")
    held[name] = name === "events"
      ? events(text)
      : text.replaceAll(/127\.0\.0\.1:\d+/g, "").replaceAll(/"run":"[^"]*"|"size":\d+/g, "").replaceAll(
        /(Made|made) [^<]*/g,
        ""
      )
  }
  if (Fs.existsSync(Path.join(folder, "c.db"))) {
    const tables = heldByDatabase(Path.join(folder, "c.db"), `${folder}.held`)
    for (const [table, rows] of Object.entries(tables)) held[`c.db ${table}`] = rows
  }
  return held
}

const differences = (one: Held, two: Held): ReadonlyArray<string> =>
  [...new Set([...Object.keys(one), ...Object.keys(two)])].filter((name) => one[name] !== two[name])

/** Where strace found the calls of an undisturbed run. */
interface Prepared {
  readonly verb: Verb
  readonly runner: Runner
  readonly paths: ReadonlyArray<string>
  /** The most calls of one thread. */
  readonly counts: ReadonlyMap<string, number>
  readonly before: Held
  readonly whole: Held
  /** Of the run, and of one more. */
  readonly codes: readonly [number | null, number | null]
  readonly largest: number
}

const isScratch = (name: string) => /\.tmp$|\.part$|\.resume\.json$/.test(name)

/** Sets up the folders, and gives what runs a fault. */
export const injector = Effect.gen(function*() {
  const { url } = yield* FakeServer
  const service = yield* FakeService
  const root = yield* temporaryFolder
  Fs.chmodSync(root, 0o1777)
  const env = { ...environmentOf(url), UV_THREADPOOL_SIZE: "1", HOME: root, XDG_CONFIG_HOME: root, USER: "payroll" }

  /** Runs a call, by another program before it. */
  const run = (
    folder: string,
    verb: Pick<Verb, "words" | "appends" | "serves">,
    runner: Runner = undefined,
    by: ReadonlyArray<string> = []
  ) =>
    Effect.promise(() =>
      new Promise<Ended>((resolve) => {
        const words = verb.words.split(" ").map((word) => word.replace("@", folder))
        const [program = "", ...args] = [
          ...by,
          process.execPath,
          ...(by.length > 0 ? ["--import", sameNames] : []),
          ...commandOf(words)
        ]
        const stdio = verb.appends === undefined ? undefined : Fs.openSync(Path.join(folder, verb.appends), "a")
        const child = ChildProcess.spawn(program, args, {
          cwd: "/",
          env,
          stdio: ["ignore", stdio ?? "pipe", "pipe"],
          ...runner
        })
        const timer = setTimeout(() => child.kill("SIGKILL"), 120_000)
        let [stdout, stderr] = ["", ""]
        child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text))
        child.stdout?.setEncoding("utf8").on("data", (text: string) => {
          stdout += text
          if (verb.serves !== true || !stdout.includes("TIME_PUNCHES_BASE_URL")) return
          // strace passes no signal on.
          const children = Fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim()
          process.kill(by.includes("strace") ? Number(children) : child.pid ?? 0, "SIGTERM")
        })
        child.on("close", (code, signal) => {
          clearTimeout(timer)
          if (stdio !== undefined) Fs.closeSync(stdio)
          resolve({ code, signal, stdout, stderr })
        })
      })
    )

  const templates = { nothing: `${root}/nothing`, copy: `${root}/copy`, closed: `${root}/closed` }
  for (const folder of Object.values(templates)) Fs.mkdirSync(folder)
  const set = Effect.fnUntraced(function*(folder: string, words: string) {
    const { code, stderr } = yield* run(folder, { words })
    if (code !== 0) throw new Error(`${words}: ${stderr}`)
  })
  yield* set(templates.copy, `copy sync --history ${database}`)
  Fs.cpSync(templates.copy, templates.closed, { recursive: true })
  Fs.writeFileSync(`${templates.closed}/m.json`, mapping)
  yield* set(templates.closed, `payroll close ${week} ${next} ${database}`)
  const paid = punches.filter(({ clocked_in, clocked_out }) =>
    clocked_in.startsWith("2026-03-04T") && clocked_out !== null
  )
  yield* service.edit(paid.slice(0, 2).map(({ id }) => id), { tips: 77_700 })
  yield* set(templates.closed, `copy sync --history ${database}`)

  const fresh = (verb: Verb, runner: Runner): string => {
    const folder = Path.join(root, `run-${verbs.indexOf(verb)}`)
    Fs.rmSync(folder, { recursive: true, force: true })
    Fs.cpSync(templates[verb.from], folder, { recursive: true })
    if (verb.before !== undefined) put(Path.join(folder, verb.before), "id\n1\n", isRoot ? other : own)
    if (verb.appends !== undefined) Fs.writeFileSync(Path.join(folder, verb.appends), "")
    if (runner !== undefined) give(folder, runner)
    if (isRoot) put(Path.join(folder, theirs(verb.target)), "theirs", other)
    return folder
  }

  const strace = (log: string, ...more: ReadonlyArray<string>) => [
    "strace",
    "-f",
    "-qq",
    "-o",
    log,
    "-e",
    `trace=${Object.keys(errorsOf).map((call) => `?${call}`).join(",")}`,
    ...more
  ]

  const prepare = Effect.fnUntraced(function*(verb: Verb, runner: Runner): Effect.fn.Return<Prepared> {
    const folder = fresh(verb, runner)
    const before = heldBy(folder)
    const log = `${folder}.log`
    Fs.rmSync(log, { force: true })
    const { code, stderr } = yield* run(folder, verb, runner, strace(log, "--seccomp-bpf", "-y"))
    if (code !== (verb.serves === true ? 130 : 0)) throw new Error(`${verb.name}: ${code} ${stderr}`)
    const whole = heldBy(folder)
    if (isRoot && whole[theirs(verb.target)] === undefined)
      throw new Error(`${verb.name}: removes what is of another user`)
    const largest = Math.max(...Fs.readdirSync(folder).map((name) => Fs.statSync(Path.join(folder, name)).size))
    const counts = new Map<string, number>()
    const paths = new Set<string>([folder])
    const byThread = new Map<string, number>()
    const calls = Fs.readFileSync(log, "utf8").split("\n")
    const named = calls.findLastIndex((line) => new RegExp(`(rename|link)\\w*\\(.*/${verb.target}"`).test(line))
    const isOnDisk = calls.slice(named).some((line) => line.includes("fsync(") && line.includes(`<${folder}>`))
    if (named !== -1 && !isOnDisk) throw new Error(`${verb.name}: the name of ${verb.target} is not on disk`)
    for (const line of calls) {
      const call = /^(\d+) +(\w+)\(/.exec(line)
      const found = line.match(/\/[^"<>,]*/g)?.filter((path) => `${path}/`.startsWith(`${folder}/`)) ?? []
      if (call === null || found.length === 0) continue
      for (const path of found) paths.add(path)
      const [, thread = "", name = ""] = call
      const n = 1 + (byThread.get(`${thread} ${name}`) ?? 0)
      byThread.set(`${thread} ${name}`, n)
      counts.set(name, Math.max(n, counts.get(name) ?? 0))
    }
    const again = yield* run(folder, verb, runner)
    return { verb, runner, paths: [...paths], counts, before, whole, codes: [code, again.code], largest }
  })

  /** What a fault breaks, in words; none if nothing. `isHit`: whether the run came to it. */
  const inject = Effect.fnUntraced(function*({ before, codes, paths, runner, verb, whole }: Prepared, fault: Fault) {
    const folder = fresh(verb, runner)
    const log = `${folder}.log`
    Fs.rmSync(log, { force: true })
    const first = yield* run(
      folder,
      verb,
      runner,
      fault._tag === "Room"
        ? ["prlimit", `--fsize=${fault.size}`]
        : strace(
          log,
          ...paths.flatMap((path) => ["-P", path]),
          "-e",
          fault._tag === "Kill"
            ? `inject=${fault.call}:signal=KILL:when=${fault.n}`
            : `inject=${fault.call}:error=${fault.error}:when=${fault.n}${fault.stays ? "+" : ""}`,
          // A signal needs the stop at the entry of a call.
          ...(fault._tag === "Error" ? ["--seccomp-bpf"] : [])
        )
    )
    const isHit = fault._tag === "Room"
      ? first.code !== codes[0]
      : first.signal === "SIGKILL" || Fs.readFileSync(log, "utf8").includes("(INJECTED)")
    const broken: Array<string> = []
    const said = first.stderr.split("\n").filter((line) => line !== "").slice(0, 2).join(" / ")

    // The file of a revision is as good without the note of it, and the command says so. The note comes last.
    const isNoted = first.signal !== "SIGKILL" && !first.stderr.includes("has no note of it")
    const isDue = (name: string) => isNoted || name !== "c.db time_punches_close_file"
    const held = heldBy(folder)
    const changed = differences(held, whole).filter((name) => !isScratch(name) && isDue(name))
    if (first.signal === null && first.code === codes[0]) {
      if (changed.length > 0)
        broken.push(`ended with ${first.code}, and not as undisturbed: ${changed.join(", ")}: ${said}`)
    } else if (first.signal !== "SIGKILL") {
      if (first.code !== 8) broken.push(`exit code ${first.code}: ${said}`)
      const names = ["stdout", ...paths.filter((path) => path !== folder && !isScratch(path))]
      if (!names.some((name) => first.stderr.includes(name))) broken.push(`no name of a file: ${said}`)
      if (/\.tmp\b/.test(first.stderr)) broken.push(`the name of a scratch file: ${said}`)
      if (/^ +at /m.test(first.stderr)) broken.push(`a trace: ${said}`)
    }
    const isClose = (name: string) => name.startsWith("c.db time_punches_close")
    for (const name of changed) {
      if (name === "c.db time_punches" || name === "c.db time_punches_history") {
        const known = new Set(`${before[name] ?? ""}\n${whole[name] ?? ""}`.split("\n"))
        for (const row of held[name]?.split("\n") ?? []) if (!known.has(row)) broken.push(`a wrong row: ${row}`)
      } else if (name === "c.db integrity") {
        if (held[name] !== undefined) broken.push(`integrity: ${held[name]}`)
      } else if (name === "events") {
        if (whole[name]?.startsWith(held[name] ?? "") !== true) broken.push("events that are not the first ones")
      } else if (!name.startsWith("c.db ") || isClose(name)) {
        const isOfItsDatabase = name.startsWith("c.db ") && (held[name] ?? "") === ""
        // A feed begins with the position before its first event.
        const isState = name === "state.json" && /^\{.*\}\n$/.test(held[name] ?? "")
        if (held[name] !== before[name] && !isOfItsDatabase && !isState) broken.push(`torn: ${name}`)
      }
    }
    const closed = Object.keys(whole).filter((name) => isClose(name) && (before[name] ?? "") !== whole[name])
    if (new Set(closed.map((name) => changed.includes(name))).size > 1) broken.push("half a close")

    const second = yield* run(folder, verb, runner)
    const isDone = changed.length === 0
    if (second.code !== codes[0] && !(isDone && second.code === codes[1])) {
      broken.push(`the second run ends with ${second.code}: ${second.stderr.slice(0, 300)}`)
    }
    const after = heldBy(folder)
    // What root has given to the owner of the file that it was to replace is of another user.
    const isGiven = (name: string) =>
      isScratch(name) && after[name] !== undefined && Fs.statSync(Path.join(folder, name)).uid !== (runner ?? own).uid
    const left = differences(after, whole).filter((name) => isDue(name) && !isGiven(name))
    if (left.length > 0) {
      broken.push(
        `after the second run (${second.code}, first ${first.signal ?? first.code}): ${
          left.map((name) =>
            after[name] === undefined ? `no ${name}` : whole[name] === undefined ? `left: ${name}` : name
          ).join(", ")
        }`
      )
    }
    return {
      isHit,
      broken: broken.map((what) =>
        `${verb.name}${runner === undefined ? "" : " by another user"}, ${JSON.stringify(fault)}: ${what}`
      )
    }
  })
  return { prepare, inject }
})

/** Every fault at every call, and no short write. */
export const faultsOf = ({ counts }: Prepared): ReadonlyArray<Fault> =>
  [...counts].flatMap(([call, count]) =>
    Array.from({ length: count }, (_, at) => at + 1).flatMap((n) => {
      const faults: Array<Fault> = [{ _tag: "Kill", call, n }]
      for (const error of errorsOf[call] ?? []) {
        for (const stays of [false, true]) faults.push({ _tag: "Error", call, n, error, stays })
      }
      return faults
    })
  )

/** `rooms`: the share of short writes. Each kind of call as often as the others: a sync writes a hundred times, and renames nothing. */
export const drawFault = ({ counts, largest }: Prepared, random: Prng, rooms = 0.1): Fault => {
  const [first = "", ...calls] = counts.keys()
  if (random.chance(rooms)) return { _tag: "Room", size: random.between(1, largest) }
  const call = random.pick([first, ...calls])
  const n = random.between(1, counts.get(call) ?? 1)
  const [error = "", ...errors] = errorsOf[call] ?? []
  return random.chance(0.4)
    ? { _tag: "Kill", call, n }
    : { _tag: "Error", call, n, error: random.pick([error, ...errors]), stays: random.chance(0.5) }
}
