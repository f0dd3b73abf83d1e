/** Why a fleet cannot be operated or run. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { MigrationError } from "effect/sql/Migrator"
import { isSqlError } from "effect/sql/SqlError"
import type { SqlError } from "effect/sql/SqlError"
import { discreet, messageOf } from "../internal/sql/failure.ts"
import type { OtherSchema } from "../internal/sql/migrate.ts"
import { printable } from "../internal/text/printable.ts"
import * as Reason from "./FleetReason.ts"

/** A fleet cannot be operated or run. An argument or a setting that is invalid is an `InvalidRequest` instead. */
export class FleetError extends Schema.TaggedError<FleetError>("effect-time-punches/fleet/FleetError")("FleetError", {
  /** Why. */
  reason: Reason.Reason
}) {
  /** The reason, for what prints a chain of causes. */
  override readonly cause = this.reason

  /** What is wrong, on one printable line for a log. */
  override get message(): string {
    return `${sentences[this.reason._tag]}: ${printable(this.reason.message)}`
  }

  /**
   * Whether the same call may succeed later with nothing changed. `Store`: if the database was not reachable, locked or
   * without resources. `NotMigrated` and `AlreadyRunning`: no.
   */
  get isRetryable(): boolean {
    return this.reason.isRetryable
  }
}

const sentences = {
  NotMigrated: "the tables of the fleet are not those of this release",
  AlreadyRunning: "this part of the fleet is running already",
  Store: "the database of the fleet failed"
} as const

/** Whether a value is an error of a fleet, such as what untyped code caught. */
export const isFleetError: (value: unknown) => value is FleetError = Schema.is(FleetError)

/** Another process runs this part of the fleet. @internal */
export const alreadyRunning = (detail: string): FleetError =>
  new FleetError({ reason: new Reason.AlreadyRunning({ detail }) })

/** The database failed. @internal */
export const databaseFailed = (detail: string, cause?: unknown): FleetError =>
  new FleetError({ reason: new Reason.Store({ detail, ...(cause === undefined ? {} : { cause }) }) })

type StoreFailure = SqlError | MigrationError | OtherSchema | FleetError

/** Translates an error of the database or of its migrations. @internal */
export const storeError = (what: string) => (error: StoreFailure): FleetError =>
  isSqlError(error)
    ? databaseFailed(`${what}: ${messageOf(error)}`, discreet(error))
    : error._tag === "MigrationError"
    ? databaseFailed(error.message)
    : error._tag === "OtherSchema"
    ? new FleetError({
      reason: new Reason.NotMigrated({
        detail: error.detail("run FleetRunner.migrate, or time-punches fleet migrate")
      })
    })
    : error

/** The effect with those errors translated. @internal */
export const translated = (what: string) => <A, R>(self: Effect.Effect<A, StoreFailure, R>) =>
  Effect.mapError(self, storeError(what))
