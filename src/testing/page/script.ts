/** What the page does in the browser: it shows the log, sends faults, reads the punches and corrects them. */
import type { Logged, ShownFault } from "./log.ts"

/** What `/sandbox/companies/ID` answers. */
export interface ShownCompany {
  readonly id: number
  readonly accessToken: string
  /** Lines for a shell that set the variables of a client. */
  readonly environment: string
}

interface ShownPunch {
  readonly id: number
  readonly user_id: number
  readonly location_id: number
  readonly clocked_in: string
  readonly clocked_out: string | null
  readonly hourly_wage: number
  readonly tips: number
  readonly approved: boolean
  readonly notes: string
  readonly modified: string | null
  readonly deleted?: boolean
}

interface ShownPage {
  readonly data: ReadonlyArray<ShownPunch>
  readonly meta: { readonly cursor: { readonly prev: string | null; readonly next: string | null } }
}

/**
 * Runs in the browser, which gets its text: it must not use what stands outside of it. Values become text nodes, never markup,
 * and `hidden` matches the characters of them that cannot be seen.
 */
const run = (hidden: RegExp): void => {
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

  const messageOf = (error: unknown) =>
    error instanceof DOMException && error.name === "TimeoutError"
      ? "no answer within 10 seconds"
      : "the connection failed before the answer was complete"

  // The log.

  const log = find("log", HTMLTableSectionElement)
  const rowsOfLog = 200
  let seen = -1
  let waiting: Array<Logged> = []

  const timeOf = (at: number) => new Date(at).toISOString().slice(11, 23)

  const logRow = (entry: Logged) => {
    const query = entry.query.map(([name, value]) => `${name}=${value}`).join(" ")
    const request = make("td", `${entry.method} ${entry.path}${query === "" ? "" : ` ${query}`}`, "mono")
    if (entry.isOwn) request.append(make("span", " from this page", "muted"))
    return row([
      make("td", timeOf(entry.at), "mono"),
      request,
      make("td", entry.answer, entry.isGood ? "good" : "bad"),
      make("td", `${entry.took}`, "number")
    ])
  }

  // A client may send thousands a second: they are drawn together, once in a while.
  const draw = () => {
    const entries = waiting.slice(-rowsOfLog)
    const missed = (entries[0]?.index ?? seen + 1) - seen - 1
    if (missed > 0 && seen >= 0) {
      const gap = make("td", missed === 1 ? "1 request is not shown" : `${missed} requests are not shown`, "muted")
      gap.setAttribute("colspan", "4")
      log.prepend(row([gap]))
    }
    for (const entry of entries) log.prepend(logRow(entry))
    seen = entries.at(-1)?.index ?? seen
    waiting = []
    while (log.rows.length > rowsOfLog) log.deleteRow(-1)
    say("requests", seen < 0 ? "No request yet." : `${seen + 1} ${seen === 0 ? "request" : "requests"} so far.`)
  }

  const events = new EventSource("/sandbox/log")
  events.addEventListener("request", ({ data }) => {
    const entry: Logged = JSON.parse(String(data))
    if (entry.index <= (waiting.at(-1)?.index ?? seen)) return
    if (waiting.length === 0) setTimeout(draw, 100)
    waiting.push(entry)
  })
  events.addEventListener("faults", ({ data }) => {
    const faults: ReadonlyArray<ShownFault> = JSON.parse(String(data))
    find("active", HTMLUListElement).replaceChildren(
      ...faults.map(({ left, text }) =>
        make("li", `${text}: ${left === null ? "until cleared" : left === 1 ? "once" : `${left} times`}`)
      )
    )
    find("clear", HTMLButtonElement).disabled = faults.length === 0
  })
  events.addEventListener("error", () => say("requests", "The service does not answer; trying again.", true))
  events.addEventListener("open", () => draw())

  // Faults.

  const send = async (method: string, path: string, body: string) => {
    try {
      const answer = await fetch(path, { method, body, headers: { "content-type": "application/json" } })
      return answer.ok ? undefined : await answer.text()
    } catch {
      return "The service does not answer."
    }
  }

  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-fault]")) {
    button.addEventListener("click", async () => {
      const { choice, fault } = button.dataset
      const times = find("times", HTMLSelectElement).value
      const target = find("target", HTMLSelectElement).value
      const refused = await send(
        "POST",
        "/sandbox/faults",
        JSON.stringify({
          name: fault,
          choice: Number(choice),
          times,
          target
        })
      )
      say("pressed", refused ?? `Injected: ${button.ariaLabel ?? button.textContent}.`, refused !== undefined)
    })
  }
  find("clear", HTMLButtonElement).addEventListener("click", async () => {
    const refused = await send("DELETE", "/sandbox/faults", "")
    say("pressed", refused ?? "No fault is left.", refused !== undefined)
  })

  // The punches.

  const { base = "" } = find("punches", HTMLElement).dataset
  const body = find("rows", HTMLTableSectionElement)
  let company: ShownCompany | undefined
  let cursors: ShownPage["meta"]["cursor"] = { prev: null, next: null }
  let shown: string | null = null

  const punchRow = (punch: ShownPunch) => {
    const correct = make("button", "Correct")
    correct.setAttribute("aria-label", `Correct punch ${punch.id}`)
    correct.addEventListener("click", () => open(punch))
    const action = document.createElement("td")
    action.append(correct)
    const state = punch.deleted === true ? "deleted" : punch.approved ? "approved" : "not approved"
    return row([
      action,
      make("td", `${punch.id}`, "number"),
      make("td", `${punch.user_id}`, "number"),
      make("td", `${punch.location_id}`, "number"),
      make("td", punch.clocked_in, "when"),
      make("td", punch.clocked_out ?? "still clocked in", "when"),
      make("td", (punch.hourly_wage / 100).toFixed(2), "number"),
      make("td", (punch.tips / 100).toFixed(2), "number"),
      make("td", state, punch.deleted === true ? "bad" : ""),
      make("td", punch.notes, "notes"),
      make("td", punch.modified ?? "", "when")
    ])
  }

  const load = async (cursor: string | null) => {
    if (company === undefined) return
    shown = cursor
    say("page", "Loading …")
    const deleted = find("deleted", HTMLInputElement).checked ? "&deleted=null" : ""
    const at = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`
    try {
      const answer = await fetch(`${base}/v2/company/${company.id}/time_punches?limit=20${deleted}${at}`, {
        headers: { authorization: `Bearer ${company.accessToken}` },
        signal: AbortSignal.timeout(10_000)
      })
      const text = await answer.text()
      if (!answer.ok) {
        say("page", `The service answers ${answer.status}: ${text.slice(0, 300)}`, true)
        return
      }
      const page: ShownPage = JSON.parse(text)
      const rows = page.data.map(punchRow)
      cursors = page.meta.cursor
      body.replaceChildren(...rows)
      find("previous", HTMLButtonElement).disabled = cursors.prev === null
      find("next", HTMLButtonElement).disabled = cursors.next === null
      say("page", `${rows.length} ${rows.length === 1 ? "punch" : "punches"} on this page.`)
    } catch (error) {
      const isText = error instanceof SyntaxError || error instanceof TypeError && error.message !== "Failed to fetch"
      say("page", isText ? "The answer is not a page of punches." : `The page is not here: ${messageOf(error)}.`, true)
    }
  }

  find("first", HTMLButtonElement).addEventListener("click", () => load(null))
  find("previous", HTMLButtonElement).addEventListener("click", () => load(cursors.prev))
  find("next", HTMLButtonElement).addEventListener("click", () => load(cursors.next))
  find("deleted", HTMLInputElement).addEventListener("change", () => load(null))

  // The company, and how a client connects to it.

  const choose = async (id: string) => {
    const answer = await fetch(`/sandbox/companies/${encodeURIComponent(id)}`).catch(() => undefined)
    if (answer?.ok !== true) {
      say("copied", answer === undefined ? "The service does not answer." : await answer.text(), true)
      return
    }
    const chosen: ShownCompany = await answer.json()
    company = chosen
    find("environment", HTMLElement).textContent = chosen.environment
    say("copied", "")
    await load(null)
  }

  find("choose", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault()
    void choose(find("company", HTMLInputElement).value)
  })
  find("copy", HTMLButtonElement).addEventListener("click", async () => {
    const text = find("environment", HTMLElement).textContent ?? ""
    try {
      await navigator.clipboard.writeText(text)
      say("copied", "Copied.")
    } catch {
      say("copied", "The browser does not allow it: select the lines and copy them.", true)
    }
  })

  // The form of a correction.

  const dialog = find("dialog", HTMLDialogElement)
  const form = find("correction", HTMLFormElement)
  const text = (name: string) => find(`new-${name}`, HTMLInputElement)
  const notes = find("new-notes", HTMLTextAreaElement)
  let corrected: ShownPunch | undefined
  let opened = ""

  const open = (punch: ShownPunch) => {
    corrected = punch
    find("title", HTMLElement).textContent = `Correct punch ${punch.id}`
    text("clocked_in").value = punch.clocked_in
    text("clocked_out").value = punch.clocked_out ?? ""
    text("hourly_wage").value = `${punch.hourly_wage}`
    text("tips").value = `${punch.tips}`
    notes.value = punch.notes
    opened = notes.value
    text("approved").checked = punch.approved
    text("deleted").checked = punch.deleted === true
    find("new-status", HTMLSelectElement).value = ""
    say("refused", "")
    dialog.showModal()
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    if (corrected === undefined) return
    const status = find("new-status", HTMLSelectElement).value
    const cents = (name: string) => /^-?\d+$/.test(text(name).value) ? Number(text(name).value) : text(name).value
    const after: Readonly<Record<string, unknown>> = {
      clocked_in: text("clocked_in").value,
      clocked_out: text("clocked_out").value === "" ? null : text("clocked_out").value,
      hourly_wage: cents("hourly_wage"),
      tips: cents("tips"),
      // The field has its own line ends: notes that were not touched must stay as they are.
      notes: notes.value === opened ? corrected.notes : notes.value,
      approved: text("approved").checked,
      deleted: text("deleted").checked,
      ...(status !== "" && { employee_approval_status: status })
    }
    const before: Readonly<Record<string, unknown>> = { deleted: false, ...corrected }
    const changes = Object.entries(after).filter(([name, value]) => value !== before[name])
    const refused = changes.length === 0
      ? undefined
      : await send("PATCH", `/sandbox/time_punches/${corrected.id}`, JSON.stringify(Object.fromEntries(changes)))
    if (refused !== undefined) {
      say("refused", refused, true)
      return
    }
    dialog.close()
    await load(shown)
  })
  find("cancel", HTMLButtonElement).addEventListener("click", () => dialog.close())

  void choose(find("company", HTMLInputElement).value)
}

/** The text of the script. `hidden` is the source of the pattern of hidden characters. */
export const scriptText = (hidden: string): string =>
  `"use strict";\n(${run.toString()})(new RegExp(${JSON.stringify(hidden)}, "gu"))\n`
