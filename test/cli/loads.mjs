/** Preloaded into a process: it writes the files that the process has loaded, a line each, to the file of `LOADED`. */
import * as Fs from "node:fs"
import { registerHooks } from "node:module"

const loaded = []

registerHooks({
  load: (url, context, next) => {
    loaded.push(url)
    return next(url, context)
  }
})

process.on("exit", () => Fs.writeFileSync(process.env.LOADED, loaded.join("\n")))
