import { describe, expect, test } from 'vitest'
import type { ExecutionRecord } from '../../../src/domain/execution.ts'
import { BACKUP_FACT } from '../../../src/store/facts.ts'
import {
  defined,
  execution,
  inProject,
  type OpenedStore,
  scheduledRun,
  sealed,
} from '../../store/fixtures.ts'

/** Tests the promises of `ScheduledRuns`. */
export function scheduledRunPromises(open: () => Promise<OpenedStore>): void {
  describe('scheduled runs', () => {
    async function scene() {
      const opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const lease = (owner: string, seconds = 25) => ({ owner, seconds })
      return {
        store,
        projectId,
        executions: store.executions,
        runs: store.scheduledRuns,
        others: other.scheduledRuns,
        lease,
        async scheduled(runAt: number, of: Partial<ExecutionRecord> = {}) {
          const record = scheduledRun({ projectId, runAt, ...of })
          await store.executions.add([record])
          return record
        },
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      }
    }

    test('that are due are claimed, the earliest first, up to the limit', async () => {
      await using on = await scene()
      const [third, first, second] = [await on.scheduled(30), await on.scheduled(10), await on.scheduled(20)]
      await on.scheduled(41)
      await on.executions.add([execution({ projectId: on.projectId, runAt: 5 })])
      const claimed = await on.runs.claimDue(on.lease('me'), 40, 2)
      expect(claimed).toEqual(
        [first, second].map((one) => ({
          ...one,
          status: 'running',
          attempts: 1,
          startedAt: 40,
          updatedAt: 40,
        })),
      )
      expect((await on.others.claimDue(on.lease('you'), 40, 2)).map(({ id }) => id)).toEqual([third.id])
      expect(await on.others.claimDue(on.lease('you'), 40, 2)).toEqual([])
    })

    test('that are due are not claimed when their project is excluded, and other processes claim them', async () => {
      await using on = await scene()
      const another = await inProject(on.store, 'another')
      await on.scheduled(10)
      const theirs = await on.scheduled(20, { projectId: another.projectId })
      const claimed = await on.runs.claimDue(on.lease('me'), 40, 5, [on.projectId])
      expect(claimed.map(({ id }) => id)).toEqual([theirs.id])
      expect(await on.runs.claimDue(on.lease('me'), 40, 5, [on.projectId, another.projectId])).toEqual([])
      expect(await on.others.claimDue(on.lease('you'), 40, 5, [])).toHaveLength(1)
    })

    test('are each claimed by one of several racing processes', async () => {
      await using on = await scene()
      const due = await Promise.all(Array.from({ length: 20 }, (_, i) => on.scheduled(i)))
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          (i % 2 ? on.runs : on.others).claimDue(on.lease(`process ${i}`), 50, 5),
        ),
      )
      const rest = await on.runs.claimDue(on.lease('rest'), 50, 100)
      const ids = [...claims, rest].flatMap((some) => some.map(({ id }) => id))
      expect(ids.toSorted()).toEqual(due.map(({ id }) => id).toSorted())
      for (const some of claims) expect(some.length).toBeLessThanOrEqual(5)
    })

    test('whose lease has run out are claimed again, and then their first owner cannot settle them', async () => {
      await using on = await scene()
      const { id } = await on.scheduled(10)
      const [dead] = await on.runs.claimDue(on.lease('dead', 0), 20, 1)
      const [heir] = await on.others.claimDue(on.lease('heir'), 20, 1)
      expect(heir).toMatchObject({ id, attempts: 2, status: 'running' })
      const ended = { ...defined(dead), status: 'completed', outcome: 'value', finishedAt: 21 } as const
      expect(await on.runs.settle(ended, 'dead')).toBe(false)
      expect(await on.runs.prolong(id, on.lease('dead'), 21)).toBe(false)
      expect(await on.executions.find(on.projectId, id)).toMatchObject({ status: 'running', attempts: 2 })
      expect(await on.others.settle({ ...defined(heir), status: 'failed', finishedAt: 22 }, 'heir')).toBe(
        true,
      )
      expect(await on.executions.find(on.projectId, id)).toMatchObject({ status: 'failed', finishedAt: 22 })
    })

    test('whose lease was prolonged are claimed by no other process', async () => {
      await using on = await scene()
      const { id } = await on.scheduled(10)
      await on.runs.claimDue(on.lease('me', 0), 20, 1)
      expect(await on.runs.prolong(id, on.lease('me'), 20)).toBe(true)
      expect(await on.others.claimDue(on.lease('you'), 20, 1)).toEqual([])
    })

    test('are settled by their owner, once, and lose their request', async () => {
      await using on = await scene()
      const { id, request: _, ...added } = await on.scheduled(10)
      const [claimed] = await on.runs.claimDue(on.lease('me'), 20, 1)
      const ended: ExecutionRecord = {
        ...defined(claimed),
        request: sealed('as it was read before a rotation'),
        status: 'completed',
        outcome: 'value',
        updatedAt: 25,
        finishedAt: 25,
        durationMs: 5_000,
        result: sealed('result'),
      }
      expect(await on.others.settle(ended, 'you')).toBe(false)
      expect(await on.runs.settle(ended, 'me')).toBe(true)
      expect(await on.runs.settle({ ...ended, status: 'failed' }, 'me')).toBe(false)
      const { request: __, ...settled } = { ...added, ...ended }
      expect(await on.executions.find(on.projectId, id)).toEqual(settled)
      expect(await on.others.claimDue(on.lease('you'), 1_000, 1)).toEqual([])
    })

    test('that are settled as scheduled are run again at their new time', async () => {
      await using on = await scene()
      const { id } = await on.scheduled(10)
      const [claimed] = await on.runs.claimDue(on.lease('me'), 20, 1)
      const { startedAt: _, ...again } = defined(claimed)
      const retry = { ...again, status: 'scheduled', runAt: 60, result: sealed('first attempt') } as const
      expect(await on.runs.settle(retry, 'me')).toBe(true)
      expect(await on.executions.find(on.projectId, id)).toEqual(retry)
      expect(await on.others.claimDue(on.lease('you'), 59, 1)).toEqual([])
      expect(await on.others.claimDue(on.lease('you'), 60, 1)).toMatchObject([{ id, attempts: 2 }])
    })

    test('can be cancelled by their own project until they have begun', async () => {
      await using on = await scene()
      const another = await inProject(on.store, 'another')
      const { request: _, ...waiting } = await on.scheduled(10)
      expect(await on.runs.cancel(another.projectId, waiting.id, 5)).toBeUndefined()
      const end = { status: 'cancelled', finishedAt: 5, updatedAt: 5, result: sealed('end') }
      expect(await on.runs.cancel(on.projectId, waiting.id, 5, undefined, end.result)).toEqual({
        ...waiting,
        ...end,
      })
      expect(await on.others.cancel(on.projectId, waiting.id, 6)).toBeUndefined()
      expect(await on.others.claimDue(on.lease('me'), 20, 1)).toEqual([])
      const begun = await on.scheduled(10)
      await on.runs.claimDue(on.lease('me'), 20, 1)
      expect(await on.others.cancel(on.projectId, begun.id, 21)).toBeUndefined()
    })

    test('that are scheduled are counted for their own project until they have begun', async () => {
      await using on = await scene()
      const another = await inProject(on.store, 'another')
      await on.executions.add([execution({ projectId: on.projectId })])
      const record = await on.scheduled(100)
      await on.scheduled(100)
      expect(await on.others.count(on.projectId)).toBe(2)
      expect(await on.others.count(another.projectId)).toBe(0)
      await on.runs.cancel(on.projectId, record.id, 2)
      expect(await on.others.count(on.projectId)).toBe(1)
      await on.runs.claimDue(on.lease('a'), 100, 10)
      expect(await on.others.count(on.projectId)).toBe(0)
    })

    test('that are cancelled and claimed at the same time are either cancelled or running', async () => {
      await using on = await scene()
      for (let round = 0; round < 5; round++) {
        const { id } = await on.scheduled(10)
        const [cancelled, claimed] = await Promise.all([
          on.runs.cancel(on.projectId, id, 20),
          on.others.claimDue(on.lease('me'), 20, 1),
        ])
        expect([cancelled !== undefined, claimed.length > 0].filter(Boolean)).toHaveLength(1)
        const { status } = defined(await on.executions.find(on.projectId, id))
        expect(status).toBe(cancelled === undefined ? 'running' : 'cancelled')
      }
    })

    test('have an audit entry for their cancellation, and none for a second one', async () => {
      await using on = await scene()
      const { id } = await on.scheduled(10)
      const record = (line: string) => ({ projectId: on.projectId, at: 5, lines: [line], link: () => line })
      await on.runs.cancel(on.projectId, id, 1, record('cancelled'))
      await on.runs.cancel(on.projectId, id, 1, record('cancelled again'))
      const blocks = await on.store.audit.blocks(on.projectId, { order: 'oldest first', limit: 10 })
      expect(blocks.map(({ text }) => text)).toEqual(['cancelled'])
    })

    test('are not announced', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const changes: unknown[] = []
      store.onChange((change) => changes.push(change))
      await store.executions.add([scheduledRun({ projectId, runAt: 1 })])
      const [claimed] = await store.scheduledRuns.claimDue({ owner: 'me', seconds: 5 }, 1, 1)
      await store.scheduledRuns.settle({ ...defined(claimed), status: 'completed' }, 'me')
      expect(changes).toEqual([])
    })

    test('of a restored backup have failed if they may have been run since', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [running, due, later] = [4, 5, 6].map((runAt) => scheduledRun({ projectId, runAt }))
      await store.executions.add([defined(running), defined(due), defined(later)])
      await store.scheduledRuns.claimDue({ owner: 'dead', seconds: 600 }, 4, 1)
      await store.facts.put(BACKUP_FACT, '3')
      expect(await store.settleRestore('restored', 5)).toMatchObject({ runs: 2 })
      for (const one of [running, due])
        expect(await other.executions.find(projectId, defined(one).id)).toMatchObject({
          status: 'failed',
          outcome: 'error',
          finishedAt: 5,
        })
      const claimed = await other.scheduledRuns.claimDue({ owner: 'next', seconds: 10 }, 6, 10)
      expect(claimed.map(({ id }) => id)).toEqual([defined(later).id])
    })
  })
}
