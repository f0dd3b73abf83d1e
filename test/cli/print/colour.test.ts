/** Who decides on colour: `--color`, the variables and the terminal, for each output on its own. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Stdio } from "effect"
import { run } from "../../../src/cli/command.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { capture, cli, type Environment, environment } from "../support.ts"

const served = FakeService.layer({
  punches: generatePunches({ seed: 5, count: 60, companyId: defaultCompany.id, openShare: 0.2 })
})

/** What a call writes to outputs of which each may be a terminal. */
const shown = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  env: Environment,
  { stderr, stdout }: { readonly stdout: boolean; readonly stderr: boolean }
) {
  const texts = { stdout: new Array<string>(), stderr: new Array<string>() }
  yield* run(args).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...environment, ...env } }))),
    Effect.provide(FakeService.layerClient),
    Effect.provide(Stdio.layerTest({
      stdout: capture(texts.stdout),
      stderr: capture(texts.stderr),
      stdoutIsTerminal: Effect.succeed(stdout),
      stderrIsTerminal: Effect.succeed(stderr)
    })),
    Effect.provide(NodeServices.layer)
  )
  return { stdout: texts.stdout.join(""), stderr: texts.stderr.join("").replaceAll("\r\u001b[2K", "") }
})

const isColoured = (text: string) => text.includes("\u001b[")

const terminal = { stdout: true, stderr: true }
const piped = { stdout: false, stderr: false }

/** Titles on standard output, and a warning on standard error. */
const call = ["summary", "--by", "user"]

const rows: ReadonlyArray<readonly [args: string, env: Environment, on: typeof terminal, coloured: typeof terminal]> = [
  ["", {}, terminal, terminal],
  ["", {}, piped, piped],
  ["", {}, { stdout: true, stderr: false }, { stdout: true, stderr: false }],
  ["", {}, { stdout: false, stderr: true }, { stdout: false, stderr: true }],
  ["", { NO_COLOR: "1" }, terminal, piped],
  ["", { NO_COLOR: "0" }, terminal, piped],
  ["", { NO_COLOR: "" }, terminal, terminal],
  ["", { TERM: "dumb" }, terminal, piped],
  ["", { FORCE_COLOR: "1" }, piped, terminal],
  ["", { FORCE_COLOR: "0" }, piped, piped],
  ["", { FORCE_COLOR: "1", NO_COLOR: "1" }, terminal, piped],
  ["--color auto", { NO_COLOR: "1" }, terminal, piped],
  ["--color always", {}, piped, terminal],
  ["--color=always", { NO_COLOR: "1" }, piped, terminal],
  ["--color never", {}, terminal, piped],
  ["--color=never", { FORCE_COLOR: "1" }, terminal, piped]
]

describe("colour", () => {
  it.effect.each(rows)("of %j with %j on %j is %j", ([args, env, on, coloured]) =>
    Effect.gen(function*() {
      const { stderr, stdout } = yield* shown([...call, ...args.split(" ").filter((word) => word !== "")], env, on)

      assert.match(stdout, /user_id/)
      assert.match(stderr, /is unknown and not in the sums/)
      assert.deepStrictEqual({ stdout: isColoured(stdout), stderr: isColoured(stderr) }, coloured)
    }).pipe(Effect.provide(served)))

  it.effect("is taken from before and after the subcommand, and reaches the help and the messages", () =>
    Effect.gen(function*() {
      const before = yield* shown(["--color", "always", ...call], {}, piped)
      const after = yield* shown([...call, "--color", "always"], {}, piped)
      const help = yield* shown(["list", "--help", "--color", "always"], {}, piped)
      const plainHelp = yield* shown(["list", "--help", "--color", "never"], {}, terminal)

      assert.isTrue(isColoured(before.stdout))
      assert.deepStrictEqual(after, before)
      assert.isTrue(isColoured(help.stdout))
      assert.isFalse(isColoured(plainHelp.stdout))
      assert.include(plainHelp.stdout, "--names FILE")
    }).pipe(Effect.provide(served)))

  it.effect.each(["--color", "--color=", "--color --json", "--color red", "--color never --color always"])(
    "is refused by name: %s",
    (args) =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* cli(["list", ...args.split(" ")])

        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.match(stderr, /--color (needs auto, always or never|is given twice)/)
      }).pipe(Effect.provide(FakeService.layer()))
  )

  it.effect.each([
    "list --json",
    "list --format ndjson",
    "list --format csv",
    "summary --json",
    "summary --format csv",
    "payroll check --week 2026-03-02 --zone UTC --json",
    "payroll check --week 2026-03-02 --zone UTC --format csv",
    "report --week 2026-03-02 --zone UTC --output -",
    "doctor --json",
    "config show --json"
  ])("is in no form for programs, also if it is always on: %s", (args) =>
    Effect.gen(function*() {
      const always = yield* cli([...args.split(" "), "--color", "always"], { terminal: true, colour: true })
      const never = yield* cli([...args.split(" "), "--color", "never"], { terminal: true, colour: true })

      assert.isAbove(always.stdout.length, 2)
      assert.isFalse(isColoured(always.stdout))
      if (!args.startsWith("doctor")) assert.strictEqual(always.stdout, never.stdout)
    }).pipe(Effect.provide(Layer.fresh(served))))
})
