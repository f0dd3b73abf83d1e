/** A fleet over PostgreSQL: its turns beside a plain loop of `Sync.run`, several runners, idle load and takeover. */
import { type FleetFigures, fleetTable, isMeasured } from "../fleet.ts"
import { called } from "../measure.ts"
import { atMost, type Section } from "../report.ts"

export const fleet = (): Section => {
  const figures = called<FleetFigures | Record<string, never>>("fleet.ts", "fleet", { rounds: 3 })
  if (!isMeasured(figures)) return { name: "fleet", text: "PostgreSQL was not there.", targets: [] }
  const { added, idle, runners, takeover } = figures
  return {
    name: "fleet",
    text: fleetTable(figures),
    targets: [
      atMost("turns of a fleet, cpu × a plain loop of `Sync.run`", 1.15, runners[0]?.cpu ?? NaN),
      atMost("10 000 companies added to a fleet, s", 1, added),
      atMost("idle fleet, transactions a second for each runner", 4, Math.max(...idle.map(({ each }) => each)), {
        digits: 1
      }),
      atMost("takeover after kill -9, the last company, s", 12, takeover.last, { digits: 1 })
    ]
  }
}
