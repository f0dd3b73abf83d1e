/** Reads the version of this package from its `package.json`. */
import * as Schema from "effect/Schema"
import * as Fs from "node:fs"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

// `src/cli` and `dist/cli` are equally deep.
export const version = decode(Fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version
