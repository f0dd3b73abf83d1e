/** The body of a response: put together in one buffer under a cap, or handed on in parts. The first read decides. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import { codedError, type Receiver, type Source } from "./flow.ts"
import { gather, type Gathered } from "./gather.ts"

/** Keeps no reference to its response, so that an unread one is collected, which aborts the request. */
export interface Body extends Receiver {
  /** The whole body of at most `cap` bytes; the request of a larger one is aborted. May be read again, but for `isLast`. */
  readonly whole: (cap: number, isLast: boolean) => Effect.Effect<ArrayBuffer, unknown>
  /** The parts as they arrive, once. A slow reader slows down the sender; one that stops early aborts the request. */
  readonly parts: Stream.Stream<Uint8Array, unknown>
  /** Ends the request, unless the body is complete. */
  readonly abort: () => void
}

/** The bytes that wait for a reader before the sender is paused. */
const highWater = 64 * 1024

const tooLarge = () => codedError("UND_ERR_RES_EXCEEDED_MAX_SIZE", "the body exceeds its cap")

/** A body from `source`. `length` is known where the framing declares it; `onSettled` is called when nothing more arrives. */
export const makeBody = (from: Source, length: number | undefined, onSettled: () => void): Body => {
  // Dropped when nothing more arrives.
  let source: Source | undefined = from
  let state: "open" | "complete" | "failed" = "open"
  let cause: unknown
  let reader: Gathered | "gone" | undefined
  let waiting: Array<Uint8Array> = []
  let size = 0
  let wake: Array<() => void> = []

  /** Readers continue after undici's parser has returned: they may send the next request, which must not enter it again. */
  const notify = () => {
    for (const resume of wake) queueMicrotask(resume)
    wake = []
  }
  const settle = (to: "complete" | "failed", why?: unknown) => {
    if (state !== "open") return
    state = to
    cause = why
    source = undefined
    onSettled()
    notify()
  }
  const abortWith = (why: Error) => {
    if (state !== "open") return
    waiting = []
    const aborted = source
    settle("failed", why)
    aborted?.abort(why)
  }
  const abort = () => abortWith(codedError("UND_ERR_ABORTED", "the request was aborted"))
  const push = (part: Uint8Array) => {
    if (state !== "open") return
    if (typeof reader === "object") {
      if (!reader.add(part)) abortWith(tooLarge())
      return
    }
    waiting.push(part)
    size += part.length
    if (size > highWater) source?.pause()
    notify()
  }

  /** Waits for the next part or the end. */
  const change = Effect.callback<void>((resume) => {
    wake.push(() => resume(Effect.void))
  })

  const startGathering = (cap: number): Gathered => {
    const gathered = gather(length, cap)
    const fits = waiting.every(gathered.add) && (length ?? 0) <= cap
    reader = gathered
    waiting = []
    if (fits) source?.resume()
    else abortWith(tooLarge())
    return gathered
  }
  const bytesOf = (gathered: Gathered, cap: number, isLast: boolean) => {
    if (state === "failed") return Effect.fail(cause)
    if (isLast) reader = "gone"
    return gathered.size() > cap ? Effect.fail(tooLarge()) : Effect.succeed(gathered.bytes())
  }
  const whole = (cap: number, isLast: boolean): Effect.Effect<ArrayBuffer, unknown> =>
    Effect.suspend(() => {
      if (reader === "gone") return Effect.fail(new Error("the body was read before"))
      const gathered = reader ?? startGathering(cap)
      if (state !== "open") return bytesOf(gathered, cap, isLast)
      return Effect.flatMap(Effect.onInterrupt(change, () => Effect.sync(abort)), () => bytesOf(gathered, cap, isLast))
    })

  const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, unknown> = Effect.suspend(() => {
    if (Arr.isArrayNonEmpty(waiting)) {
      const parts = waiting
      waiting = []
      size = 0
      source?.resume()
      return Effect.succeed(parts)
    }
    if (state === "complete") return Cause.done()
    return state === "failed" ? Effect.fail(cause) : Effect.flatMap(change, () => pull)
  })
  const parts = Stream.suspend((): Stream.Stream<Uint8Array, unknown> => {
    if (reader === "gone") return Stream.fail(new Error("the body was read before"))
    if (reader !== undefined) {
      return Stream.map(Stream.fromEffect(whole(Infinity, false)), (bytes) => new Uint8Array(bytes))
    }
    reader = "gone"
    return Stream.ensuring(Stream.fromPull(Effect.succeed(pull)), Effect.sync(abort))
  })

  return { push, end: () => settle("complete"), fail: (why) => settle("failed", why), whole, parts, abort }
}
