import { readFileSync } from 'node:fs'
import { cpuMsOf, ticksPerSecond } from './process.ts'

/**
 * Starts watching; the returned function says how many cores others have used since then: programs that the bench did
 * not start, and other virtual machines on the same hardware (steal).
 */
export function watchOthers(): () => number {
  const begun = performance.now()
  const [busyBefore, ownBefore] = [busyMs(), cpuMsOf(process.pid)]
  return () => {
    const others = busyMs() - busyBefore - (cpuMsOf(process.pid) - ownBefore)
    return Math.max(0, others) / (performance.now() - begun)
  }
}

/** Interrupts are left out, because those of the loopback interface are the bench's own. */
function busyMs(): number {
  const [, user = 0, nice = 0, system = 0, , , , , steal = 0] =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/ +/).map(Number) ?? []
  return ((user + nice + system + steal) * 1000) / ticksPerSecond()
}
