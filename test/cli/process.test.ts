import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { Ndjson } from "../../src/export/index.ts"
import { TimePunch } from "../../src/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches, toWire } from "../../src/testing/index.ts"
import { needs } from "../support/needs.ts"
import { commandOf, type Ended, ended, environmentOf, started } from "./child.ts"
import { linesOf, read, temporaryFolder } from "./support.ts"

const generated = generatePunches({ seed: 9, count: 1500, companyId: defaultCompany.id, deletedShare: 0 })

const punches = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))(generated.map(toWire))
  .toSorted((a, b) => a.id - b.id)

const ndjson = Stream.mkString(Ndjson.encode(Stream.fromIterable(punches)))

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches: generated })))

/** Starts the command against the service, and kills it when the scope closes. */
const spawn = (args: ReadonlyArray<string>, env?: Record<string, string>) =>
  Effect.flatMap(FakeServer, ({ url }) => started(args, env ?? environmentOf(url)))

const finished = (...args: Parameters<typeof spawn>): Effect.Effect<Ended, never, FakeServer> =>
  Effect.scoped(Effect.flatMap(spawn(...args), ended))

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

/** Slows the service down, so that a signal arrives while the command runs. */
const slowly = FakeService.use((service) => service.inject(Fault.slow("40 millis")))

const cursorOf = (text: string) => /--cursor='([^']+)'/.exec(text)?.[1] ?? ""

