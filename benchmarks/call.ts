/** Calls one function in a separate process: `node call.ts FILE EXPORT JSON` prints what it returns, as JSON. */

const [file = "", name = "", argument = "{}"] = process.argv.slice(2)
const module: Record<string, (argument: unknown) => unknown> = await import(`./${file}`)
const value = await module[name]?.(JSON.parse(argument))
if (value === undefined) throw new Error(`${file} has no function ${name} that returns a value`)
process.stdout.write(JSON.stringify(value), () => process.exit(0))
