/** Where the time of a page goes, over both transports. */
import { called } from "../measure.ts"
import { number, type Section, type Setting, table } from "../report.ts"

export const profile = ({ url }: Setting): Section => {
  const [lean, undici] = ["lean.ts#lean", "ours.ts#undici"].map((client) =>
    new Map(
      called<ReadonlyArray<readonly [string, number]>>("profile.ts", "profile", { client, url: `${url}/scripts` })
    )
  )
  const groups = new Set([...(lean?.keys() ?? []), ...(undici?.keys() ?? [])])
  return {
    name: "profile",
    text: table(
      ["µs of a page, other scripts, on the main thread", "`NodeTransport`", "core's undici layer"],
      [...groups].map((group) => [group, number(lean?.get(group) ?? 0, 0), number(undici?.get(group) ?? 0, 0)])
    ),
    targets: []
  }
}
