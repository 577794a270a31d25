/** The time limit of a run. The time in which the run waits for an answer of its client does not count. */
export interface TimeLimit {
  clear(): void
  /** Stops the clock until `ask` has ended. */
  pausedDuring<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

/** Starts the time limit; `onEnd` is called once it has passed. */
export function timeLimit(ms: number, onEnd: () => void): TimeLimit {
  let leftMs = ms
  let startedAt = performance.now()
  let timer = setTimeout(onEnd, leftMs)
  let asking = 0
  let isCleared = false
  return {
    clear() {
      isCleared = true
      clearTimeout(timer)
    },
    async pausedDuring(ask) {
      if (asking++ === 0) {
        clearTimeout(timer)
        leftMs -= performance.now() - startedAt
      }
      try {
        return await ask()
      } finally {
        if (--asking === 0 && !isCleared) {
          startedAt = performance.now()
          timer = setTimeout(onEnd, Math.max(0, leftMs))
        }
      }
    },
  }
}
