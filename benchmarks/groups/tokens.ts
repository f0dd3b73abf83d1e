/** The token cache: what signing adds to a page. */
import { called } from "../measure.ts"
import { atMost, number, type Section, type Setting } from "../report.ts"
import type { TokenRow } from "../tokens.ts"

export const tokens = ({ quick }: Setting): Section => {
  const { nsPerGet, requestsOfTenThousandColdFibers: requests } = called<TokenRow>("tokens.ts", "tokens", {
    gets: quick ? 200_000 : 1_000_000
  })
  return {
    name: "tokens",
    text: `A warm \`get\` takes ${number(nsPerGet, 0)} ns; 10 000 fibers on a cold cache cost ${requests} request.`,
    targets: [
      atMost("warm token, ns", 1000, nsPerGet, { beyond: 5, digits: 0 }),
      atMost("requests for 10 000 fibers on a cold token", 1, requests, { digits: 0 })
    ]
  }
}
