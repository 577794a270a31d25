import { describe, expect, test, vi } from 'vitest'
import { defined, inProject, type OpenedStore, sealed, suspendedCall } from './fixtures.ts'

/** Tests the promises of `SuspendedCalls`. */
export function suspendedCallPromises(open: () => Promise<OpenedStore>): void {
  describe('suspended calls', () => {
    test('are found by every process until they expire, and by their own project only', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const call = suspendedCall({ projectId })
      await store.suspendedCalls.add(call)
      expect(await other.suspendedCalls.find(projectId, call.id, 99)).toEqual(call)
      expect(await other.suspendedCalls.find(projectId, call.id, 100)).toBeUndefined()
      expect(await other.suspendedCalls.find(another.projectId, call.id, 99)).toBeUndefined()
    })

    test('take one of several racing answers; a change based on the state before it is refused', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const call = suspendedCall({ projectId })
      await store.suspendedCalls.add(call)
      const answers = ['a', 'b', 'c', 'd'].map((text) => ({
        status: 'answered' as const,
        payload: sealed(text),
        expiresAt: 200,
      }))
      const taken = await Promise.all(
        answers.map((answer, i) => (i % 2 === 0 ? store : other).suspendedCalls.advance(call, answer)),
      )
      expect(taken.filter(Boolean)).toHaveLength(1)
      const answered = { ...call, ...defined(answers[taken.indexOf(true)]) }
      expect(await other.suspendedCalls.find(projectId, call.id, 199)).toEqual(answered)
      expect(await other.suspendedCalls.advance(call, { ...call, status: 'ended' })).toBe(false)
      expect(await other.suspendedCalls.advance(answered, { ...answered, status: 'ended' })).toBe(true)
    })

    test('announce each change, and their removal, to every process', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const call = suspendedCall({ projectId })
      await store.suspendedCalls.add(call)
      const received: string[] = []
      other.onChange((change) => {
        if (change.noun === 'suspended_call') received.push(change.id)
      })
      const untilReceived = (times: number) =>
        vi.waitFor(() => {
          other.catchUp()
          expect(received).toEqual(Array(times).fill(call.id))
        }, 300_000)
      await store.suspendedCalls.advance(call, { ...call, status: 'answered' })
      await untilReceived(1)
      await store.suspendedCalls.remove(projectId, call.id)
      await untilReceived(2)
      expect(await other.suspendedCalls.find(projectId, call.id, 0)).toBeUndefined()
    })

    test('are swept once they have expired', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [old, fresh] = [10, 20].map((expiresAt) => suspendedCall({ projectId, expiresAt }))
      await store.suspendedCalls.add(defined(old))
      await store.suspendedCalls.add(defined(fresh))
      expect(await other.suspendedCalls.sweep(10)).toBe(1)
      expect(await store.suspendedCalls.find(projectId, defined(old).id, 0)).toBeUndefined()
      expect(await store.suspendedCalls.find(projectId, defined(fresh).id, 0)).toEqual(fresh)
    })
  })
}
