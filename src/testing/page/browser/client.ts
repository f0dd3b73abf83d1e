/** The company that is chosen in the browser, and the lines that connect a client to it. */
import type { Tools } from "./tools.ts"

/** What `/sandbox/companies/ID` answers. */
export interface ShownCompany {
  readonly id: number
  readonly accessToken: string
  /** Lines for a shell that set the variables of a client. */
  readonly environment: string
}

/** Shows the lines of the chosen company, copies them, and lists its punches. */
export const connectClient = (
  { find, onClick, say }: Tools,
  showPunches: (company: ShownCompany) => Promise<void>
): void => {
  const choose = async () => {
    const id = find("company", HTMLInputElement).value
    const answer = await fetch(`/sandbox/companies/${encodeURIComponent(id)}`).catch(() => undefined)
    if (answer?.ok !== true) {
      say("copied", answer === undefined ? "The service does not answer." : await answer.text(), true)
      return
    }
    const company: ShownCompany = await answer.json()
    find("environment", HTMLElement).textContent = company.environment
    say("copied", "")
    await showPunches(company)
  }

  find("choose", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault()
    void choose()
  })
  onClick("copy", async () => {
    const text = find("environment", HTMLElement).textContent ?? ""
    try {
      await navigator.clipboard.writeText(text)
      say("copied", "Copied.")
    } catch {
      say("copied", "The browser does not allow it: select the lines and copy them.", true)
    }
  })

  void choose()
}
