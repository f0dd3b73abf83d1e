/**
 * Loaded before a program: ends its process before the first statement of SQLite that matches the variable `KILL_BEFORE`. With
 * `KILL_AFTER`, that many statements that match it are executed first.
 */
import { StatementSync } from "node:sqlite"

const pattern = new RegExp(process.env["KILL_BEFORE"] ?? "$^")
let left = Number(process.env["KILL_AFTER"] ?? 0)

const check = (sql: string) => {
  if (!pattern.test(sql)) return
  if (left === 0) process.kill(process.pid, "SIGKILL")
  left -= 1
}

const checked = <F extends (...args: Array<never>) => unknown>(execute: F): F =>
  new Proxy(execute, {
    apply: (target, self: StatementSync, args) => {
      check(self.sourceSQL)
      return Reflect.apply(target, self, args)
    }
  })

StatementSync.prototype.all = checked(StatementSync.prototype.all)
StatementSync.prototype.run = checked(StatementSync.prototype.run)
