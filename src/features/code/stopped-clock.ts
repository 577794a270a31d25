import type { EpochSeconds } from '../../domain/clock.ts'

/**
 * Stops the clocks of this thread, which QuickJS reads, and sets them to UTC, so that code cannot measure the time of other
 * work. Only for the thread of the sandbox.
 */
export function stopClock(now: EpochSeconds): void {
  const stopped = now * 1000
  Date.now = () => stopped
  Object.defineProperty(performance, 'now', { value: () => 0 })
  Object.defineProperty(performance, 'timeOrigin', { value: stopped })
  Date.prototype.getTimezoneOffset = () => 0
  for (const part of ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds'] as const)
    Date.prototype[`get${part}`] = Date.prototype[`getUTC${part}`]
}
