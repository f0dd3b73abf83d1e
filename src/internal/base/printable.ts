/** Text of foreign origin, made safe for one line of a log. */

const maxLength = 500

/** Escapes characters that start a line, control a terminal or change the direction of text; cuts long text. */
export const printable = (text: string): string => {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : text
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
}
