/** Why a fleet cannot be operated or run. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { MigrationError } from "effect/sql/Migrator"
import { isSqlError } from "effect/sql/SqlError"
import type { SqlError } from "effect/sql/SqlError"
import { discreet, isTransient, messageOf } from "../internal/sql/failure.ts"
import type { OtherSchema } from "../internal/sql/migrate.ts"
import { printable } from "../internal/text/printable.ts"

/** A fleet cannot be operated or run. */
export class FleetError extends Schema.TaggedError<FleetError>("effect-time-punches/fleet/FleetError")("FleetError", {
  /**
   * Why.
   *
   * - `NotMigrated`: the tables are missing or older than this release needs: run `FleetRunner.migrate`. Tables of a time before
   *   the first publication stay as they are.
   * - `InvalidInput`: an argument or a setting is invalid. Nothing was changed.
   * - `AlreadyRunning`: another process runs under this name, or with this file.
   * - `Store`: the database failed; `cause` says how.
   */
  reason: Schema.Literals(["NotMigrated", "InvalidInput", "AlreadyRunning", "Store"]),
  /** What happened, without secrets. */
  detail: Schema.String,
  /** The error of the database, without what it quotes of rows. Absent: there is none. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  /** What is wrong, on one printable line for a log. */
  override get message(): string {
    return `${sentences[this.reason]}: ${printable(this.detail)}`
  }

  /**
   * Whether the same call may succeed later with nothing changed. `Store`: if the database was not reachable, locked or
   * without resources. `NotMigrated`, `InvalidInput` and `AlreadyRunning`: no.
   */
  get isRetryable(): boolean {
    return this.reason === "Store" && isSqlError(this.cause) && isTransient(this.cause)
  }
}

const sentences = {
  NotMigrated: "the tables of the fleet are not those of this release",
  InvalidInput: "the fleet refuses this",
  AlreadyRunning: "this part of the fleet is running already",
  Store: "the database of the fleet failed"
} as const

/** Whether a value is an error of a fleet, such as what untyped code caught. */
export const isFleetError: (value: unknown) => value is FleetError = Schema.is(FleetError)

/** An argument or a setting is invalid. @internal */
export const invalidInput = (detail: string): FleetError => new FleetError({ reason: "InvalidInput", detail })

type StoreFailure = SqlError | MigrationError | OtherSchema | FleetError

/** Translates an error of the database or of its migrations. @internal */
export const storeError = (what: string) => (error: StoreFailure): FleetError =>
  isSqlError(error)
    ? new FleetError({ reason: "Store", detail: `${what}: ${messageOf(error)}`, cause: discreet(error) })
    : error._tag === "MigrationError"
    ? new FleetError({ reason: "Store", detail: error.message })
    : error._tag === "OtherSchema"
    ? new FleetError({
      reason: "NotMigrated",
      detail: error.detail("run FleetRunner.migrate, or time-punches fleet migrate")
    })
    : error

/** The effect with those errors translated. @internal */
export const translated = (what: string) => <A, R>(self: Effect.Effect<A, StoreFailure, R>) =>
  Effect.mapError(self, storeError(what))
