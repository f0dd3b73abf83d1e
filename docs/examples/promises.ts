/** The client behind three plain functions, for code that uses promises and `for await` instead of Effect. */
import { type Layer, ManagedRuntime, Schema, Stream } from "effect"
import { type Company, type CompanyId, type PunchFilter, TimePunch, TimePunches } from "effect-time-punches"

/** Make it once: the first call builds the layer, `close` releases it. */
export const makeClient = <E>(app: Layer.Layer<TimePunches, E>) => {
  const runtime = ManagedRuntime.make(app)
  return {
    /** Rejects with the tagged error itself. Aborting the signal aborts the request in flight. */
    count: (company: CompanyId | Company, filter?: PunchFilter, signal?: AbortSignal): Promise<number> =>
      runtime.runPromise(Stream.runCount(TimePunches.list(company, filter)), signal === undefined ? {} : { signal }),

    /** Requests a page when the loop reaches it. Leaving the loop ends the run. */
    punches: async function*(company: CompanyId | Company, filter?: PunchFilter): AsyncGenerator<TimePunch> {
      yield* Stream.toAsyncIterableWith(TimePunches.list(company, filter), await runtime.context())
    },

    close: (): Promise<void> => runtime.dispose()
  }
}

/** A punch as plain JSON in the names of the service: `JSON.stringify` of the punch itself prints its `Option`s as objects. */
export const toJson = Schema.encodeSync(TimePunch.Wire)

/** A response body, a line for each punch, written as the pages arrive. */
export const lines = async function*(punches: AsyncIterable<TimePunch>): AsyncGenerator<string> {
  for await (const punch of punches) yield `${JSON.stringify(toJson(punch))}\n`
}

/** A provider of a framework that makes instances of classes and closes them: one instance for the process. */
export class PunchProvider {
  readonly #client: ReturnType<typeof makeClient>

  constructor(app: Layer.Layer<TimePunches, unknown>) {
    this.#client = makeClient(app)
  }

  /** How many punches of the company match. */
  count(company: CompanyId, filter?: PunchFilter): Promise<number> {
    return this.#client.count(company, filter)
  }

  /** Called by the framework at its shutdown, as NestJS does. */
  onModuleDestroy(): Promise<void> {
    return this.#client.close()
  }
}
