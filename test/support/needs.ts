/** The one place that may skip a test at run time, with the reason in the runner's report. */

/** Skips the test that is running unless the machine has what it needs. */
export const needs: (
  context: { readonly skip: (note: string) => void },
  condition: boolean,
  reason: string
) => void = (context, condition, reason) => {
  if (!condition) context.skip(reason)
}