const idsOf = (lines: ReadonlyArray<string>) => lines.map((line) => Number(/^{"id":(\d+)/.exec(line)?.[1]))

const timeout = 60_000

describe("the time-punches process", () => {
  it.live("prints what the service has, over sockets", () =>
    inService(Effect.gen(function*() {
      const { code, stderr, stdout } = yield* finished(["list", "--format", "ndjson"])

      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(stdout, yield* ndjson)
    })), timeout)

  it.live("exits quietly when its reader closes the pipe", () =>
    inService(Effect.gen(function*() {
      const running = yield* spawn(["list", "--format", "ndjson", "--page-size", "5"])
      yield* Effect.promise(() => running.printed("\n"))
      running.child.stdout.destroy()
      const { code, signal, stderr } = yield* ended(running)
      const asked = (yield* FakeService.use((service) => service.requests)).length

      assert.deepStrictEqual([code, signal, stderr], [0, null, ""])
      assert.isBelow(asked, 300)
    })), timeout)

  it.live("says how to resume when a listing is interrupted", () =>
    inService(Effect.gen(function*() {
      yield* slowly
      const running = yield* spawn(["list", "--format", "ndjson", "--page-size", "50"])
      yield* Effect.promise(() => running.printed("\n"))
      running.child.kill("SIGINT")
      const first = yield* ended(running)
      yield* FakeService.use((service) => service.clearFaults)
      const rest = yield* finished(["list", "--format", "ndjson", `--cursor=${cursorOf(first.stderr)}`])
      const lines = [...linesOf(first.stdout), ...linesOf(rest.stdout)]

      assert.deepStrictEqual([first.code, rest.code], [130, 0])
      assert.match(first.stderr, /^interrupted after \d+ pages?, \d+ punches\n/)
      assert.isBelow(linesOf(first.stdout).length, punches.length)
      // The page being printed when the signal arrives may repeat; no row is missing.
      assert.isAtMost(lines.length, punches.length + 50)
      assert.deepStrictEqual(idsOf([...new Set(lines)]), punches.map(({ id }) => id))
    })), timeout)

  it.live(
    "[M10] says how many rows are whole when a listing into a slow pipe is interrupted",
    () =>
      inService(Effect.gen(function*() {
        const env = environmentOf((yield* FakeServer).url)
        const child = yield* Effect.acquireRelease(
          Effect.sync(() =>
            ChildProcess.spawn(process.execPath, commandOf(["list", "--format", "ndjson"]), {
              env,
              stdio: ["ignore", "pipe", "pipe"]
            })
          ),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        let stderr = ""
        child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
        // The output is not read: the listing stands still once the pipe is full.
        const requests = Effect.map(FakeService.use((service) => service.requests), (all) => all.length)
        for (let before = -1; (yield* requests) !== before || before < 3;) {
          before = yield* requests
          yield* Effect.sleep("1 second")
        }
        child.kill("SIGINT")
        const read = yield* Effect.promise(() =>
          new Promise<string>((resolve) => {
            // Node drops what is not read by then.
            child.on("exit", () => {
              let text = ""
              child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part)).on(
                "end",
                () => resolve(text)
              )
            })
          })
        )
        const whole = Number(/keep the first ([\d,]+) punch/.exec(stderr)?.[1]?.replaceAll(",", ""))
        const kept = read.split("\n").slice(0, whole)
        const rest = yield* finished(["list", "--format", "ndjson", `--cursor=${cursorOf(stderr)}`])

        assert.isAbove(whole, 0, stderr)
        assert.deepStrictEqual(idsOf([...kept, ...linesOf(rest.stdout)]), punches.map(({ id }) => id))
        assert.isAbove(linesOf(read).length, kept.length)
      })),
    timeout
  )

  it.live(
    "lets a later export to a file take over, which has the rows of its own listing alone",
    () =>
      inService(Effect.gen(function*() {
        const service = yield* FakeService
        yield* service.inject(Fault.slow("100 millis"))
        const output = `${yield* temporaryFolder}/punches`
        const note = `${output}.resume.json`
        const exporting = (pageSize: string) =>
          spawn(["export", "--page-size", pageSize, "--format", "ndjson", "--output", output])
        const earlier = yield* exporting("15")
        while (!Fs.existsSync(note) || JSON.parse(read(note)).pages === 0) yield* Effect.sleep("5 millis")
        const later = yield* exporting("10")
        const first = yield* ended(earlier)
        // The pages that the earlier one has not saved are not in the listing of the later one any more.
        yield* service.remove(punches.slice(JSON.parse(read(note)).punches).map(({ id }) => id))
        const second = yield* ended(later)
        const ids = idsOf(linesOf(read(output)))

        assert.deepStrictEqual([first.code, second.code], [8, 0], first.stderr + second.stderr)
        assert.match(first.stderr, /another run has taken over/)
        assert.match(second.stderr, new RegExp(`: ${ids.length} punches, `))
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.deepStrictEqual(ids, punches.slice(0, ids.length).map(({ id }) => id))
      })),
    timeout
  )

  it.live("leaves an export that can resume when it is interrupted", () =>
    inService(Effect.gen(function*() {
      const output = `${yield* temporaryFolder}/punches`
      const command = ["export", "--page-size", "50", "--output", output]
      yield* slowly
      const running = yield* spawn(command)
      while (!Fs.existsSync(`${output}.part`)) yield* Effect.sleep("5 millis")
      running.child.kill("SIGINT")
      const first = yield* ended(running)
      const left = Fs.existsSync(output)
      yield* FakeService.use((service) => service.clearFaults)
      const second = yield* finished(command)

      assert.deepStrictEqual([first.code, first.stdout, left], [130, "", false])
      assert.match(
        first.stderr,
        /^interrupted\n[\d,]+ punches, .* are saved\. To resume the export, run the same command again\.\n$/
      )
      assert.strictEqual(second.code, 0)
      assert.match(second.stderr, /^resuming after /)
      assert.strictEqual(read(output), yield* ndjson)
    })), timeout)

  it.live("serves a sandbox whose variables the other subcommands read", () =>
    inService(Effect.gen(function*() {
      const sandbox = yield* spawn(["sandbox", "--port", "0", "--punches", "300"])
      const printed = yield* Effect.promise(() => sandbox.printed("# a first page"))
      const variables = Object.fromEntries(
        [...printed.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value])
      )
      const doctor = yield* finished(["doctor"], variables)
      const list = yield* finished(["list", "--format", "ndjson"], variables)
      const taken = yield* finished(["sandbox", "--port", new URL(variables["TIME_PUNCHES_BASE_URL"] ?? "").port], {})
      sandbox.child.kill("SIGINT")
      const { code, stderr } = yield* ended(sandbox)

      assert.deepStrictEqual([doctor.code, doctor.stderr], [0, ""])
      assert.match(doctor.stdout, /^ok +clock +agrees with the service's$/m)
      assert.lengthOf(linesOf(list.stdout), 300)
      assert.strictEqual(taken.code, 8)
      assert.match(taken.stderr, /cannot listen on port \d+: EADDRINUSE/)
      assert.strictEqual(code, 130)
      assert.match(
        stderr,
        /^http:\/\/127\.0\.0\.1:\d+ serves 300 punches of 2026-03-02 to 2026-04-\d\d\. Ctrl-C stops it\.\n\S+\/ shows its requests, .*\n$/
      )
    })), timeout)

  it.live("serves a sandbox that keeps nothing of a body of 10 MiB", (context) =>
    inService(Effect.gen(function*() {
      needs(context, process.platform === "linux", "/proc of Linux says how much memory a process had")
      const sandbox = yield* spawn(["sandbox", "--port", "0", "--punches", "300", "--json"])
      const printed = yield* Effect.promise(() => sandbox.printed("\n"))
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? ""
      /** The most memory that the process had, in MiB. */
      const peak = () =>
        Number(/VmHWM:\s+(\d+)/.exec(Fs.readFileSync(`/proc/${sandbox.child.pid}/status`, "utf8"))?.[1]) / 1024
      const before = peak()
      const body = "x".repeat(10 * 2 ** 20)
      const answers = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: 20 }, () => fetch(`${url}/sandbox/faults`, { method: "POST", body }))
            .map(async (answer) => [(await answer).status, await (await answer).text()])
        )
      )

      assert.deepStrictEqual(answers, Array.from({ length: 20 }, () => [413, "A body has at most 64 KiB.\n"]))
      assert.isBelow(peak() - before, 80)
    })), timeout)

  it.live("serves a sandbox that prints its variables as one JSON object", () =>
    inService(Effect.gen(function*() {
      const sandbox = yield* spawn(["sandbox", "--port", "0", "--punches", "300", "--json"])
      const printed = yield* Effect.promise(() => sandbox.printed("\n"))
      const variables: Record<string, string> = JSON.parse(printed)
      const list = yield* finished(["list", "--json", "--limit", "5"], variables)
      sandbox.child.kill("SIGINT")
      yield* ended(sandbox)

      assert.deepStrictEqual([list.code, list.stderr], [0, ""])
      assert.lengthOf(JSON.parse(list.stdout), 5)
    })), timeout)

  const march = ["payroll", "check", "--month", "2026-03", "--zone", "America/New_York", "--json"]

  it.live(
    "exits with 9 after it has printed all that a check found, and with 0 where there is nothing",
    () =>
      inService(Effect.gen(function*() {
        const found = yield* finished(march)
        const none = yield* finished([...march, "--user-id", "1", "--accept", "empty"])
        const issues: ReadonlyArray<{ readonly kind: string }> = JSON.parse(found.stdout)

        assert.deepStrictEqual([found.code, found.signal], [9, null])
        assert.match(
          found.stderr,
          /^[\d,]+ issues of [\d,]+ punches; [\d,]+ punches were checked\n(note: (late|missed_break): .+\n)*$/
        )
        assert.isAbove(issues.filter(({ kind }) => kind === "disputed").length, 100)
        assert.deepStrictEqual([none.code, none.stdout, none.stderr], [
          0,
          "[]\n",
          "no punch of the period matches: nothing was checked\n"
        ])
      })),
    timeout
  )

  it.live("exits with 9, quietly, when the reader of a check closes the pipe", () =>
    inService(Effect.gen(function*() {
      const running = yield* spawn(march)
      // What is printed is more than a pipe holds.
      yield* Effect.promise(() => running.printed("\n"))
      running.child.stdout.destroy()
      const { code, signal, stderr, stdout } = yield* ended(running)

      assert.deepStrictEqual([code, signal, stderr], [9, null, ""])
      assert.throws(() => JSON.parse(stdout))
    })), timeout)

  it.live("says a retry in one line on standard error", () =>
    inService(Effect.gen(function*() {
      yield* FakeService.use((service) => service.inject(Fault.retryAfter("1", 503), { requests: 1, times: 1 }))
      const { code, stderr, stdout } = yield* finished(["list", "--limit", "1", "--format", "ndjson"])

      assert.strictEqual(code, 0)
      assert.strictEqual(linesOf(stdout).length, 1)
      assert.strictEqual(stderr, "503, retrying in 1 s (2nd of 4)\n")
    })), timeout)
})
