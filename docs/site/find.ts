/** The search in a browser. It fills the dialog of TypeDoc, whose script opens it and moves in its list with the keyboard. */
import type { Entry } from "./search.ts"

/** Its text is sent to the browser, so that it uses nothing from outside of itself. */
export const browse = (entries: ReadonlyArray<Entry>): void => {
  const most = 30

  /** A whole word counts more than its beginning, and this more than a part of it. One and several are the same. */
  const patternOf = (word: string) => {
    const literal = word.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
      .replace(/(?:y|ies)$/i, "(?:y|ies)").replace(/(?<=\w{3})s?$/i, "s?")
    return {
      part: new RegExp(literal, "iu"),
      start: new RegExp(`(?<![\\p{L}\\d])${literal}`, "iu"),
      whole: new RegExp(`(?<![\\p{L}\\d])${literal}(?![\\p{L}\\d-])`, "iu")
    }
  }
  type Pattern = ReturnType<typeof patternOf>
  const within = (text: string, { part, start, whole }: Pattern): number =>
    !part.test(text) ? 0 : whole.test(text) ? 1 : start.test(text) ? 0.6 : 0.3

  /** Titles count more than text; 0 if a word is nowhere. */
  const scoreOf = ({ parent, text, title, weight }: Entry, words: ReadonlyArray<Pattern>, all: Pattern): number => {
    let score = 0
    for (const word of words) {
      const found = 10 * within(title, word) + 2 * within(parent, word) + within(text, word)
      if (found === 0) return 0
      score += found / words.length
    }
    const exact = all.whole.exec(title)
    const isTitle = exact !== null && exact.index + exact[0].length === title.length
    return weight *
      (score + (isTitle ? exact.index === 0 ? 50 : 10 : 0) + 10 * within(title, all) + 6 * within(text, all))
  }

  const element = (tag: string, className: string, ...children: ReadonlyArray<Node | string>): HTMLElement => {
    const made = document.createElement(tag)
    made.className = className
    made.append(...children)
    return made
  }

  const start = (): void => {
    const input = document.querySelector<HTMLInputElement>("#tsd-search-input")
    const list = document.querySelector("#tsd-search-results")
    const status = document.querySelector("#tsd-search-status")
    if (input === null || list === null || status === null) return

    const show = (): void => {
      const query = input.value.trim().replaceAll(/\s+/g, " ")
      const all = patternOf(query)
      const words = query.split(" ").map(patternOf)
      const found = query === "" ? [] : entries.map((entry) => ({ ...entry, score: scoreOf(entry, words, all) }))
        .filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score).slice(0, most)
      const any = new RegExp(`(${[all, ...words].map(({ part }) => part.source).join("|")})`, "iu")
      const marked = (text: string) =>
        text.split(any).map((piece, at) => at % 2 === 1 ? element("mark", "", piece) : piece)
      const excerpt = (text: string): string => {
        const at = text.search(all.part)
        const from = Math.max(0, text.lastIndexOf(" ", (at < 0 ? text.search(any) : at) - 50) + 1)
        const end = text.length < from + 160 ? text.length : text.lastIndexOf(" ", from + 160)
        return (from > 0 ? "… " : "") + text.slice(from, end) + (end < text.length ? " …" : "")
      }
      list.replaceChildren(...found.map(({ parent, text, title, url }, at) => {
        const place = parent === "" ? [] : [element("span", "parent", `${parent} › `)]
        const link = document.createElement("a")
        link.append(...place, ...marked(title), element("small", "", ...marked(excerpt(text))))
        link.href = `${document.documentElement.dataset["base"]?.replace(/\/?$/, "/") ?? ""}${url}`
        link.id = `found-${at}`
        link.role = "option"
        link.ariaSelected = "false"
        link.tabIndex = -1
        return link
      }))
      status.replaceChildren(
        ...(query !== "" && found.length === 0 ? [element("div", "", `No results for “${query}”`)] : [])
      )
    }
    input.addEventListener("input", show)
    input.addEventListener("keydown", ({ key }) => {
      const chosen = list.querySelector<HTMLElement>("[aria-selected=true]") ?? list.querySelector("a")
      if (key === "Enter") chosen?.click()
    })
    show()
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start)
  else start()
}
