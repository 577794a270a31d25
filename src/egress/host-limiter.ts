/** Who may go at once and who waits, for each host by itself. */
export interface Turns {
  /**
   * Calls `begin` when its turn has come, now or later, with what ends that turn. Answers the same, for whoever gives
   * up while still waiting, or `undefined` when too many wait already.
   */
  take(host: string, begin: (leave: Leave) => void): Leave | undefined
}

/** Ends a turn, or the waiting for one. To be called again does nothing. */
export type Leave = () => void

/** First come, first served. A host that nobody asks for is forgotten. */
export function createTurns(limits: { readonly atOnce: number; readonly waiting: number }): Turns {
  const hosts = new Map<string, { running: number; readonly waiting: Set<() => void> }>()

  return {
    take(name, begin) {
      const host = hosts.get(name) ?? { running: 0, waiting: new Set() }
      if (host.running >= limits.atOnce && host.waiting.size >= limits.waiting) return undefined
      hosts.set(name, host)
      let state: 'waiting' | 'running' | 'over' = 'waiting'

      const start = () => {
        host.waiting.delete(start)
        host.running++
        state = 'running'
        begin(leave)
      }
      const leave = () => {
        if (state === 'over') return
        if (state === 'running') host.running--
        else host.waiting.delete(start)
        state = 'over'
        const [next] = host.waiting
        if (next !== undefined && host.running < limits.atOnce) next()
        if (host.running === 0 && host.waiting.size === 0) hosts.delete(name)
      }
      if (host.running < limits.atOnce) start()
      else host.waiting.add(start)
      return leave
    },
  }
}
