/** How many rows a page may have. */

/** The most rows that a page may have, and the default. */
export const maxPageSize = 200
