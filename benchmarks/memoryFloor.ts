/** A million punches through raw undici: the memory of the engine and the transport alone. */
import { floorName, raw } from "./floor.ts"
import { report } from "./memory.ts"

await report(floorName, (url) => raw(url))
