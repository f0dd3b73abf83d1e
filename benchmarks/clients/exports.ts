/** Exports to a file: the library over its transport for Node, as docs/08-files.md shows it, and a raw loop of JSON lines. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Csv, Ndjson } from "../../dist/export/index.js"
import { CompanyId, TimePunches } from "../../dist/index.js"
import type { Client } from "../sample.ts"
import { transport } from "./lean.ts"
import { app } from "./ours.ts"
import { companyId } from "./raw.ts"

const scratch = mkdtempSync(join(tmpdir(), "time-punches-bench-"))
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }))

const exporting = (write: typeof Ndjson.encode): Client => (url) => {
  const runtime = ManagedRuntime.make(Layer.merge(app(url, transport), NodeFileSystem.layer))
  return () => {
    let seen = 0
    const punches = Stream.mapArray(TimePunches.list(CompanyId.make(companyId)), (punches) => {
      seen += punches.length
      return punches
    })
    const toFile = Effect.flatMap(
      FileSystem.FileSystem,
      (files) => Stream.run(Stream.encodeText(write(punches)), files.sink(join(scratch, "punches")))
    )
    return runtime.runPromise(Effect.map(toFile, () => seen))
  }
}

export const ndjson = exporting(Ndjson.encode)

export const csv = exporting(Csv.encode)
