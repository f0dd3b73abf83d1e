/** The files that a call names, in real processes: devices, pipes without a writer, signals, and inputs that are outputs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { FakeService } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { bundle } from "../bundle.ts"
import { ended, environmentOf, started } from "../child.ts"
import { temporaryFolder } from "../support.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: [servicePunch({
    id: 1,
    user_id: 501,
    location_id: 301,
    clocked_in: "2026-03-02T14:00:00Z",
    clocked_out: "2026-03-02T22:00:00Z"
  })]
})))

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

const requests = FakeService.use((service) => Effect.map(service.requests, (sent) => sent.length))

const spawn = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.flatMap(FakeServer, ({ url }) => started(args, { ...environmentOf(url), ...env }))

const run = (...call: Parameters<typeof spawn>) => Effect.flatMap(spawn(...call), ended)

/** A folder with each file that a call may name. */
const prepared = Effect.map(temporaryFolder, (folder) => {
  const write = (name: string, text: string) => {
    Fs.writeFileSync(`${folder}/${name}`, text)
    return `${folder}/${name}`
  }
  Fs.mkdirSync(`${folder}/time-punches`)
  const config = write("time-punches/config.json", JSON.stringify({ north: { zone: "UTC" } }))
  const zones = write("zones.csv", "location_id,zone\n301,America/New_York\n")
  const names = write("names.csv", "kind,id,name\nuser,501,Dana Levi\n")
  const variables = write("set.env", "TIME_PUNCHES_API_VERSION=2026-06-01\n")
  Fs.linkSync(zones, `${folder}/hard.csv`)
  Fs.linkSync(zones, `${folder}/hard.html`)
  Fs.symlinkSync(zones, `${folder}/soft.csv`)
  ChildProcess.execFileSync("mkfifo", [`${folder}/pipe`])
  return { config, folder, names, variables, zones }
})

/** What each thread of a process waits for in the kernel, where the system tells. */
const waits = (pid: number | undefined): ReadonlyArray<string> => {
  const threads = `/proc/${pid}/task`
  return Fs.existsSync(threads)
    ? Fs.readdirSync(threads).map((thread) => Fs.readFileSync(`${threads}/${thread}/wchan`, "utf8"))
    : []
}

/** Waits until a process has begun to open a pipe without a writer; five seconds where the system does not tell. */
const opensPipe = (pid: number | undefined, most = 50): Effect.Effect<void> =>
  Effect.suspend(() =>
    most === 0 || waits(pid).includes("wait_for_partner")
      ? Effect.void
      : Effect.andThen(Effect.sleep("100 millis"), opensPipe(pid, most - 1))
  )

const timeout = 60_000

describe("a file that a call names", () => {
  it.live.each([
    "list --names FILE",
    "summary --source service --by day --zone-file FILE --week 2026-03-02",
    "payroll file 7.1 --database DB --mapping FILE",
    "payroll file --preview --source service --week 2026-03-02 --zone UTC --mapping MAP --codes FILE",
    "list --variables FILE",
    "sync --database postgres://localhost:1/x?sslmode=require&sslrootcert=FILE"
  ])("is no device: %s", (words) =>
    inService(Effect.gen(function*() {
      const { folder } = yield* prepared
      Fs.writeFileSync(
        `${folder}/map.json`,
        JSON.stringify({
          v: 1,
          by: ["user"],
          hours: "minutes",
          rounding: "down",
          columns: [{ header: "employee", value: "userCode" }, { header: "net", value: "hours" }]
        })
      )
      const args = words.replace("FILE", "/dev/zero").replace("DB", `${folder}/a.db`).replace(
        "MAP",
        `${folder}/map.json`
      )
      const { code, stderr } = yield* run(args.split(" "))

      assert.include([2, 3], code, stderr)
      assert.match(stderr, /\/dev\/zero: it is a device/)
      assert.strictEqual(yield* requests, 0)
    })), timeout)

  it.live("ends above 16 MiB, also if it is standard input", () =>
    inService(Effect.gen(function*() {
      const { url } = yield* FakeServer
      for (const args of ["list --names /dev/stdin", "fleet add --database a.db"]) {
        const { status, stderr } = ChildProcess.spawnSync(
          "bash",
          ["-c", `"$@" < <(exec cat /dev/zero)`, "bash", process.execPath, bundle, ...args.split(" ")],
          { cwd: yield* temporaryFolder, env: environmentOf(url), encoding: "utf8", timeout: 60_000 }
        )

        assert.strictEqual(status, 2, stderr)
        assert.include(stderr, "it is larger than 16 MiB")
      }
    })), timeout)

  it.live.each(["SIGTERM", "SIGINT"] as const)(
    "may be a pipe without a writer, and %s ends the run",
    (signal) =>
      inService(Effect.gen(function*() {
        const { folder } = yield* prepared
        const { child, ended } = yield* spawn(["list", "--names", `${folder}/pipe`])
        yield* opensPipe(child.pid)
        assert.isNull(child.exitCode)
        child.kill(signal)

        assert.deepInclude(yield* Effect.promise(() => ended), { code: 130, signal: null, stdout: "" })
      })),
    timeout
  )

  it.live(
    "may keep a thread waiting, and the second signal ends the process at once",
    () =>
      inService(Effect.gen(function*() {
        const { folder } = yield* prepared
        const { child, ended, printed } = yield* spawn(["sandbox", "--port", "0", "--punches", "3"], {
          NODE_OPTIONS: `--require=${holding(folder)}`
        })
        yield* Effect.promise(() => printed("TIME_PUNCHES_BASE_URL"))
        child.kill("SIGTERM")
        yield* Effect.sleep("500 millis")
        assert.isNull(child.signalCode)
        child.kill("SIGTERM")

        assert.deepInclude(yield* Effect.promise(() => ended), { code: null, signal: "SIGTERM" })
      })),
    timeout
  )
})

