/** A function with a budget of time: a call reads what it can, and the next one continues at the cursor, without loss or repeat. */
import { LimitReached, type TimePunch, type TimePunchesClient } from "effect-time-punches/promise"

/** Where to keep `next`, until it is `undefined`, is yours: with the rows, so that both are written or neither. */
export const readWithin = async (
  client: TimePunchesClient,
  milliseconds: number,
  write: (punches: ReadonlyArray<TimePunch>, next: string | undefined) => Promise<void>,
  cursor?: string
): Promise<"complete" | "continue"> => {
  try {
    for await (const page of client.pages({}, { cursor, deadline: milliseconds })) {
      await write(page.items, page.cursor.next)
    }
    return "complete"
  } catch (error) {
    if (error instanceof LimitReached) return "continue"
    throw error
  }
}
