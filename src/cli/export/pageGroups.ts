/**
 * Gathers pages in memory and writes them in groups: a write waits for the disk, which takes longer than a page.
 *
 * A page is in memory for about a second, or for as long as the disk takes to write the group before it. Once the
 * pages in memory reach `maxBytes`, the listing waits.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"

/** From the first page of a group until it is written. */
const interval = "1 second"

/** The listing waits while as many bytes are not yet written; one page may exceed it. */
export const maxBytes = 8 * 1024 * 1024

export interface PageGroups<P, E> {
  /** Adds a page. Waits while the pages in memory are too large, the page itself among them. */
  readonly add: (page: P) => Effect.Effect<void>
  /** Writes the pages in memory. They are kept until they are written, so that no later page can take their place. */
  readonly flush: Effect.Effect<void, E>
  /**
   * Runs `source`, which adds pages, and writes them. Ends when all are written; a failure of `source` only shows then.
   * If a write fails or this is interrupted, `source` is interrupted, and pages may still be in memory.
   */
  readonly run: <E2, R>(source: Effect.Effect<void, E2, R>) => Effect.Effect<void, E | E2, R>
}

/** `write` must write all pages of a group or none, and is not interrupted. It never runs twice at once. */
export const makePageGroups = <P extends { readonly bytes: Uint8Array }, E>(
  write: (group: ReadonlyArray<P>) => Effect.Effect<void, E>
): PageGroups<P, E> => {
  // Oldest first. The pages that are being written are among them.
  const pages: Array<P> = []
  let bytes = 0
  let isEnded = false
  const arrived = Latch.makeUnsafe(false)
  const due = Latch.makeUnsafe(false)
  const room = Latch.makeUnsafe(true)

  const isDone = () => isEnded && pages.length === 0

  /** Tells the writer and the listing what the pages in memory mean for them. */
  const update = () => {
    const isFull = bytes >= maxBytes
    const set = (latch: Latch.Latch, isOpen: boolean) => isOpen ? latch.openUnsafe() : latch.closeUnsafe()
    set(arrived, isEnded || pages.length > 0)
    set(due, isEnded || isFull)
    set(room, !isFull)
  }

  const flush = Effect.suspend(() => {
    const group = [...pages]
    if (group.length === 0) return Effect.void
    return Effect.map(write(group), () => {
      pages.splice(0, group.length)
      bytes -= sizeOf(group)
      update()
    })
  }).pipe(Effect.uninterruptible)

  const writeUntilEnded = Effect.gen(function*() {
    while (!isDone()) {
      yield* arrived.await
      yield* Effect.timeoutOption(due.await, interval)
      yield* flush
    }
  })

  return {
    add: (page) =>
      Effect.suspend(() => {
        pages.push(page)
        bytes += page.bytes.length
        update()
        return room.await
      }),
    flush,
    run: Effect.fnUntraced(function*(source) {
      const end = Effect.sync(() => {
        isEnded = true
        update()
      })
      const listing = yield* Effect.forkChild(Effect.ensuring(source, end))
      yield* Effect.onError(writeUntilEnded, () => Fiber.interrupt(listing))
      yield* Fiber.join(listing)
    })
  }
}

const sizeOf = (group: ReadonlyArray<{ readonly bytes: Uint8Array }>): number =>
  group.reduce((size, { bytes }) => size + bytes.length, 0)
