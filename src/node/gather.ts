/** One buffer for a body whose parts arrive one by one. */
import { Buffer } from "node:buffer"

/** The parts so far. */
export interface Gathered {
  /** Copies a part; `false` once there are more bytes than the cap. */
  readonly add: (part: Uint8Array) => boolean
  /** The bytes of all parts, also of those above the cap. */
  readonly size: () => number
  /** All bytes, without any other in their buffer. */
  readonly bytes: () => ArrayBuffer
}

/** The first buffer, where the length is unknown. */
const usual = 64 * 1024

/** The most that is allocated on the word of a header, before any byte has arrived. */
const most = 1024 * 1024

/** A buffer of `length`, if that is known, which grows up to `cap`. */
export const gather = (length: number | undefined, cap: number): Gathered => {
  // Not from the pool of `Buffer`, whose memory other data shares.
  let buffer = Buffer.allocUnsafeSlow(Math.min(length ?? usual, most, cap))
  let size = 0
  let exact: ArrayBuffer | undefined
  return {
    add: (part) => {
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
    size: () => size,
    bytes: () => exact ??= size === buffer.length ? buffer.buffer : buffer.buffer.slice(0, size)
  }
}
