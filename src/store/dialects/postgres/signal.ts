/** Wakes a loop that waits. A signal that is set while nothing waits ends the next wait at once. */
export interface Signal {
  set(): void
  /** Resolves when the signal is set, or after `ms`. Does not keep the process running. */
  wait(ms: number): Promise<void>
}

export function createSignal(): Signal {
  let isSet = false
  let wake: (() => void) | undefined
  return {
    set() {
      isSet = true
      wake?.()
    },
    wait(ms) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => wake?.(), ms).unref()
        wake = () => {
          clearTimeout(timer)
          wake = undefined
          isSet = false
          resolve()
        }
        if (isSet) wake()
      })
    },
  }
}
