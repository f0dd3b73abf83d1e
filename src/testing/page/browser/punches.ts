/** The table of punches in the browser. It lists them as a client does, so that faults strike it too. */
import type { ShownCompany } from "./client.ts"
import type { ShownPunch } from "./correction.ts"
import type { Tools } from "./tools.ts"

interface ShownPage {
  readonly data: ReadonlyArray<ShownPunch>
  readonly meta: { readonly cursor: { readonly prev: string | null; readonly next: string | null } }
}

/** Turns the pages. The function that it returns shows the first page of a company. */
export const showPunches = (
  { find, make, onClick, row, say }: Tools,
  correct: (punch: ShownPunch, reload: () => Promise<void>) => void
): (company: ShownCompany) => Promise<void> => {
  const { base = "" } = find("punches", HTMLElement).dataset
  let company: ShownCompany | undefined
  let cursors: ShownPage["meta"]["cursor"] = { prev: null, next: null }

  const punchRow = (punch: ShownPunch, reload: () => Promise<void>) => {
    const button = make("button", "Correct")
    button.setAttribute("aria-label", `Correct punch ${punch.id}`)
    button.addEventListener("click", () => correct(punch, reload))
    const action = make("td", "")
    action.append(button)
    const notes = make("td", "")
    notes.append(make("div", punch.notes, "notes"))
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
      notes,
      make("td", punch.modified ?? "", "when")
    ])
  }

  const show = ({ data, meta }: ShownPage, reload: () => Promise<void>) => {
    const rows = data.map((punch) => punchRow(punch, reload))
    cursors = meta.cursor
    find("rows", HTMLTableSectionElement).replaceChildren(...rows)
    find("previous", HTMLButtonElement).disabled = cursors.prev === null
    find("next", HTMLButtonElement).disabled = cursors.next === null
    say("page", `${rows.length} ${rows.length === 1 ? "punch" : "punches"} on this page.`)
  }

  const messageOf = (error: unknown) => {
    if (error instanceof SyntaxError || error instanceof TypeError && error.message !== "Failed to fetch") {
      return "The answer is not a page of punches."
    }
    return error instanceof DOMException && error.name === "TimeoutError"
      ? "The page is not here: no answer within 10 seconds."
      : "The page is not here: the connection failed before the answer was complete."
  }

  const load = async (cursor: string | null): Promise<void> => {
    if (company === undefined) return
    say("page", "Loading …")
    const deleted = find("deleted", HTMLInputElement).checked ? "&deleted=null" : ""
    const at = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`
    try {
      const answer = await fetch(`${base}/v2/company/${company.id}/time_punches?limit=20${deleted}${at}`, {
        headers: { authorization: `Bearer ${company.accessToken}` },
        signal: AbortSignal.timeout(10_000)
      })
      const text = await answer.text()
      if (answer.ok) show(JSON.parse(text), () => load(cursor))
      else say("page", `The service answers ${answer.status}: ${text.slice(0, 300)}`, true)
    } catch (error) {
      say("page", messageOf(error), true)
    }
  }

  onClick("first", () => load(null))
  onClick("previous", () => load(cursors.prev))
  onClick("next", () => load(cursors.next))
  find("deleted", HTMLInputElement).addEventListener("change", () => load(null))

  return (chosen) => {
    company = chosen
    return load(null)
  }
}
