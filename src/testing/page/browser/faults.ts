/** The buttons of faults in the browser, and the faults that wait. */
import type { Tools } from "./tools.ts"

/** Of the event `faults`: a fault and how often it can still happen; `null` for any number of times. */
export interface ShownFault {
  readonly text: string
  readonly left: number | null
}

/** Shows the faults that wait, and injects and clears them. */
export const showFaults = ({ find, make, onClick, say, send }: Tools, events: EventSource): void => {
  events.addEventListener("faults", ({ data }) => {
    const faults: ReadonlyArray<ShownFault> = JSON.parse(String(data))
    const items = faults.map(({ left, text }) =>
      make("li", `${text}: ${left === null ? "until cleared" : left === 1 ? "once" : `${left} times`}`)
    )
    find("active", HTMLUListElement).replaceChildren(...items)
    find("clear", HTMLButtonElement).disabled = faults.length === 0
  })

  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-fault]")) {
    button.addEventListener("click", async () => {
      const { choice, fault } = button.dataset
      const times = find("times", HTMLSelectElement).value
      const target = find("target", HTMLSelectElement).value
      const press = JSON.stringify({ name: fault, choice: Number(choice), times, target })
      const refused = await send("POST", "/sandbox/faults", press)
      say("pressed", refused ?? `Injected: ${button.ariaLabel ?? button.textContent}.`, refused !== undefined)
    })
  }
  onClick("clear", async () => {
    const refused = await send("DELETE", "/sandbox/faults", "")
    say("pressed", refused ?? "No fault is left.", refused !== undefined)
  })
}
