/** A fleet over PostgreSQL: its turns beside a plain loop of `Sync.run`, several runners, idle and steady load, takeover. */
import { type FleetFigures, fleetTable, fleetTargets, isMeasured } from "../fleet.ts"
import { called } from "../measure.ts"
import type { Section } from "../report.ts"

export const fleet = (): Section => {
  const figures = called<FleetFigures | Record<string, never>>("fleet.ts", "fleet", { rounds: 2 })
  return isMeasured(figures)
    ? { name: "fleet", text: fleetTable(figures), targets: fleetTargets(figures) }
    : { name: "fleet", text: "PostgreSQL was not there.", targets: [] }
}
