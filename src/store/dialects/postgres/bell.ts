/** Something that one loop waits for and others ring. A ring while nothing waits is heard by the next wait. */
export interface Bell {
  ring(): void
  /** Resolves when it rings, or after `ms`. Does not keep the process running. */
  wait(ms: number): Promise<void>
}

export function createBell(): Bell {
  let isRung = false
  let hear: (() => void) | undefined
  return {
    ring() {
      isRung = true
      hear?.()
    },
    wait(ms) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => hear?.(), ms).unref()
        hear = () => {
          clearTimeout(timer)
          hear = undefined
          isRung = false
          resolve()
        }
        if (isRung) hear()
      })
    },
  }
}
