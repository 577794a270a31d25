import { describe, expect, test } from 'vitest'
import { LONGEST_TRAIL, readTrail, trailLines } from '../../src/domain/trail.ts'
import {
  attempt,
  connected,
  connection,
  defined,
  inProject,
  type OpenedStore,
  pending,
  refreshed,
  sealed,
} from './fixtures.ts'

/** Tests the trails of authorizations and connections, which `explain` shows. */
export function trailPromises(open: () => Promise<OpenedStore>): void {
  describe('trails', () => {
    const line = (at: number, step: 'clicked' | 'callback' | 'code_exchange' | 'refresh_failed') =>
      trailLines({ at, step, part: 0, details: { status: at } })

    async function begun(opened: OpenedStore) {
      const { store, other } = opened
      const { owner, projectId } = await inProject(store)
      const { id } = await store.authorizations.begin(pending(owner), 'share', 0)
      const trailOf = async () => readTrail((await other.authorizations.trail(id))?.trail ?? '')
      const steps = async () => (await trailOf()).entries.map((one) => `${one.at} ${one.step}`)
      return { id, owner, projectId, trailOf, steps, authorizations: store.authorizations, store, other }
    }

    test('of an authorization have the lines of each transition, in their order', async () => {
      await using opened = await open()
      const { id, steps, authorizations } = await begun(opened)
      expect(await steps()).toEqual([])
      await authorizations.attempt(id, 0, attempt('s1'), 1, line(1, 'clicked'))
      const held = { flowHash: 'f1', response: sealed('r'), deadline: 500 }
      await authorizations.confirming('s1', held, 2, line(2, 'callback'))
      await authorizations.confirm('f1', 3, undefined, line(3, 'callback'))
      const claim = { from: 'confirmed', deadline: 30, claimedBy: 'p', lines: line(4, 'callback') } as const
      await authorizations.claim('s1', 4, claim)
      await authorizations.fail(id, 'invalid_grant', 'm', 5, 's1', undefined, line(5, 'code_exchange'))
      const all = ['1 clicked', '2 callback', '3 callback', '4 callback', '5 code_exchange']
      expect(await steps()).toEqual(all)
      await authorizations.note(id, line(6, 'callback'))
      expect(await steps(), 'a settled authorization takes no more lines').toEqual(all)
    })

    test('of an authorization end with its completion, and its steps keep what the consent withheld', async () => {
      await using opened = await open()
      const { id, owner, steps, authorizations } = await begun(opened)
      await authorizations.attempt(id, 0, attempt('s1'), 1, line(1, 'clicked'))
      const claimed = defined(
        await authorizations.claim('s1', 2, { from: 'pending', deadline: 30, claimedBy: 'p' }),
      )
      const consent = { missingScopes: ['write'], previousAccount: { id: 'a', name: 'A', connectionId: 'c' } }
      const options = { makeDefault: true, consent, lines: line(3, 'code_exchange') }
      const of = connection(owner)
      expect(await authorizations.finishStep(claimed, of, options, 3)).toMatchObject({
        status: 'completed',
        steps: [{ connectionId: of.id, ...consent }],
      })
      expect(await steps()).toEqual(['1 clicked', '3 code_exchange'])
    })

    test('of an authorization that are full are emptied, and say that they were cut', async () => {
      await using opened = await open()
      const { id, trailOf, authorizations } = await begun(opened)
      const long = trailLines({ at: 1, step: 'clicked', details: { endpoint: 'x'.repeat(250) } })
      for (let i = 0; i < LONGEST_TRAIL / long.length + 5; i++)
        await authorizations.attempt(id, 0, attempt(`s${i}`), 1, long)
      const { entries, isCut } = await trailOf()
      expect(isCut).toBe(true)
      expect(entries.length).toBeLessThan(10)
      expect(entries.at(-1)).toMatchObject({ step: 'clicked' })
    })

    test('have the time at which the link was first opened', async () => {
      await using opened = await open()
      const { id, store, other } = await begun(opened)
      await store.authorizations.opened(new Map([[id, 20]]))
      await store.authorizations.opened(new Map([[id, 30]]))
      expect(await other.authorizations.trail(id)).toMatchObject({ openedAt: 20 })
      await store.authorizations.opened(new Map([[id, 10]]))
      expect(await other.authorizations.trail(id)).toMatchObject({ openedAt: 10 })
      expect(await other.authorizations.trail('auth_unknown')).toBeUndefined()
    })

    test('of a connection are replaced by each failed refresh, and deleted by a successful one', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner, projectId } = await inProject(store)
      const { id } = await connected(store, owner)
      const { connections } = store
      const lease = { owner: 'me', seconds: 60 }
      const trail = () => other.connections.trail(id)
      expect(await trail()).toBeUndefined()
      expect(await other.connections.troubled(projectId, 10)).toEqual([])
      await connections.claimRefresh(id, 1, lease, 0)
      await connections.releaseRefresh(id, 'me', 'answered', 'first')
      expect(await trail()).toBe('first')
      expect(await connections.claimRefresh(id, 1, lease, 0)).toMatchObject({ trail: 'first' })
      await connections.releaseRefresh(id, 'me', 'answered')
      expect(await trail(), 'a release without a trail changes nothing').toBe('first')
      expect(await other.connections.troubled(projectId, 10)).toMatchObject([{ id, trail: 'first' }])
      expect(await other.connections.find(id)).not.toHaveProperty('trail')
      await connections.settleRefresh(id, 1, refreshed())
      expect(await trail()).toBeUndefined()
      await connections.needsAuthorization(id, 2, 'refresh_refused', undefined, undefined, 'why')
      expect(await trail()).toBe('why')
    })

    test('of a connection are deleted by a new consent', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner, entry } = await inProject(store)
      const { id } = await connected(store, owner)
      await store.connections.needsAuthorization(id, 1, 'refresh_refused', undefined, undefined, 'why')
      await connected(store, owner, { id })
      expect(await other.connections.trail(id)).toBeUndefined()
      expect(await other.connections.hasIdentity(entry.uid, 'identity')).toBe(true)
      expect(await other.connections.hasIdentity(entry.uid, 'another')).toBe(false)
    })
  })
}
