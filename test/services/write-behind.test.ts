import { expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import { createActivityLog } from '../../src/services/activity-log.ts'
import { createWriteBehind } from '../../src/services/write-behind.ts'
import type { Counters, HourCounts } from '../../src/store/counters.ts'
import type { Users } from '../../src/store/users.ts'

const DOWN = new BrokerError('store_unavailable', 'the database is down')

test('a queue that is full drops its oldest rows, and counts them', async () => {
  const written: string[] = []
  const queue = createWriteBehind<number>({
    write: async (batch) => void written.push(...batch.keys()),
    maxRows: 3,
  })
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key, 1)
  expect([queue.waiting, queue.dropped]).toEqual([3, 2])
  await queue.flush()
  expect(written).toEqual(['c', 'd', 'e'])
})

/** An activity log whose database can be down, or refuse the project `gone`. */
function scene() {
  const counted: (readonly [number, HourCounts])[] = []
  const seen: [string, [string, number][]][] = []
  const database = { isDown: false }
  const check = (projectIds: readonly string[]) => {
    if (database.isDown) throw DOWN
    if (projectIds.includes('gone')) throw new BrokerError('invalid_request', 'there is no such project')
  }
  const counters: Pick<Counters, 'add'> = {
    async add(hour, counts) {
      check(counts.map(({ projectId }) => projectId))
      counted.push(...counts.map((one) => [hour, one] as const))
    },
  }
  const users: Pick<Users, 'seen'> = {
    async seen(projectId, times) {
      check([projectId])
      seen.push([projectId, [...times]])
      return [...times.keys()].filter((user) => user.startsWith('new')).length
    },
  }
  // it uses nothing else of them
  const log = createActivityLog({ counters: counters as Counters, users: users as Users }, () => 7_300)
  return { log, counted, seen, database }
}

test('counts of an hour are written together, and those of a project that is gone hold up no others', async () => {
  const { log, counted } = scene()
  log.count('p', 'fetches', 'ready')
  log.count('gone', 'fetches', 'ready')
  log.count('p', 'fetches', 'needs a click')
  log.count('p', 'fetches', 'ready')
  await expect(log.flush()).rejects.toThrow('there is no such project')
  const labels = counted.flatMap(([hour, { projectId, name, byLabel }]) =>
    [...byLabel].map(([label, count]) => [hour, projectId, name, label, count]),
  )
  expect(labels).toEqual([
    [7_200, 'p', 'fetches', 'ready', 2],
    [7_200, 'p', 'fetches', 'needs a click', 1],
  ])
})

test('users who are seen for the first time are counted', async () => {
  const { log, counted } = scene()
  for (const user of ['new-1', 'known', 'new-2']) log.seen('p', user)
  await log.flush()
  expect(counted).toEqual([[7_200, { projectId: 'p', name: 'users', byLabel: new Map([['new', 2]]) }]])
})

test('after a failed write users are written again, and counts are not, since they might count twice', async () => {
  const { log, counted, seen, database } = scene()
  log.count('p', 'fetches', 'ready')
  log.seen('p', 'a user')
  log.seen('q', 'b')
  database.isDown = true
  await expect(log.flush()).rejects.toThrow('the database is down')
  database.isDown = false
  await log.flush()
  expect(counted).toEqual([])
  expect(seen).toEqual([
    ['p', [['a user', 7_300]]],
    ['q', [['b', 7_300]]],
  ])
})
