/** What the loop of the claims does next. Pure. */

import type { Trouble } from "../store/keeping.ts"

/** How long a runner with nothing in work waits between two looks for a probe, in milliseconds. */
const probeEvery = 5000

export const decideTick = (at: {
  readonly isClosing: boolean
  readonly isAlone: boolean
  readonly isDraining: boolean
  readonly inWork: number
  readonly mostInWork: number
  /** Milliseconds since the last probe; 0 if no pause holds that one may end. */
  readonly sinceProbe: number
  /** The trouble of the process, if any: refused it claims nothing, and sick one company at a time, so that it fails few. */
  readonly trouble: Trouble["kind"] | undefined
}): { readonly suspect: boolean; readonly probe: boolean; readonly room: number } => {
  const isIdle = at.inWork === 0
  if (at.isClosing || at.isAlone || at.trouble === "refused") return { suspect: false, probe: false, room: 0 }
  if (at.isDraining) return { suspect: isIdle, probe: false, room: 0 }
  if (at.trouble === "sick") return { suspect: false, probe: false, room: isIdle ? 1 : 0 }
  return { suspect: false, probe: isIdle && at.sinceProbe >= probeEvery, room: Math.max(0, at.mostInWork - at.inWork) }
}
