/** The body of a response, decompressed: put together in one buffer under a cap, or passed on in parts. The first read decides. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import type { Transform } from "node:stream"
import { createBrotliDecompress, createGunzip } from "node:zlib"

/** Takes a body as it arrives. After `end` or `fail` it takes nothing more. */
export interface Receiver {
  readonly push: (part: Uint8Array) => void
  readonly end: () => void
  readonly fail: (cause: unknown) => void
}

/** Controls the sender of a body. `abort` closes the connection, unless the response is complete. */
export interface Source {
  readonly pause: () => void
  readonly resume: () => void
  readonly abort: (cause: Error) => void
}

/** An error with a platform code, which `TransportError` reports. */
export const codedError = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** Keeps no reference to its response, so that an unread one is collected, which aborts the request. */
export interface Body extends Receiver {
  /** The whole body of at most `cap` bytes; the request of a larger one is aborted. `release`: it is not read again. */
  readonly whole: (cap: number, release: boolean) => Effect.Effect<ArrayBuffer, unknown>
  /** The parts as they arrive, once. A slow reader slows down the sender; one that stops early aborts the request. */
  readonly parts: Stream.Stream<Uint8Array, unknown>
  /** Ends the request, unless the body is complete. */
  readonly abort: () => void
}

/** The bytes that wait for a reader before the sender is paused. */
const highWater = 64 * 1024

const readBefore = () => new Error("the body was read before")

const tooLarge = () => codedError("UND_ERR_RES_EXCEEDED_MAX_SIZE", "the body exceeds its cap")

/** A body from `source`. `length` is known if the framing declares it; `onSettled` is called when nothing more arrives. */
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
  const bytesOf = (gathered: Gathered, cap: number, release: boolean) => {
    if (state === "failed") return Effect.fail(cause)
    if (release) reader = "gone"
    return gathered.size() > cap ? Effect.fail(tooLarge()) : Effect.succeed(gathered.bytes())
  }
  const whole = (cap: number, release: boolean): Effect.Effect<ArrayBuffer, unknown> =>
    Effect.suspend(() => {
      if (reader === "gone") return Effect.fail(readBefore())
      const gathered = reader ?? startGathering(cap)
      if (state !== "open") return bytesOf(gathered, cap, release)
      return Effect.flatMap(Effect.onInterrupt(change, () => Effect.sync(abort)), () => bytesOf(gathered, cap, release))
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
    if (reader === "gone") return Stream.fail(readBefore())
    if (reader !== undefined) {
      return Stream.map(Stream.fromEffect(whole(Infinity, false)), (bytes) => new Uint8Array(bytes))
    }
    reader = "gone"
    return Stream.ensuring(Stream.fromPull(Effect.succeed(pull)), Effect.sync(abort))
  })

  return { push, end: () => settle("complete"), fail: (why) => settle("failed", why), whole, parts, abort }
}

/** The encodings that the transport requests. */
export const acceptEncoding = "gzip, br"

const chunkSize = 64 * 1024

const decompressors: { readonly [encoding: string]: () => Transform } = {
  "gzip": () => createGunzip({ chunkSize }),
  "x-gzip": () => createGunzip({ chunkSize }),
  "br": () => createBrotliDecompress({ chunkSize })
}

/** What decompresses an encoding; `undefined` for any other, whose body stays as it is. */
export const decompressorOf = (encoding: string | undefined): (() => Transform) | undefined =>
  decompressors[encoding?.trim().toLowerCase() ?? ""]

/** A body behind a decompressor, and the receiver of its compressed bytes. */
export const inflated = (
  decompressor: () => Transform,
  source: Source,
  makeBody: (source: Source) => Body
): { readonly body: Body; readonly receiver: Receiver } => {
  // Made with the first byte: a response without a body may have an encoding.
  let inflating: Transform | undefined
  const body = makeBody({
    pause: () => inflating?.pause(),
    resume: () => inflating?.resume(),
    abort: (cause) => {
      inflating?.destroy()
      source.abort(cause)
    }
  })
  const start = () =>
    decompressor()
      .on("data", body.push)
      .on("end", body.end)
      .on("drain", () => source.resume())
      .on("error", (cause) => {
        body.fail(cause)
        source.abort(cause)
      })
  return {
    body,
    receiver: {
      push: (part) => {
        inflating ??= start()
        if (!inflating.write(part)) source.pause()
      },
      end: () => inflating === undefined ? body.end() : inflating.end(),
      fail: (cause) => {
        inflating?.destroy()
        body.fail(cause)
      }
    }
  }
}

/** The first buffer of a body whose length is unknown. */
const usual = 64 * 1024

/** The most that is allocated on the word of a header, before any byte has arrived. */
const most = 1024 * 1024

/** The parts of a body so far, in one buffer. */
type Gathered = ReturnType<typeof gather>

/** A buffer of `length`, if that is known, which grows up to `cap`. */
const gather = (length: number | undefined, cap: number) => {
  // Not from the pool of `Buffer`, whose memory other data shares.
  let buffer = Buffer.allocUnsafeSlow(Math.min(length ?? usual, most, cap))
  let size = 0
  let exact: ArrayBuffer | undefined
  return {
    /** Copies a part; `false` once there are more bytes than the cap. */
    add: (part: Uint8Array): boolean => {
      const start = size
      size += part.length
      if (size > cap) return false
      if (size > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 2 * buffer.length), cap))
        larger.set(buffer.subarray(0, start))
        buffer = larger
      }
      buffer.set(part, start)
      return true
    },
    /** The bytes of all parts, also of those above the cap. */
    size: () => size,
    /** All bytes, without any other in their buffer. */
    bytes: (): ArrayBuffer => exact ??= size === buffer.length ? buffer.buffer : buffer.buffer.slice(0, size)
  }
}
