/** The `Date` header of HTTP, written by arithmetic on digits: no `Date`, no client code. */
import { day, formatDate } from "./wireDate.ts"

const weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"] as const

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const

const pad = (value: number) => String(value).padStart(2, "0")

/** An instant in milliseconds since 1970 as `Sun, 01 Mar 2026 08:00:00 GMT`; milliseconds are cut. */
export const formatHttpDate = (epoch: number): string => {
  const days = Math.floor(epoch / day)
  const seconds = Math.floor((epoch - days * day) / 1000)
  const [year, month, dayOfMonth] = formatDate(days).split("-")
  // 1970-01-01 was a Thursday; the remainder of a negative number is negative.
  const weekday = weekdays[((days % 7) + 7) % 7]
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(pad).join(":")
  return `${weekday}, ${dayOfMonth} ${months[Number(month) - 1]} ${year} ${time} GMT`
}
