import type { EpochSeconds } from '../domain/clock.ts'

/**
 * Replaces the clocks of this thread, which QuickJS reads, by one that stands still and knows no time zone: code cannot
 * measure what happens around it. For the sandbox's own thread alone.
 */
export function stopClock(now: EpochSeconds): void {
  const stopped = now * 1000
  const RealDate = Date

  class StoppedDate extends RealDate {
    constructor(...given: unknown[]) {
      const [first = stopped, month, day = 1] = given.map(Number)
      super(month === undefined ? first : RealDate.UTC(first, month, day))
    }
    static override now(): number {
      return stopped
    }
    override getTimezoneOffset(): number {
      return 0
    }
    override getFullYear(): number {
      return this.getUTCFullYear()
    }
    override getMonth(): number {
      return this.getUTCMonth()
    }
    override getDate(): number {
      return this.getUTCDate()
    }
    override getDay(): number {
      return this.getUTCDay()
    }
    override getHours(): number {
      return this.getUTCHours()
    }
    override getMinutes(): number {
      return this.getUTCMinutes()
    }
    override getSeconds(): number {
      return this.getUTCSeconds()
    }
  }

  Object.defineProperty(globalThis, 'Date', { value: StoppedDate })
  Object.defineProperty(globalThis, 'performance', { value: { now: () => 0, timeOrigin: stopped } })
}
