/** The generator of the testing subpath under the names that older tests use. */
export { type Prng as Random, prng as random } from "../../src/testing/base/prng.ts"
