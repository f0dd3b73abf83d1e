/** A punch in its wire form, or the typed reason why it has none. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { firstIssue } from "../internal/base/issue.ts"
import { TimePunch } from "../TimePunch.ts"
import { UnwritablePunch } from "./ExportError.ts"

const encode = Schema.encodeResult(TimePunch.fromWire)

export const toWire = (punch: TimePunch) =>
  Result.mapError(encode(punch), (error) => {
    const { detail, path } = firstIssue(error)
    return new UnwritablePunch({ punchId: punch.id, path, detail })
  })
