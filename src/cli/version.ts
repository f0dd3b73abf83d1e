/** The version of this package. */
import * as Schema from "effect/Schema"
import * as Fs from "node:fs"

// `src/cli` and `dist/cli` are equally deep.
const manifest = new URL("../../package.json", import.meta.url)

export const { version } = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))(
  Fs.readFileSync(manifest, "utf8")
)
