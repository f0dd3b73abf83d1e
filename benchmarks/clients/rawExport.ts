/** A loop that writes what `json()` made of each page as JSON lines, a page at a time. */
import { mkdtempSync, rmSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Client } from "../sample.ts"
import { looked, pageOf, requesting } from "./raw.ts"

const scratch = mkdtempSync(join(tmpdir(), "time-punches-bench-"))
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }))

export const lines: Client = (url) => {
  let file: FileHandle | undefined
  const list = requesting(url, async (body) => {
    const page = await pageOf(body)
    await file?.write(page.data.map((punch) => `${JSON.stringify(punch)}\n`).join(""))
    return looked(page)
  })
  return async () => {
    file = await open(join(scratch, "punches"), "w")
    const seen = await list()
    await file.close()
    return seen
  }
}
