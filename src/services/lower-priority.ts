import { getPriority, setPriority } from 'node:os'

/**
 * Raises the niceness of the calling thread (outside Linux, of the whole process) to at least this value, from 0 to
 * 19. A greater niceness is kept, because an unprivileged process cannot lower it.
 */
export function lowerPriority(niceness: number): void {
  if (getPriority() < niceness) setPriority(niceness)
}
