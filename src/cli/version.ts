/** The version of the package that this command is part of, as its own `package.json` says. */
import * as Schema from "effect/Schema"
import * as Fs from "node:fs"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

// Sources and what is built from them lie equally deep.
export const version = decode(Fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version
