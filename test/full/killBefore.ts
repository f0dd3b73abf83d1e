/**
 * Loaded before a program: ends its process before the first statement of SQLite that matches the variable `KILL_BEFORE`, read in one
 * line, or before the rename of a file with the number `KILL_BEFORE_RENAME`.
 */
import Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { StatementSync } from "node:sqlite"

const pattern = new RegExp(process.env["KILL_BEFORE"] ?? "$^")

const checked = <F extends (...args: Array<never>) => unknown>(execute: F): F =>
  new Proxy(execute, {
    apply: (target, self: StatementSync, args) => {
      if (pattern.test(self.sourceSQL.trim().replaceAll(/\s+/g, " "))) process.kill(process.pid, "SIGKILL")
      return Reflect.apply(target, self, args)
    }
  })

StatementSync.prototype.all = checked(StatementSync.prototype.all)
StatementSync.prototype.run = checked(StatementSync.prototype.run)

let renames = 0
Fs.rename = new Proxy(Fs.rename, {
  apply: (rename, self, args) => {
    renames += 1
    if (String(renames) === process.env["KILL_BEFORE_RENAME"]) process.kill(process.pid, "SIGKILL")
    return Reflect.apply(rename, self, args)
  }
})
syncBuiltinESMExports()
