/** Starts the server of prepared pages in another process, and stops it after use. */
import { fork } from "node:child_process"
import { join } from "node:path"

export const served = async <A>(pages: number, use: (url: string) => Promise<A>): Promise<A> => {
  const child = fork(join(import.meta.dirname, "server.ts"), [String(pages)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  try {
    const port = await new Promise<string>((resolve, reject) => {
      child.stdout?.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()))
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)))
    })
    return await use(`http://127.0.0.1:${port}`)
  } finally {
    child.kill()
  }
}
