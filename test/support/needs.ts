/** The one way to skip a test, for what a machine may lack. */

/** Skips the test with a reason unless the condition holds. The reason is printed at the end of the run. */
export const needs = (context: { readonly skip: (note: string) => void }, condition: boolean, reason: string): void => {
  if (!condition) context.skip(reason)
}
