/** For code that has promises and `for await`, and no Effect: the client behind three plain functions. */
import { type Layer, ManagedRuntime, Stream } from "effect"
import { type Company, type CompanyId, type PunchFilter, type TimePunch, TimePunches } from "effect-time-punches"

/** Made once: the layer is built at the first call and closed by `close`. */
export const makeClient = <E>(app: Layer.Layer<TimePunches, E>) => {
  const runtime = ManagedRuntime.make(app)
  return {
    /** Rejects with the tagged error itself. Aborting the signal aborts the request in flight. */
    count: (company: CompanyId | Company, filter?: PunchFilter, signal?: AbortSignal): Promise<number> =>
      runtime.runPromise(Stream.runCount(TimePunches.list(company, filter)), signal === undefined ? {} : { signal }),

    /** A page is asked for when the loop comes to it; leaving the loop ends the run. */
    punches: async function*(company: CompanyId | Company, filter?: PunchFilter): AsyncGenerator<TimePunch> {
      yield* Stream.toAsyncIterableWith(TimePunches.list(company, filter), await runtime.context())
    },

    close: (): Promise<void> => runtime.dispose()
  }
}
