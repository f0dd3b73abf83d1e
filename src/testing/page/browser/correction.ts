/** The form of a correction in the browser. */
import type { Tools } from "./tools.ts"

/** What the page shows of a punch. */
export interface ShownPunch {
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

/** The function that it returns opens the form of a punch; `reload` runs after the punch is corrected. */
export const makeCorrection = (
  { find, onClick, say, send }: Tools
): (punch: ShownPunch, reload: () => Promise<void>) => void => {
  const dialog = find("dialog", HTMLDialogElement)
  const field = (name: string) => find(`new-${name}`, HTMLInputElement)
  const notes = find("new-notes", HTMLTextAreaElement)
  const status = find("new-status", HTMLSelectElement)
  let opened: { readonly punch: ShownPunch; readonly notes: string; readonly reload: () => Promise<void> } | undefined

  const cents = (name: string) => /^-?\d+$/.test(field(name).value) ? Number(field(name).value) : field(name).value

  /** The values of the form under their names on the wire. `before`: the notes of the punch, as it has them and as the field shows them. */
  const valuesOf = (before: { readonly punch: ShownPunch; readonly notes: string }) => ({
    clocked_in: field("clocked_in").value,
    clocked_out: field("clocked_out").value === "" ? null : field("clocked_out").value,
    hourly_wage: cents("hourly_wage"),
    tips: cents("tips"),
    // The field has its own line ends: notes that were not touched must stay as they are.
    notes: notes.value === before.notes ? before.punch.notes : notes.value,
    approved: field("approved").checked,
    deleted: field("deleted").checked,
    ...(status.value !== "" && { employee_approval_status: status.value })
  })

  const save = async () => {
    if (opened === undefined) return
    const { punch, reload } = opened
    const before: Readonly<Record<string, unknown>> = { deleted: false, ...punch }
    const changes = Object.entries(valuesOf(opened)).filter(([name, value]) => value !== before[name])
    const refused = changes.length === 0
      ? undefined
      : await send("PATCH", `/sandbox/time_punches/${punch.id}`, JSON.stringify(Object.fromEntries(changes)))
    if (refused !== undefined) {
      say("refused", refused, true)
      return
    }
    dialog.close()
    await reload()
  }

  find("correction", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault()
    void save()
  })
  onClick("cancel", () => dialog.close())

  return (punch, reload) => {
    find("title", HTMLElement).textContent = `Correct punch ${punch.id}`
    field("clocked_in").value = punch.clocked_in
    field("clocked_out").value = punch.clocked_out ?? ""
    field("hourly_wage").value = `${punch.hourly_wage}`
    field("tips").value = `${punch.tips}`
    notes.value = punch.notes
    field("approved").checked = punch.approved
    field("deleted").checked = punch.deleted === true
    status.value = ""
    opened = { punch, notes: notes.value, reload }
    say("refused", "")
    dialog.showModal()
  }
}
