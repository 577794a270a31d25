import { getPriority, setPriority } from 'node:os'

/**
 * Gives the calling thread, and outside Linux the whole process, this niceness (0 to 19) or keeps its own if that is greater:
 * an unprivileged process may raise its niceness and never lower it again.
 */
export function lowerPriority(niceness: number): void {
  if (getPriority() < niceness) setPriority(niceness)
}
