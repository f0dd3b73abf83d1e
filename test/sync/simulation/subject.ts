/** The code that a simulation drives: that of `src/sync`, or a copy of it with a defect planted. */
import { Result } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type * as CheckpointFile from "../../../src/sync/Checkpoint.ts"
import type * as MemoryStoreFile from "../../../src/sync/memoryStore.ts"
import type * as SyncFile from "../../../src/sync/Sync.ts"
import type { Plan } from "./plan.ts"
import { company } from "./source.ts"
import type { Subject } from "./stores.ts"

const sources = fileURLToPath(new URL("../../../src/", import.meta.url))

/** A defect: texts of the source, each of which occurs once, and what stands there instead. */
export interface Planting {
  readonly name: string
  readonly edits: ReadonlyArray<{ readonly file: string; readonly find: string; readonly replace: string }>
  /** Settings that the defect needs to show; the rest of a plan is drawn as ever. */
  readonly change?: (plan: Plan) => Plan
}

const load = async (folder: string): Promise<Subject> => {
  const at = (name: string) => pathToFileURL(Path.join(folder, name)).href
  const sync: typeof SyncFile = await import(/* @vite-ignore */ at("Sync.ts"))
  const memory: typeof MemoryStoreFile = await import(/* @vite-ignore */ at("memoryStore.ts"))
  const checkpoint: typeof CheckpointFile = await import(/* @vite-ignore */ at("Checkpoint.ts"))
  return {
    run: sync.run,
    sweep: sync.sweep,
    makeStoreOf: memory.makeStoreOf,
    checkpointText: checkpoint.checkpointText,
    readCheckpoint: (text) => Result.getOrThrow(checkpoint.readCheckpoint(text, company))
  }
}

export const real = (): Promise<Subject> => load(Path.join(sources, "sync"))

/** The text of a file of `src/sync` with the edits of a defect in it. Fails unless each of its texts occurs once. */
export const planted = (file: string, { edits, name }: Planting): string =>
  edits.filter((edit) => edit.file === file).reduce((text, { find, replace }) => {
    if (text.split(find).length !== 2) throw new Error(`${name}: ${file} does not have once: ${find}`)
    return text.replace(find, () => replace)
  }, Fs.readFileSync(Path.join(sources, "sync", file), "utf8"))

/** Copies `src/sync` into a temporary folder with the defect in it, and loads it from there. */
export const plant = async (planting: Planting): Promise<Subject> => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "planted-"))
  try {
    for (const file of Fs.readdirSync(Path.join(sources, "sync"))) {
      const text = planted(file, planting).replaceAll(`"../`, `"${pathToFileURL(sources).href}`)
      Fs.writeFileSync(Path.join(folder, file), text)
    }
    Fs.symlinkSync(Path.join(sources, "../node_modules"), Path.join(folder, "node_modules"))
    return await load(folder)
  } finally {
    Fs.rmSync(folder, { recursive: true })
  }
}
