/** Flags that Node knows too, in real processes: Node reads some of them, wherever they stand, before the command begins. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { bundle } from "./bundle.ts"
import { ended, started } from "./child.ts"
import { temporaryFolder } from "./support.ts"

const env = { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" }

/** A folder with a module that leaves a trace, and files of variables. */
const prepared = Effect.map(temporaryFolder, (folder) => {
  const trace = `${folder}/trace`
  const module = `${folder}/module.cjs`
  Fs.writeFileSync(module, `require("node:fs").writeFileSync(${JSON.stringify(trace)}, "ran")\n`)
  const hostile = `${folder}/hostile.env`
  Fs.writeFileSync(hostile, `NODE_OPTIONS=--require=${module}\nTIME_PUNCHES_COMPANY_ID=77\n`)
  const plain = `${folder}/plain.env`
  Fs.writeFileSync(plain, "TIME_PUNCHES_COMPANY_ID=77\n")
  const config = `${folder}/node.config.json`
  Fs.writeFileSync(config, "{}")
  return { config, folder, hostile, module, plain, hasRun: () => Fs.existsSync(trace) }
})

const run = (args: ReadonlyArray<string>) => Effect.flatMap(started(args, env), ended)

/** Runs words of a shell, in which `$@` is the command. */
const inShell = (script: string) => {
  const { status, stderr, stdout } = ChildProcess.spawnSync(
    "bash",
    ["-c", script, "bash", process.execPath, bundle],
    { env, encoding: "utf8", timeout: 60_000 }
  )
  return { code: status, stderr, stdout }
}

describe("--variables", () => {
  it.live("reads NODE_OPTIONS as any other variable, and runs nothing", () =>
    Effect.gen(function*() {
      const { hasRun, hostile } = yield* prepared
      const { code, stderr, stdout } = yield* run(["config", "show", "--variables", hostile])

      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, new RegExp(`TIME_PUNCHES_COMPANY_ID +77 +${hostile}`))
      assert.isFalse(hasRun())
    }).pipe(Effect.scoped))

  it.live.each([
    `"$@" config show --variables <(sleep 0.3; cat $FILE)`,
    `cat $FILE | "$@" config show --variables /dev/stdin`,
    `"$@" config show --variables /dev/stdin < $FILE`,
    `mkfifo $FILE.fifo; (sleep 0.3; cat $FILE > $FILE.fifo) & "$@" config show --variables $FILE.fifo`
  ])("reads a pipe: %s", (script) =>
    Effect.gen(function*() {
      const { plain } = yield* prepared
      const { code, stderr, stdout } = inShell(script.replaceAll("$FILE", plain))

      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /TIME_PUNCHES_COMPANY_ID +77 /)
    }).pipe(Effect.scoped))

  it.live.each<readonly [file: string, text: RegExp]>([
    ["/nowhere/x.env", /--variables \/nowhere\/x\.env: there is no such file/],
    ["/dev", /--variables \/dev: it is a folder/],
    ["/dev/zero", /--variables \/dev\/zero: it is a device/]
  ])("of %s is a wrong setting, by its name", ([file, text]) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run(["config", "show", "--variables", file])

      assert.strictEqual(code, 3)
      assert.match(stderr, text)
      assert.lengthOf(stderr.trim().split("\n"), 1)
    }).pipe(Effect.scoped))
})

describe("a report of Node", () => {
  it.live.each(["on a signal", "on an uncaught exception"])(
    "has no variable, and so no secret: %s",
    (when) =>
      Effect.gen(function*() {
        const { folder } = yield* prepared
        const boom = `${folder}/boom.cjs`
        Fs.writeFileSync(boom, `setTimeout(() => { throw new Error("boom") }, 1000).unref?.()\n`)
        const how = when === "on a signal" ? "--report-on-signal" : `--report-uncaught-exception --require=${boom}`
        const given = {
          ...env,
          NODE_OPTIONS: `${how} --report-directory=${folder} --report-filename=report.json`,
          TIME_PUNCHES_ACCESS_TOKEN: "hunter2-hunter2"
        }
        const { child, printed } = yield* started(["sandbox", "--port", "0"], given)
        // A signal before Node listens would end it.
        yield* Effect.promise(() => printed("\n"))
        const report = `${folder}/report.json`
        const written = () => Fs.existsSync(report) ? Fs.readFileSync(report, "utf8") : ""
        // The brace at the margin is the last line of a report.
        for (let tries = 0; tries < 90 && !written().includes("\n}"); tries++) {
          if (when === "on a signal") child.kill("SIGUSR2")
          yield* Effect.sleep("500 millis")
        }
        const text = written()

        assert.include(text, "\"commandLine\"")
        assert.notInclude(text, "hunter2")
      }).pipe(Effect.scoped)
  )
})

describe("a flag of Node", () => {
  it.live.each([
    "--env-file PLAIN",
    "--env-file=PLAIN",
    "--env-file-if-exists PLAIN",
    "--env-file-if-exists=PLAIN",
    "--env-file-if-exists=/nowhere/x.env",
    "--experimental-config-file=CONFIG"
  ])("is refused, and --variables named: %s", (words) =>
    Effect.gen(function*() {
      const { config, hasRun, plain } = yield* prepared
      const args = words.replace("PLAIN", plain).replace("CONFIG", config).split(" ")
      const { code, stderr, stdout } = yield* run(["config", "show", ...args])
      const [flag] = `${args[0]}`.split("=")

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, `${flag} is a flag of Node, which reads it first\n  --variables FILE reads variables`)
      assert.isFalse(hasRun())
    }).pipe(Effect.scoped))

  it.live.each([
    "--require MODULE",
    "--require=MODULE",
    "-r MODULE",
    "--import MODULE",
    "--import=MODULE",
    "--loader MODULE",
    "--experimental-loader=MODULE",
    "--watch",
    "--watch-path=.",
    "--inspect",
    "--inspect-brk=0",
    "--inspect-wait",
    "--eval process.exit(0)",
    "-e process.exit(0)",
    "--print 1",
    "-p 1",
    "--conditions x",
    "-C x",
    "--test",
    "--run x",
    "--check",
    "--interactive",
    "-i",
    "--build-snapshot"
  ])("is no flag of the command, and does nothing: %s", (words) =>
    Effect.gen(function*() {
      const { hasRun, module } = yield* prepared
      const args = words.replace("MODULE", module).split(" ")
      const { code, stderr, stdout } = yield* run(["config", "show", ...args])
      const [flag] = `${args[0]}`.split("=")

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, new RegExp(`^time-punches config show: ${flag} is not a flag`))
      assert.isFalse(hasRun())
    }).pipe(Effect.scoped))
})
