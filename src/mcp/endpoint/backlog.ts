import type { ServerContext } from '@modelcontextprotocol/server'

/** The notifications of one response that its reader has not taken yet. */
export interface Backlog {
  /** Counts one more notification; `false` if too many wait already. */
  add(): boolean
  /** The reader has taken one. */
  taken(): void
}

const MAX_WAITING = 100

export function createBacklog(): Backlog {
  let waiting = 0
  return {
    add() {
      if (waiting >= MAX_WAITING) return false
      waiting++
      return true
    },
    taken() {
      waiting = Math.max(0, waiting - 1)
    },
  }
}

/** A context that drops notifications while too many wait, so that a slow reader does not take memory. */
export function withBacklog(context: ServerContext, backlog: Backlog): ServerContext {
  const { mcpReq } = context
  return {
    ...context,
    mcpReq: {
      ...mcpReq,
      notify: async (notification) => {
        if (backlog.add()) await mcpReq.notify(notification)
      },
      log: async (level, data, logger) => {
        if (backlog.add()) await mcpReq.log(level, data, logger)
      },
    },
  }
}
