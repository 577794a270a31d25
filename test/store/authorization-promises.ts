import { describe, expect, test } from 'vitest'
import { type Attempt, authorizationAt } from '../../src/domain/authorization.ts'
import type { Connection } from '../../src/domain/connection.ts'
import type { ConnectionOwner } from '../../src/store/changes.ts'
import type { Store } from '../../src/store/store.ts'
import { SEALED_COLUMNS } from '../../src/store/store-parts.ts'
import {
  attempt,
  claimed,
  connected,
  connection,
  defined,
  inProject,
  type OpenedStore,
  pending,
  providerEntry,
  refreshed,
  sealed,
  until,
} from './fixtures.ts'

/** Tests the promises of `Authorizations`. Time is the number that is passed; authorizations live from 0 to 600. */
export function authorizationPromises(open: () => Promise<OpenedStore>): void {
  describe('authorizations', () => {
    const begun = (store: Store, owner: ConnectionOwner, of = {}) =>
      store.authorizations.begin(pending(owner, of), 'share', 0)

    /** Begins an authorization and its first attempt, as the click of its user does. */
    async function attempted(store: Store, owner: ConnectionOwner, of: Partial<Attempt> = {}) {
      const { id } = await begun(store, owner)
      return defined(await store.authorizations.attempt(id, 0, attempt('s1', of), 1))
    }

    /** The envelopes of authorizations in a column. */
    async function envelopesOf(store: Store, column: 'response' | 'secrets') {
      const sealedColumn = defined(
        SEALED_COLUMNS.find((one) => one.table === 'authorizations' && one.column === column),
      )
      return store.envelopes.ofOtherKeys(sealedColumn, 'no key', '', 10)
    }

    describe('begin', () => {
      test('stores its arguments', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const fresh = pending(owner, {
          requester: 'Who am I',
          account: 'new',
          nextUri: 'https://app.example.test/',
        })
        expect(await store.authorizations.begin(fresh, 'share', 0)).toEqual(fresh)
        expect(await other.authorizations.find(fresh.id)).toEqual(fresh)
      })

      test.each([
        ['returns the one that is pending', 599, true],
        ['replaces the one that has expired', 600, false],
      ])('%s', async (_, now, shared) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const first = await begun(store, owner)
        const second = await store.authorizations.begin(pending(owner, { expiresAt: 2000 }), 'share', now)
        expect(second.id === first.id).toBe(shared)
        expect(second.status).toBe('pending')
      })

      test('fails the expired one that it replaces', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const first = await attempted(store, owner)
        await store.authorizations.begin(pending(owner, { expiresAt: 2000 }), 'share', 700)
        expect(await store.authorizations.find(first.id)).toMatchObject({
          status: 'failed',
          reason: 'expired',
          completedAt: 600,
        })
      })

      test('returns one that is being exchanged, also when its deadline has passed', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        await store.authorizations.claim('s1', 2, until(30))
        for (const now of [10, 40])
          expect(await store.authorizations.begin(pending(owner), 'share', now)).toMatchObject({ id })
      })

      test.each(['completed', 'failed'])('begins a new one beside one that has %s', async (end) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        const claim = defined(await store.authorizations.claim('s1', 2, until(30)))
        if (end === 'failed') await store.authorizations.fail(id, 'access_denied', 'no', 3)
        else await store.authorizations.finishStep(claim, connection(owner), { makeDefault: true }, 3)
        const next = await begun(store, owner)
        expect(next.id).not.toBe(id)
        expect(await store.authorizations.find(id)).toMatchObject({ status: end })
      })

      test('returns the same one to racing calls', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const racing = [store, other, store, other].map((one) => begun(one, owner))
        expect(new Set((await Promise.all(racing)).map(({ id }) => id)).size).toBe(1)
      })

      test('returns different ones for different needs', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const first = await store.authorizations.begin(pending(owner), 'share 1', 0)
        expect((await store.authorizations.begin(pending(owner), 'share 2', 0)).id).not.toBe(first.id)
      })

      test.each([
        ['replaces', 'https://new.example.test/', 'https://new.example.test/'],
        ['keeps, without another,', undefined, 'https://old.example.test/'],
      ])('%s the next URI of one that it shares', async (_, given, expected) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await begun(store, owner, { nextUri: 'https://old.example.test/' })
        const shared = await begun(store, owner, given === undefined ? {} : { nextUri: given })
        expect(shared.nextUri).toBe(expected)
      })
    })

    describe('a check of typed credentials', () => {
      test('is counted for at most as many as there may be, also in processes that race', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const { id } = await begun(store, owner)
        const racing = [store, other, store, other, store, other, store].map((one) =>
          one.authorizations.countTry(id, 0, 5, 1),
        )
        const counted = (await Promise.all(racing)).filter((tries) => tries !== undefined)
        expect(counted.sort()).toEqual([1, 2, 3, 4, 5])
        expect(await store.authorizations.countTry(id, 0, 6, 2)).toBe(6)
      })

      test('is not counted at another step, or after the end', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await begun(store, owner)
        expect(await store.authorizations.countTry(id, 1, 5, 1)).toBeUndefined()
        expect(await store.authorizations.countTry(id, 0, 5, 600)).toBeUndefined()
        await store.authorizations.fail(id, 'provider_refused', '', 2)
        expect(await store.authorizations.countTry(id, 0, 5, 3)).toBeUndefined()
      })
    })

    test('a check of typed credentials is not counted while the authorization is exchanging, and is once that has lapsed', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const { id } = await attempted(store, owner)
      await store.authorizations.claim('s1', 2, until(30))
      expect(await store.authorizations.countTry(id, 0, 5, 29)).toBeUndefined()
      expect(await store.authorizations.countTry(id, 0, 5, 30)).toBe(1)
    })

    describe('attempt', () => {
      test('starts an attempt and ends the earlier one', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        const second = await store.authorizations.attempt(id, 0, attempt('s2', { browserHash: 'b2' }), 2)
        expect(second).toMatchObject({
          id,
          status: 'pending',
          attempt: { stateHash: 's2', browserHash: 'b2' },
        })
        expect(await store.authorizations.findByState('s1')).toBeUndefined()
        expect(await store.authorizations.claim('s1', 3, until(30))).toBeUndefined()
        expect(await store.authorizations.claim('s2', 3, until(30))).toMatchObject({ id })
      })

      test('ends an earlier one that waits for its user to be confirmed', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        await store.authorizations.confirming(
          's1',
          { flowHash: 'f1', response: sealed('r'), deadline: 500 },
          2,
        )
        expect(await store.authorizations.attempt(id, 0, attempt('s2'), 3)).toMatchObject({
          status: 'pending',
        })
        expect(await store.authorizations.findByFlow('f1')).toBeUndefined()
      })

      test.each([
        ['has expired', 0, 600, async () => {}],
        ['is at another step by now', 1, 1, async () => {}],
        ['has failed', 0, 3, (store: Store, id: string) => store.authorizations.fail(id, 'expired', '', 2)],
        ['is being exchanged', 0, 29, (store: Store) => store.authorizations.claim('s1', 2, until(30))],
        [
          'is completed',
          0,
          3,
          async (store: Store, _: string, owner: ConnectionOwner) => {
            const claim = defined(await store.authorizations.claim('s1', 2, until(30)))
            await store.authorizations.finishStep(claim, connection(owner), { makeDefault: true }, 3)
          },
        ],
      ])('is refused, and changes nothing, when the authorization %s', async (_, step, now, before) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        await before(store, id, owner)
        const stored = await store.authorizations.find(id)
        expect(await store.authorizations.attempt(id, step, attempt('s2'), now)).toBeUndefined()
        expect(await store.authorizations.find(id)).toEqual(stored)
      })

      test('may follow an exchange whose deadline has passed, and that exchange can no longer finish', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const dead = await claimed(store, owner, { state: 's1', deadline: 30 })
        const again = await other.authorizations.attempt(dead.id, 0, attempt('s2'), 30)
        expect(again).toMatchObject({ status: 'pending', attempt: { stateHash: 's2' } })
        expect(
          await store.authorizations.finishStep(dead, connection(owner), { makeDefault: true }, 31),
        ).toBeUndefined()
        expect(await store.connections.ofOwner(owner)).toEqual([])
        expect(await store.authorizations.claim('s2', 31, until(60))).toMatchObject({ id: dead.id })
      })
    })

    describe('claim', () => {
      test('gives an attempt to one of several racing calls', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        const racing = [store, other, store, other].map((one) => one.authorizations.claim('s1', 2, until(30)))
        const won = (await Promise.all(racing)).filter((one) => one !== undefined)
        expect(won).toMatchObject([
          { id, status: 'exchanging', deadline: 30, attempt: { secrets: 'verifier' } },
        ])
      })

      test('gives an attempt only once, even after its deadline', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await attempted(store, owner)
        expect(await store.authorizations.claim('s1', 2, until(30))).toBeDefined()
        expect(await store.authorizations.claim('s1', 40, until(70))).toBeUndefined()
      })

      test.each([
        ['in time', 's1', 599, true],
        ['expired', 's1', 600, false],
        ['of an unknown state', 'made up', 2, false],
      ])('of an attempt that is %s: %s', async (_, state, now, given) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await attempted(store, owner)
        expect((await store.authorizations.claim(state, now, until(now + 30))) !== undefined).toBe(given)
      })

      test('finds one authorization for a state: a second attempt with the same state is refused', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await attempted(store, owner)
        const second = await store.authorizations.begin(pending(owner), 'another', 0)
        await expect(store.authorizations.attempt(second.id, 0, attempt('s1'), 1)).rejects.toThrow()
      })
    })

    describe('confirming', () => {
      const held = (flowHash: string, deadline = 500) => ({
        flowHash,
        response: sealed(`response ${flowHash}`),
        deadline,
      })

      test('keeps the response of an attempt once', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        const racing = [
          store.authorizations.confirming('s1', held('f1'), 2),
          other.authorizations.confirming('s1', held('f2'), 2),
        ]
        const won = (await Promise.all(racing)).filter((one) => one !== undefined)
        expect(won).toHaveLength(1)
        const { flowHash } = defined(won[0])
        expect(await store.authorizations.findByFlow(flowHash)).toMatchObject({
          id,
          status: 'confirming',
          response: `response ${flowHash}`,
        })
      })

      test('is claimed after the user is confirmed, not before, and is found by its flow id to the end', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        await store.authorizations.confirming('s1', held('f1'), 2)
        const confirmed = { ...until(30), from: 'confirmed' } as const
        for (const claim of [until(30), confirmed])
          expect(await store.authorizations.claim('s1', 3, claim)).toBeUndefined()
        expect(await store.authorizations.confirm('another flow', 3)).toBeUndefined()
        const both = [store, other].map((one) => one.authorizations.confirm('f1', 3))
        expect((await Promise.all(both)).filter((one) => one !== undefined)).toMatchObject([
          { id, status: 'confirmed', response: 'response f1' },
        ])
        expect(await store.authorizations.claim('s1', 3, until(30))).toBeUndefined()
        const claims = [store, other].map((one) => one.authorizations.claim('s1', 3, confirmed))
        const claim = defined((await Promise.all(claims)).find((one) => one !== undefined))
        expect(claim).toMatchObject({ status: 'exchanging', flowHash: 'f1' })
        expect(await store.authorizations.claim('s1', 3, confirmed)).toBeUndefined()
        expect(await envelopesOf(store, 'response')).toEqual([]) // only the process that sends the code has it
        await store.authorizations.finishStep(claim, connection(owner), { makeDefault: true }, 4)
        expect(await store.authorizations.findByFlow('f1')).toMatchObject({ status: 'completed' })
      })

      test.each(['confirming', 'confirmed'] as const)(
        'keeps the response of one that is %s until its deadline, and no longer',
        async (status) => {
          await using opened = await open()
          const { store, other } = opened
          const { owner } = await inProject(store)
          const { id } = await attempted(store, owner)
          await store.authorizations.confirming('s1', held('f1', 50), 2)
          if (status === 'confirmed') await store.authorizations.confirm('f1', 3)
          expect(await other.authorizations.forgetResponses(49)).toBe(0)
          expect(authorizationAt(defined(await store.authorizations.find(id)), 49).status).toBe(status)
          expect(authorizationAt(defined(await store.authorizations.find(id)), 50).status).toBe('pending')
          expect(await store.authorizations.confirm('f1', 50)).toBeUndefined()
          expect(
            await store.authorizations.claim('s1', 50, { ...until(80), from: 'confirmed' }),
          ).toBeUndefined()
          expect(await other.authorizations.forgetResponses(50)).toBe(1)
          expect(await envelopesOf(store, 'response')).toEqual([])
          expect(await envelopesOf(store, 'secrets')).toEqual([])
          expect(await store.authorizations.findByFlow('f1')).toMatchObject({ id, status: 'pending' })
          expect(await store.authorizations.attempt(id, 0, attempt('s2'), 51)).toBeDefined()
        },
      )

      test.each([
        ['an expired attempt', 's1', 600],
        ['an unknown state', 'made up', 2],
      ])('refuses the response of %s', async (_, state, now) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await attempted(store, owner)
        expect(await store.authorizations.confirming(state, held('f1'), now)).toBeUndefined()
      })
    })

    describe('finishStep', () => {
      test.each([
        ['its deadline has passed, but it has not expired: finishes', 599, true, 2],
        ['it has expired, but its deadline has not passed: finishes', 600, true, 590],
        ['both have passed: does not, since callers were answered that it expired', 620, false, 590],
      ])('when %s', async (_, now, finished, claimedAt) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const begun = await store.authorizations.begin(pending(owner, { expiresAt: 600 }), 'share', 0)
        await store.authorizations.attempt(begun.id, 0, attempt('s1'), 1)
        const claim = defined(await store.authorizations.claim('s1', claimedAt, until(claimedAt + 28)))
        const done = await store.authorizations.finishStep(
          claim,
          connection(owner),
          { makeDefault: true },
          now,
        )
        expect(done !== undefined).toBe(finished)
        expect((await store.connections.ofOwner(owner)).length).toBe(finished ? 1 : 0)
      })

      test('stores the connection and completes', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const claim = await claimed(store, owner)
        const fresh = connection(owner)
        const done = await store.authorizations.finishStep(claim, fresh, { makeDefault: false }, 5)
        expect(done).toMatchObject({
          id: claim.id,
          status: 'completed',
          completedAt: 5,
          steps: [{ connectionId: fresh.id }],
        })
        expect(await other.authorizations.find(claim.id)).toEqual(done)
        expect(await other.connections.find(fresh.id)).toEqual({ ...fresh, isDefault: true })
      })

      test('moves on to the next step, for which the user clicks again', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner, projectId, entry } = await inProject(store)
        const next = providerEntry({ projectId, id: 'next' })
        await store.providers.add(next)
        const steps = [entry, next].map(({ uid }) => ({ providerUid: uid, scopes: ['read'] }))
        const { id } = await begun(store, owner, { steps })
        await store.authorizations.attempt(id, 0, attempt('s1'), 1)
        expect(await store.authorizations.countTry(id, 0, 1, 2)).toBe(1)
        const claim = defined(await store.authorizations.claim('s1', 2, until(30)))
        const fresh = connection(owner)
        const after = await store.authorizations.finishStep(claim, fresh, { makeDefault: true }, 5)
        // typed credentials have their tries at each step
        expect(await store.authorizations.countTry(id, 1, 1, 5)).toBe(1)
        expect(after).toMatchObject({ status: 'pending', step: 1, steps: [{ connectionId: fresh.id }, {}] })
        expect(after).not.toHaveProperty('attempt')
        expect(await store.authorizations.attempt(claim.id, 0, attempt('s2'), 6)).toBeUndefined()
        expect(await store.authorizations.attempt(claim.id, 1, attempt('s3'), 6)).toBeDefined()
        const second = defined(await store.authorizations.claim('s3', 7, until(40)))
        const secondOwner = { ...owner, providerUid: next.uid }
        const done = await store.authorizations.finishStep(
          second,
          connection(secondOwner),
          { makeDefault: true },
          8,
        )
        expect(done).toMatchObject({ status: 'completed', steps: [{ connectionId: fresh.id }, {}] })
      })

      test.each([
        [
          'another attempt has followed',
          (store: Store, id: string) => store.authorizations.attempt(id, 0, attempt('s2'), 31),
        ],
        [
          'another attempt is being exchanged',
          async (store: Store, id: string) => {
            await store.authorizations.attempt(id, 0, attempt('s2'), 31)
            await store.authorizations.claim('s2', 32, until(60))
          },
        ],
        ['it has failed', (store: Store, id: string) => store.authorizations.fail(id, 'expired', '', 5)],
        [
          'its provider was deleted',
          (store: Store, _: string, projectId: string) => store.providers.delete(projectId, 'demo'),
        ],
      ])('stores nothing when meanwhile %s', async (_, meanwhile) => {
        await using opened = await open()
        const { store, other } = opened
        const { owner, projectId } = await inProject(store)
        const claim = await claimed(store, owner, { deadline: 30 })
        await meanwhile(other, claim.id, projectId)
        const stored = await store.authorizations.find(claim.id)
        const fresh = connection(owner)
        expect(await store.authorizations.finishStep(claim, fresh, { makeDefault: true }, 33)).toBeUndefined()
        expect(await store.connections.find(fresh.id)).toBeUndefined()
        expect(await store.authorizations.find(claim.id)).toEqual(stored)
      })

      test('finishes once, also when two processes call it', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const claim = await claimed(store, owner)
        const fresh = connection(owner)
        const finish = (one: Store) => one.authorizations.finishStep(claim, fresh, { makeDefault: true }, 5)
        const done = await Promise.all([finish(store), finish(other)])
        expect(done.filter((one) => one !== undefined)).toHaveLength(1)
        expect(await store.connections.find(fresh.id)).toMatchObject({ generation: 1 })
      })

      test('replaces the tokens of an existing connection, and counts its generation up', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const first = await connected(store, owner)
        await store.connections.needsAuthorization(first.id, 1, 'refresh_refused')
        await connected(store, owner, { id: first.id, access: sealed('access 9'), scopes: ['read', 'write'] })
        const again = await store.connections.find(first.id)
        expect(again).toMatchObject({
          status: 'active',
          access: 'access 9',
          scopes: ['read', 'write'],
          generation: 2,
          isDefault: true,
        })
        expect(again).not.toHaveProperty('statusReason')
      })

      test.each<[string, Partial<Connection>, string]>([
        ['older than the stored connection: keeps the stored tokens', { consentedAt: 6 }, 'access 2'],
        ['newer: stores its tokens', { consentedAt: 8 }, 'access 9'],
        ['as old: stores its tokens', { consentedAt: 7 }, 'access 9'],
      ])('of a consent that is %s', async (_, of, access) => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        const { id } = await connected(store, owner, { consentedAt: 7 })
        await connected(store, owner, { account: { id: 'u-2', name: 'Bob' } }, { makeDefault: true })
        await store.connections.settleRefresh(id, 1, refreshed({ receivedAt: 99 }))
        const claim = await claimed(store, owner, { state: 's2' })
        const late = connection(owner, { id, access: sealed('access 9'), ...of })
        const done = await other.authorizations.finishStep(claim, late, { makeDefault: true }, 100)
        expect(done).toMatchObject({ status: 'completed', steps: [{ connectionId: id }] })
        const isWritten = access === 'access 9'
        expect(await store.connections.find(id)).toMatchObject({
          access,
          generation: isWritten ? 3 : 2,
          consentedAt: isWritten ? of.consentedAt : 7,
        })
        const defaults = (await store.connections.ofOwner(owner)).map((one) => [one.id === id, one.isDefault])
        expect(defaults).toEqual([
          [isWritten, true],
          [!isWritten, false],
        ])
      })

      test.each<[string, (store: Store, id: string) => Promise<unknown>, Partial<Connection>]>([
        [
          'needs a consent',
          (store, id) => store.connections.needsAuthorization(id, 1, 'refresh_refused'),
          {},
        ],
        ['is of another provider identity', async () => {}, { providerIdentity: 'other hosts' }],
      ])('of an older consent writes its tokens where the stored connection %s', async (_, meanwhile, of) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await connected(store, owner, { consentedAt: 7 })
        await meanwhile(store, id)
        const claim = await claimed(store, owner, { state: 's2' })
        const late = connection(owner, { id, access: sealed('access 9'), consentedAt: 6, ...of })
        await store.authorizations.finishStep(claim, late, { makeDefault: false }, 100)
        expect(await store.connections.find(id)).toMatchObject({ access: 'access 9', status: 'active' })
      })

      test('keeps the earlier refresh token when the new consent brought none', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await connected(store, owner)
        const { refresh: _, ...without } = connection(owner, { id, access: sealed('access 9') })
        const claim = await claimed(store, owner, { state: 's2' })
        await store.authorizations.finishStep(claim, without, { makeDefault: false }, 5)
        expect(await store.connections.find(id)).toMatchObject({ access: 'access 9', refresh: 'refresh 1' })
      })

      test('deletes the refresh token of another provider identity', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await connected(store, owner)
        const { refresh: _, ...without } = connection(owner, { id, providerIdentity: 'other hosts' })
        const claim = await claimed(store, owner, { state: 's2' })
        await store.authorizations.finishStep(claim, without, { makeDefault: false }, 5)
        expect(await store.connections.find(id)).not.toHaveProperty('refresh')
      })

      test('deletes an expiry that the provider no longer names', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await connected(store, owner)
        const { expiresAt: _, ...without } = connection(owner, { id })
        const claim = await claimed(store, owner, { state: 's2' })
        await store.authorizations.finishStep(claim, without, { makeDefault: false }, 5)
        expect(await store.connections.find(id)).not.toHaveProperty('expiresAt')
      })
    })

    describe('an end', () => {
      test('is final: no later call changes a settled authorization', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const claim = await claimed(store, owner)
        const done = await store.authorizations.finishStep(claim, connection(owner), { makeDefault: true }, 5)
        expect(await store.authorizations.fail(claim.id, 'access_denied', 'late', 6)).toBeUndefined()
        expect(await store.authorizations.claim('s1', 6, until(30))).toBeUndefined()
        expect(await store.authorizations.find(claim.id)).toEqual(done)
      })

      test.each(['pending', 'confirming', 'confirmed', 'exchanging'])(
        'by failure is written once for one that is %s',
        async (status) => {
          await using opened = await open()
          const { store } = opened
          const { owner } = await inProject(store)
          const { id } = await attempted(store, owner)
          if (status === 'confirming' || status === 'confirmed')
            await store.authorizations.confirming(
              's1',
              { flowHash: 'f1', response: sealed('r'), deadline: 500 },
              2,
            )
          if (status === 'confirmed') await store.authorizations.confirm('f1', 2)
          if (status === 'exchanging') await store.authorizations.claim('s1', 2, until(30))
          expect(await store.authorizations.fail(id, 'user_mismatch', 'what to do', 7)).toMatchObject({
            status: 'failed',
            reason: 'user_mismatch',
            message: 'what to do',
            completedAt: 7,
          })
          expect(await store.authorizations.fail(id, 'expired', '', 8)).toBeUndefined()
        },
      )

      test('deletes the secrets, and a late browser still finds the authorization by its state', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const { id } = await attempted(store, owner)
        await store.authorizations.fail(id, 'access_denied', 'no', 3)
        const late = await store.authorizations.findByState('s1')
        expect(late).toMatchObject({ id, status: 'failed' })
        expect(JSON.stringify(late)).not.toContain('verifier')
      })
    })

    test('of one user at one provider have a limit; a need that has a live one still gets that one', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const another = await inProject(store, 'another')
      const { authorizations } = store
      const add = (share: string, of = owner, more = {}, now = 0) =>
        authorizations.begin(pending(of, more), share, now, 2)
      const first = await add('a', owner, { expiresAt: 20 })
      const second = await add('b')
      await expect(add('c')).rejects.toMatchObject({ code: 'too_many_pending', retryAfter: 20 })
      expect(await add('b')).toMatchObject({ id: second.id })
      await add('d', { ...owner, userId: 'another user' })
      await add('e', another.owner)
      await authorizations.begin(pending(owner), 'f', 0)
      expect(await authorizations.countLive(owner.projectId, 0)).toBe(4)

      await authorizations.fail(second.id, 'access_denied', '', 1)
      await expect(add('g')).rejects.toMatchObject({ code: 'too_many_pending' })
      await add('g', owner, {}, 20) // the first has expired
      expect(await authorizations.countLive(owner.projectId, 20)).toBe(3)
      expect(await authorizations.find(first.id)).toMatchObject({ status: 'pending' })
      await expect(authorizations.begin(pending(another.owner), 'h', 20, 0)).rejects.toMatchObject({
        retryAfter: 60,
      })
    })

    test('are swept when they expired before the given time and had settled by then or never', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const { authorizations } = store
      const settled = await authorizations.begin(pending(owner, { expiresAt: 100 }), 'a', 0)
      await authorizations.fail(settled.id, 'access_denied', '', 90)
      const ranOut = await authorizations.begin(pending(owner, { expiresAt: 100 }), 'b', 0)
      const live = await authorizations.begin(pending(owner), 'c', 0)
      const late = await authorizations.begin(pending(owner, { expiresAt: 100 }), 'd', 0)
      await authorizations.fail(late.id, 'provider_unavailable', '', 120)
      expect(await authorizations.sweep(101)).toBe(2)
      const left = await Promise.all(
        [settled, ranOut, live, late].map(async ({ id }) => (await authorizations.find(id)) !== undefined),
      )
      expect(left).toEqual([false, false, true, true])
    })
  })
}
