/** Text of foreign origin, made fit for one line of a log. */

const longest = 500

/** Escapes what could start a new line or steer a terminal, and cuts what is very long. */
export const printable = (text: string): string => {
  const cut = text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : text
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
}
