/** The time and memory of a million punches in one stream, in a separate process: `node --expose-gc memoryOwn.ts URL TIMES`. */

export interface MemoryRow {
  readonly name: string
  readonly seconds: number
  readonly peakRssMb: number
  readonly heapEarlyMb: number
  readonly heapEndMb: number
}

const heapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

/** Lists everything `TIMES` times, measures the heap after a fifth and at the end, and prints a row as JSON. */
export const report = async (name: string, open: (url: string) => () => Promise<number>): Promise<void> => {
  const [url = "", times = "1"] = process.argv.slice(2)
  const list = open(url)
  let heapEarlyMb = 0
  const start = Date.now()
  for (let i = 0; i < Number(times); i++) {
    const punches = await list()
    if (punches !== 100_000) throw new Error(`${name} saw ${punches} punches of 100 000`)
    if (i === Math.floor(Number(times) / 5)) heapEarlyMb = heapMb()
  }
  const seconds = (Date.now() - start) / 1000
  const peakRssMb = process.resourceUsage().maxRSS / 1000
  const row: MemoryRow = { name, seconds, heapEarlyMb, heapEndMb: heapMb(), peakRssMb }
  process.stdout.write(JSON.stringify(row))
  process.exit(0)
}
