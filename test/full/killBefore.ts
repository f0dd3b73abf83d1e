/** Loaded before a program: ends its process before the first statement of SQLite that matches the variable `KILL_BEFORE`, read in one line. */
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
