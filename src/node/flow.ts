/** The two sides of a body on its way: the receiver of what arrives, and the source that can be paused. */

/** Takes a body as it arrives. After `end` or `fail` it takes nothing more. */
export interface Receiver {
  readonly push: (part: Uint8Array) => void
  readonly end: () => void
  readonly fail: (cause: unknown) => void
}

/** Controls the sender of a body. `abort` closes the connection, unless the response is complete. */
export interface Source {
  readonly pause: () => void
  readonly resume: () => void
  readonly abort: (cause: Error) => void
}

/** An error with a platform code, which `TransportError` reports. */
export const codedError = (code: string, message: string): Error => Object.assign(new Error(message), { code })
