/** Quotes foreign text as one word of a shell that is safe to print and to paste. */

/** What a terminal does not show as it is: controls, invisible and unassigned characters, blanks but the space. */
const unprintable = /[\p{C}\p{Z}]/u

const isPlain = (char: string): boolean => char === " " || !unprintable.test(char)

/**
 * One word of a shell for a text without NUL: `'…'`, or `$'…'` (bash, zsh and ksh) where characters have to be escaped.
 * These are written as the bytes of their UTF-8, since `\u` depends on the locale.
 */
export const shellWord = (text: string): string => {
  const characters = Array.from(text)
  if (characters.every(isPlain)) return `'${text.replaceAll("'", "'\\''")}'`
  return `$'${characters.map((char) => isPlain(char) && !/['"\\!]/.test(char) ? char : bytesOf(char)).join("")}'`
}

const encoder = new TextEncoder()

const bytesOf = (char: string): string =>
  Array.from(encoder.encode(char), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
