/** Gzip (RFC 1952) without compression, so that it needs neither a library nor a promise. */

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

const crc32 = (bytes: Uint8Array) => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

const little = (value: number, width: number) =>
  Array.from({ length: width }, (_, index) => (value >>> (8 * index)) & 0xff)

/** Largest size of a stored block in deflate. */
const block = 0xffff

/** A valid gzip file of the bytes, in stored blocks. */
export const gzipStored = (bytes: Uint8Array): Uint8Array => {
  const parts: Array<ArrayLike<number>> = [[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]]
  for (let from = 0; from === 0 || from < bytes.length; from += block) {
    const stored = bytes.subarray(from, from + block)
    const last = from + block >= bytes.length ? 1 : 0
    parts.push([last, ...little(stored.length, 2), ...little(~stored.length & 0xffff, 2)], stored)
  }
  parts.push([...little(crc32(bytes), 4), ...little(bytes.length, 4)])
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}
