/** A million punches through raw undici: what the engine and the transport take by themselves. */
import { floorName, raw } from "./floor.ts"
import { report } from "./memory.ts"

await report(floorName, (url) => raw(url))
