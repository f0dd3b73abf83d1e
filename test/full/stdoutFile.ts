/**
 * Loaded before a program whose standard output is a file. With `FAIL_SYNC` a disk cannot keep that file; with `HIDE_STDOUT` the system
 * has no name for it, as outside of Linux.
 */
import Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

const { env } = process
const failed = (code: string, syscall: string) => Object.assign(new Error(`${code}: ${syscall}`), { code, syscall })

if (env["FAIL_SYNC"] !== undefined) {
  Fs.fsync = new Proxy(Fs.fsync, {
    apply: (fsync, self, args) => args[0] === 1 ? args[1](failed("EIO", "fsync")) : Reflect.apply(fsync, self, args)
  })
}
if (env["HIDE_STDOUT"] !== undefined) {
  Fs.openSync = new Proxy(Fs.openSync, {
    apply: (open, self, args) => {
      if (args[0] === "/proc/self/fd/1") throw failed("ENOENT", "open")
      return Reflect.apply(open, self, args)
    }
  })
}
syncBuiltinESMExports()
