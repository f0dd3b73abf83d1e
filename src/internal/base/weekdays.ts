/** The days of a week by their English names, in the order in which dates count them. */

export const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const
