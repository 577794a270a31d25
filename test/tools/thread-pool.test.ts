import { describe, expect, test } from 'vitest'
import { inThread, ThreadFault, threadTask } from '../../src/tools/thread-pool.ts'
import type { ThreadTaskInput } from '../fixtures/thread-task.ts'

const task = threadTask<ThreadTaskInput, unknown>('../fixtures/thread-task', import.meta.url)

describe('the pool of threads', () => {
  test('answers what the function answers, and is told what it throws', async () => {
    expect(await inThread(task, { does: 'double', bytes: new Uint8Array([1, 2, 3]) })).toEqual(
      new Uint8Array([2, 4, 6]),
    )
    await expect(inThread(task, { does: 'throw' })).rejects.toThrow('It does not work.')
  })

  test('a thread has nothing of the environment', async () => {
    expect(await inThread(task, { does: 'name' })).toEqual([])
  })

  test.each([
    ['that does not end', { does: 'spin' }, 'timeout'],
    ['that ends its thread', { does: 'exit' }, 'crashed'],
    ['that takes all memory', { does: 'fill' }, 'memory'],
  ] as const)('a task %s fails by itself, and the next one runs', async (_, input, reason) => {
    const timeoutMs = reason === 'timeout' ? 300 : 300_000
    await expect(inThread(task, input, { timeoutMs })).rejects.toEqual(new ThreadFault(reason))
    expect(await inThread(task, { does: 'wait', ms: 1 })).toBe(1)
  })

  test('owners take turns: one with many tasks does not delay the task of another', async () => {
    const ended: string[] = []
    const run = (owner: string) =>
      inThread(task, { does: 'wait', ms: 20 }, { owner }).then(() => ended.push(owner))
    await Promise.all([...Array.from({ length: 24 }, () => run('many')), run('one')])
    expect(ended.indexOf('one')).toBeLessThan(12)
  })

  test('one owner with more tasks than may wait leaves room for those of another', async () => {
    const run = (owner: string) => inThread(task, { does: 'wait', ms: 0 }, { owner })
    const many = Array.from({ length: 1_050 }, () => run('many'))
    const one = run('one')
    const results = await Promise.allSettled(many)
    expect(results.some(({ status }) => status === 'rejected')).toBe(true)
    expect(await one).toBe(0)
  })

  test('more tasks than may wait are refused at once', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 1_050 }, () => inThread(task, { does: 'wait', ms: 0 })),
    )
    const refused = results.filter((one) => one.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    for (const { reason } of refused) expect(reason).toEqual(new ThreadFault('busy'))
  })
})
