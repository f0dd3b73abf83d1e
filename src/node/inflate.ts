/** Decompression of a body while it arrives, no faster than it is read. */
import type { Transform } from "node:stream"
import { createBrotliDecompress, createGunzip } from "node:zlib"
import type { Body } from "./body.ts"
import type { Receiver, Source } from "./flow.ts"

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