/** A module that holds a thread of Node for ever, as a disk does that is away. */
const holding = (folder: string) => {
  const file = `${folder}/holding.cjs`
  Fs.writeFileSync(file, `require("node:fs").open(${JSON.stringify(`${folder}/pipe`)}, () => {})\n`)
  return file
}

describe("no input is the output", () => {
  const week = "--week 2026-03-02"
  it.live.each([
    `export ${week} --zone-file zones.csv --output zones.csv`,
    `export ${week} --zone-file zones.csv --output ./time-punches/../zones.csv`,
    `export ${week} --zone-file zones.csv --output hard.csv`,
    `export ${week} --zone-file zones.csv --output soft.csv`,
    `export ${week} --zone-file soft.csv --output zones.csv`,
    `export ${week} --zone-file out.csv.part --output out.csv`,
    `export ${week} --zone-file out.csv.resume.json --output out.csv`,
    "export --variables set.env --output set.env --format csv",
    "list --profile north --output time-punches/config.json --json",
    "list --names names.csv --output names.csv",
    "list --names /dev/stdin --output names.csv",
    `summary --source service ${week} --zone-file zones.csv --output zones.csv`,
    `report --source service ${week} --zone-file zones.csv --output hard.html`,
    "summary --database copy.db --by user --output copy.db --format csv",
    "sandbox --companies 2 --variables set.env --companies-csv set.env"
  ])("%s", (words) =>
    inService(Effect.gen(function*() {
      const { config, folder, names, variables, zones } = yield* prepared
      for (const suffix of ["part", "resume.json"]) Fs.copyFileSync(zones, `${folder}/out.csv.${suffix}`)
      const copy = `${folder}/copy.db`
      if (words.includes("copy.db")) yield* run(["sync", "--database", copy])
      else Fs.writeFileSync(copy, "")
      const { url } = yield* FakeServer
      const files = [config, names, variables, zones, copy]
      const [before, sent] = [files.map((file) => Fs.readFileSync(file)), yield* requests]
      const args = [...words.split(" "), ...(words.startsWith("sandbox") ? [] : ["--force"])]
      const { status, stderr } = ChildProcess.spawnSync(
        "bash",
        ["-c", `"$@" < names.csv`, "bash", process.execPath, bundle, ...args],
        { cwd: folder, env: { ...environmentOf(url), XDG_CONFIG_HOME: folder }, encoding: "utf8", timeout: 60_000 }
      )

      assert.strictEqual(status, 2, stderr)
      assert.match(stderr, /would replace .*, which this command reads\n {2}Choose another name\.\n$/)
      assert.strictEqual(yield* requests, sent)
      assert.deepStrictEqual(files.map((file) => Fs.readFileSync(file)), before)
    })), timeout)
})
