/** A limit on the time of a run, in which the waiting for people does not count. */
export interface TimeLimit {
  clear(): void
  /** The clock stops until `ask` has ended. */
  pausedDuring<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

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
