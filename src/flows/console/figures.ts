import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { CounterName } from '../../store/counters.ts'
import { MOST_COUNTED } from '../../store/page.ts'

/** How often something happened in a time, and in the time of the same length before it. */
export interface Figure {
  readonly now: number
  readonly before: number
  /** How many there are; more than `MOST_COUNTED` are not counted. */
  readonly total?: number
  /** Counting stopped at `MOST_COUNTED`, so that `now` and `before` cannot be compared. */
  readonly isMinimum?: true
}

export interface Figures {
  readonly connections: Figure
  readonly users: Figure
  /** Consents that succeeded. */
  readonly consents: Figure
  /** Calls of tools, also those that failed. */
  readonly calls: Figure
}

/** How far the clock of another node, which made an id, may be ahead. */
const AHEAD_SECONDS = 3600

/** The figures of the overview since `from`, the start of an hour. What they cost does not grow with the installation. */
export async function figuresSince(broker: Broker, projectId: string, from: EpochSeconds): Promise<Figures> {
  const { counters, consoleLists, users } = broker.store
  const now = broker.now()
  const end = now + AHEAD_SECONDS
  const [before, until] = [from - (now - from), from]

  async function counted(name: CounterName, label?: string): Promise<Figure> {
    const of = { name, ...(label !== undefined && { label }) }
    // the counts of an hour are not divided, so the time before begins with a whole hour
    const [since, earlier] = await Promise.all([
      counters.total(projectId, of, from, end),
      counters.total(projectId, of, before - (before % 3600), until),
    ])
    return { now: since, before: earlier }
  }

  const [connections, connectionsBefore, allConnections, newUsers, allUsers, consents, calls] =
    await Promise.all([
      consoleLists.countConnections(projectId, from, end),
      consoleLists.countConnections(projectId, before, until),
      consoleLists.countConnections(projectId, 0, end),
      counted('users'),
      users.count(projectId),
      counted('consents', 'completed'),
      counted('runs'),
    ])
  return {
    connections: {
      now: connections,
      before: connectionsBefore,
      total: allConnections,
      ...(Math.max(connections, connectionsBefore) > MOST_COUNTED && { isMinimum: true }),
    },
    users: { ...newUsers, total: allUsers },
    consents,
    calls,
  }
}
