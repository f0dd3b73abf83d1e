/**
 * START HERE. The arguments of a call before they are parsed: values that begin with a minus, and flags that are taken first.
 */
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, refused } from "../failure.ts"
import { type ColourChoice, colourChoices, Colours, coloursOf } from "../print/colour.ts"

/** The arguments before `--`, and those from it on, which stay as they are. */
export const splitAtOperands = (
  args: ReadonlyArray<string>
): readonly [before: ReadonlyArray<string>, operands: ReadonlyArray<string>] => {
  const end = args.indexOf("--")
  return end === -1 ? [args, []] : [args.slice(0, end), args.slice(end)]
}

/** Not a flag, but a value: neither `-h`, nor `-o=FILE`, nor a long flag, nor the `-` of standard input. */
const minusValue = /^-(?!-|$|[A-Za-z](?:=|$))/

/** A flag whose value is the next argument. */
const openFlag = /^(?:--[^=]+|-[A-Za-z])$/

/**
 * Joins such a value to its flag, as in `--zone=-05:00`. The parser would take `-16h` for the flags `-1`, `-6` and `-h`, and
 * print the help as a success. Fails for a value without a flag before it.
 */
export const joinMinusValues = (args: ReadonlyArray<string>): Result.Result<ReadonlyArray<string>, CommandFailure> => {
  const [before, operands] = splitAtOperands(args)
  const joined: Array<string> = []
  for (const arg of before) {
    if (!minusValue.test(arg)) {
      joined.push(arg)
      continue
    }
    const flag = joined.at(-1) ?? ""
    if (!openFlag.test(flag)) {
      return refused(
        `${printable(arg)} is not a flag, and no flag before it takes a value`,
        "A value that begins with a minus follows its flag, as in --zone -05:00 or --zone=-05:00."
      )
    }
    joined[joined.length - 1] = `${flag}=${arg}`
  }
  return Result.succeed([...joined, ...operands])
}

/**
 * Takes flags out of the arguments, wherever they stand before `--`. `needs`: the value of each flag, in words. `switches`: the
 * flags without a value, each with its letter.
 */
export const takeFlags = <Name extends string, Switch extends string = never>(
  args: ReadonlyArray<string>,
  needs: Readonly<Record<Name, string>>,
  switches?: Readonly<Record<Switch, string>>
): Result.Result<
  { readonly values: ReadonlyMap<Name | Switch, string>; readonly rest: ReadonlyArray<string> },
  CommandFailure
> =>
  Result.gen(function*() {
    const values = new Map<Name | Switch, string>()
    const [before, operands] = splitAtOperands(args)
    const rest: Array<string> = []
    for (let at = 0; at < before.length; at++) {
      const arg = before[at] ?? ""
      const isOn = switches &&
        Struct.keys(switches).find((each) => arg === `--${each}` || arg === `-${switches[each]}`)
      if (isOn !== undefined) {
        if (values.has(isOn)) return yield* refused(`--${isOn} is given twice`)
        values.set(isOn, "")
        continue
      }
      const [, flag, joined] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
      const name = Struct.keys(needs).find((each) => each === flag)
      if (name === undefined) {
        rest.push(arg)
        continue
      }
      const value = joined ?? before[++at]
      if (value === undefined || value.trim() === "" || (joined === undefined && value.startsWith("--"))) {
        return yield* refused(`--${name} needs ${needs[name]}`)
      }
      if (values.has(name)) return yield* refused(`--${name} is given twice`)
      values.set(name, value)
    }
    return { values, rest: [...rest, ...operands] }
  })

/** Declared for the help: its value is taken before the arguments are parsed, so that help and every message follow it. */
export const colourFlag = GlobalFlag.Setting("color")({
  flag: Flag.Literals("color", colourChoices).pipe(
    Flag.withMetavar("auto|always|never"),
    Flag.withDescription("When tables, warnings and help have colour; auto: in a terminal, unless NO_COLOR is set"),
    Flag.optional
  )
})

const isChoice = (value: string): value is ColourChoice => colourChoices.some((choice) => choice === value)

/** Takes `--color` out of the arguments. */
const takeColour = (args: ReadonlyArray<string>) =>
  Result.flatMap(takeFlags(args, { color: "auto, always or never" }), ({ rest, values }) => {
    const value = values.get("color") ?? "auto"
    return isChoice(value)
      ? Result.succeed({ choice: value, rest })
      : refused(`--color needs auto, always or never, and not ${printable(value)}`)
  })

/** Runs with the other arguments, and with the colours that `--color` and the environment choose. */
export const withColours = <A, E, R>(
  args: ReadonlyArray<string>,
  use: (rest: Effect.Effect<ReadonlyArray<string>, CommandFailure>) => Effect.Effect<A, E, R>
) => {
  const taken = takeColour(args)
  const choice = Result.isSuccess(taken) ? taken.success.choice : "auto"
  return use(Effect.map(Effect.fromResult(taken), ({ rest }) => rest)).pipe(
    Effect.provideServiceEffect(Colours, coloursOf(choice))
  )
}
