/** START HERE. Foreign text made printable; beside it, the name that a mistyped one was meant to be. */
const maxLength = 500

/** Scripts in which a joiner changes the form of a letter; in any other script it is invisible. */
const joining = ["Arab", "Syrc", "Mong", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh"]
  .map((script) => `\\p{sc=${script}}`).join("")

const pictograph = "\\p{ExtPict}\\p{EMod}"

/** What can be seen although its code is of the invisible ones: joiners within a word or an emoji, variants of a sign. */
const visible =
  `(?<=[${joining}])[\\u200c\\u200d](?=[${joining}])|(?<=[${pictograph}]\\ufe0f?)\\u200d(?=[${pictograph}])|` +
  `(?<=[${pictograph}\\d#*\\p{sc=Han}\\p{sc=Mong}])\\p{VS}`

/** Matches what is hidden as its first group, and before it what can be seen although its code is of the same kind. */
export const unprintable = new RegExp(`${visible}|([\\p{Cc}\\u2028\\u2029\\ufff9-\\ufffb\\p{DI}])`, "gu")

/**
 * Escapes characters that start a line, control a terminal, change the direction of text, or cannot be seen, so that two
 * texts that differ look different; cuts long text.
 */
export const printable = (text: string): string =>
  escaped(text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : text)

/** The same, without a cut. */
export const escaped = (text: string): string => escapedBy(unprintable)(text)

/** The same by another pattern of what is hidden. */
export const escapedBy = (pattern: RegExp) => (text: string): string =>
  text.replace(pattern, (char, hidden: string | undefined) => hidden === undefined ? char : codeOf(char))

/** What JSON and CSV leave as it is, and a terminal obeys: the controls of C1, and what ends a line or changes the direction of text. */
export const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same for a text whose lines stay lines. */
export const escapedLines = (text: string): string => text.split("\n").map(escaped).join("\n")

const codeOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
}
