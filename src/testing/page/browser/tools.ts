/** What the parts of the script share: elements of the page, what it says, and requests to the sandbox. */

export interface Tools extends ReturnType<typeof makeTools> {}

/** Values become text nodes, never markup. `hidden` matches the characters of them that cannot be seen. */
export const makeTools = (hidden: RegExp) => {
  const find = <E extends HTMLElement>(id: string, kind: { new(): E }): E => {
    const element = document.getElementById(id)
    if (!(element instanceof kind)) throw new Error(`the page has no ${id}`)
    return element
  }

  const codeOf = (char: string) => {
    const code = char.codePointAt(0) ?? 0
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
  }
  const visible = (text: string) =>
    text.replace(hidden, (char, found: string | undefined) => found === undefined ? char : codeOf(char))

  const make = (tag: string, text: string, className = "") => {
    const element = document.createElement(tag)
    element.textContent = visible(text)
    if (className !== "") element.className = className
    return element
  }

  const row = (cells: ReadonlyArray<Node>) => {
    const made = document.createElement("tr")
    made.append(...cells)
    return made
  }

  const say = (id: string, text: string, isBad = false) => {
    const line = find(id, HTMLElement)
    line.textContent = visible(text)
    line.className = isBad ? "bad" : "muted"
  }

  const onClick = (id: string, act: () => unknown) => find(id, HTMLButtonElement).addEventListener("click", act)

  /** The reason for which the sandbox refuses a request; `undefined` if it does not. */
  const send = async (method: string, path: string, body: string) => {
    try {
      const answer = await fetch(path, { method, body, headers: { "content-type": "application/json" } })
      return answer.ok ? undefined : await answer.text()
    } catch {
      return "The service does not answer."
    }
  }

  return { find, make, row, say, onClick, send }
}
