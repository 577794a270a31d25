import type { EpochSeconds } from '../domain/clock.ts'

/**
 * Makes the clocks of this thread, which QuickJS reads, stand still and know no time zone: code cannot measure what
 * happens around it. For the sandbox's own thread alone.
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
