/** What each test draws by chance is the same in every run: the seeds of properties, and jitter. `RANDOM_SEED` draws others. */
import { beforeEach } from "vitest"
import { prng } from "../../src/testing/base/prng.ts"

beforeEach(() => {
  Math.random = prng(Number(process.env["RANDOM_SEED"] ?? 1)).next
})
