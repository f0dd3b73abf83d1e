/** What one run allocates, for runs that do not wait: alone in its process, with `--expose-gc`. */
import { median } from "./measure.ts"
import { open } from "./sample.ts"

export const allocated = async ({ client, target }: { readonly client: string; readonly target: string }) => {
  const run = await open(client, target)
  for (let i = 0; i < 60; i++) await run()
  const counts = Array.from({ length: 15 }, () => {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    const kept = run()
    const bytes = process.memoryUsage().heapUsed - before
    if (kept === 0) throw new Error(`${client} saw no punch`)
    return bytes
  })
  return median(counts)
}
