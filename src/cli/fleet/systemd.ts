/**
 * Tells systemd that the process is ready, and then again and again that it turns. systemd listens on a datagram socket, which Node
 * does not have: its own program `systemd-notify` sends the messages. Loaded only if `NOTIFY_SOCKET` is set.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { execFile } from "node:child_process"
import { makeLoop, reasonOf } from "../../fleet/node/loop.ts"

/** `isTurning`: whether the loops of the process go round. If they stand still, systemd hears nothing and starts it again. */
export const notifySystemd = Effect.fnUntraced(function*(socket: string, isTurning: Effect.Effect<boolean>) {
  const path = yield* Config.withDefault(Config.String("PATH"), "/usr/bin:/bin")
  const watchdog = yield* Config.option(Config.Int("WATCHDOG_USEC"))
  const send = (message: string) =>
    Effect.callback<void, Error>((resume) => {
      // Without the environment of this process, which has secrets.
      const options = { env: { PATH: path, NOTIFY_SOCKET: socket }, timeout: 5000 }
      execFile("systemd-notify", [message], options, (error) => {
        resume(error === null ? Effect.void : Effect.fail(error))
      })
    })
  yield* Effect.catchCause(
    send("READY=1"),
    (cause) => Effect.logWarning(`systemd does not learn that the process is ready: ${reasonOf(cause)}`)
  )
  if (Option.isNone(watchdog)) return
  const alive = Effect.flatMap(
    isTurning,
    (turns): Effect.Effect<void, Error | string> => turns ? send("WATCHDOG=1") : Effect.fail("the claims stand still")
  )
  yield* Effect.forkScoped(makeLoop("the message to the watchdog of systemd", watchdog.value / 2000, alive).run)
})
