import { describe, expect, test } from 'vitest'
import type { ExecutionRecord } from '../../src/domain/execution.ts'
import type { ExecutionFilter } from '../../src/store/execution-lists.ts'
import { execution, inProject, type OpenedStore, scheduledRun, sealed } from './fixtures.ts'

const ALL = { offset: 0, limit: 100 }

/** Tests the promises of `Executions`. */
export function executionPromises(open: () => Promise<OpenedStore>): void {
  describe('executions', () => {
    async function scene() {
      const opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      return {
        store,
        projectId,
        executions: store.executions,
        others: other.executions,
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      }
    }

    test('are found by their own project, with every member as it was added', async () => {
      await using on = await scene()
      const another = await inProject(on.store, 'another')
      const { projectId } = on
      const full = execution({
        projectId,
        status: 'failed',
        outcome: 'error',
        errorKind: 'TOOL_RUNTIME_FATAL',
        apiKeyId: 'key_1',
        entryPoint: 'run_chain',
        request: sealed('request'),
        result: sealed('result'),
      })
      const { userId: _, durationMs: __, ...bare } = execution({ projectId })
      await on.executions.add([])
      await on.executions.add([full, bare])
      expect(await on.others.find(projectId, full.id)).toEqual(full)
      expect(await on.others.find(projectId, bare.id)).toEqual(bare)
      expect(await on.others.find(another.projectId, full.id)).toBeUndefined()
    })

    test('that are added together are added all or none', async () => {
      await using on = await scene()
      const { projectId } = on
      const known = execution({ projectId })
      await on.executions.add([known])
      await expect(on.executions.add([execution({ projectId }), known])).rejects.toThrow()
      expect((await on.others.list(projectId, {}, ALL)).total).toBe(1)
    })

    test('are listed newest first and page by page, without their input and results', async () => {
      await using on = await scene()
      const { projectId } = on
      const another = await inProject(on.store, 'another')
      const records = Array.from({ length: 5 }, () => execution({ projectId }))
      const sealedToo = records.map((one) => ({
        ...one,
        request: sealed('request'),
        result: sealed('result'),
      }))
      await on.executions.add([...sealedToo, execution({ projectId: another.projectId })])
      const newest = records.toReversed()
      expect(await on.others.list(projectId, {}, ALL)).toEqual({ items: newest, total: 5 })
      expect(await on.others.list(projectId, {}, { offset: 2, limit: 2 })).toEqual({
        items: newest.slice(2, 4),
        total: 5,
        next: newest[3]?.id,
      })
      // a cursor decides where the page begins; the offset is only the number of rows before it
      expect(
        await on.others.list(projectId, {}, { offset: 4, limit: 2, after: newest[3]?.id ?? '' }),
      ).toEqual({ items: newest.slice(4), total: 5 })
    })

    test.each<[ExecutionFilter, readonly string[]]>([
      [{ userId: 'ada' }, ['scheduled', 'failed', 'plain']],
      [{ userId: 'bob' }, ['of bob']],
      [{ userId: 'bob', toolId: 'demo:Whoami:1.0.0' }, []],
      [{ toolId: 'demo:Other' }, ['of bob']],
      [{ type: 'scheduled' }, ['scheduled']],
      [{ type: 'immediate', userId: 'ada' }, ['failed', 'plain']],
      [{ status: 'failed' }, ['failed']],
      [{ status: 'scheduled', type: 'scheduled' }, ['scheduled']],
    ])('are filtered by %j', async (filter, expected) => {
      await using on = await scene()
      const { projectId } = on
      const named = new Map<string, string>()
      const add = async (name: string, record: ExecutionRecord) => {
        named.set(record.id, name)
        await on.executions.add([record])
      }
      await add('plain', execution({ projectId }))
      await add('failed', execution({ projectId, status: 'failed', outcome: 'error' }))
      await add('of bob', execution({ projectId, userId: 'bob', toolId: 'demo:Other' }))
      await add('scheduled', scheduledRun({ projectId, runAt: 50 }))
      const { items, total } = await on.executions.list(projectId, filter, ALL)
      expect(items.map(({ id }) => named.get(id))).toEqual(expected)
      expect(total).toBe(expected.length)
    })

    test('are swept, however many, once they ended before the given time; no others are', async () => {
      await using on = await scene()
      const { projectId } = on
      const old = Array.from({ length: 1_200 }, () => execution({ projectId, finishedAt: 19 }))
      for (let i = 0; i < old.length; i += 300) await on.executions.add(old.slice(i, i + 300))
      const kept = [
        execution({ projectId, finishedAt: 20 }),
        scheduledRun({ projectId, runAt: 5 }),
        scheduledRun({ projectId, runAt: 5, status: 'running', startedAt: 1 }),
        scheduledRun({ projectId, runAt: 5, finishedAt: 6 }),
      ]
      await on.executions.add(kept)
      expect(await on.others.sweep(20)).toBe(1_200)
      const { items } = await on.executions.list(projectId, {}, ALL)
      expect(items.map(({ id }) => id)).toEqual(kept.map(({ id }) => id).toReversed())
    })
  })
}
