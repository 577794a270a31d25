import { describe, expect, test } from 'vitest'
import type { Connection } from '../../src/domain/connection.ts'
import type { Store } from '../../src/store/store.ts'
import {
  claimed,
  connected,
  connection,
  defined,
  inProject,
  type OpenedStore,
  providerEntry,
  refreshed,
  sealed,
} from './fixtures.ts'

/** Tests the promises of `Connections`. */
export function connectionPromises(open: () => Promise<OpenedStore>): void {
  describe('connections', () => {
    async function withConnection(opened: OpenedStore) {
      const { owner } = await inProject(opened.store)
      const { id } = await connected(opened.store, owner)
      const { connections } = opened.store
      return { id, owner, connections, others: opened.other.connections }
    }
    const account = (id: string) => ({ account: { id, name: id } })
    const lease = (owner: string, seconds = 25) => ({ owner, seconds })

    describe('the default', () => {
      const defaults = (all: readonly Connection[]) => all.map((one) => [one.account.id, one.isDefault])

      test.each([
        [
          'is the first connection of its owner',
          false,
          [
            ['a', true],
            ['b', false],
          ],
        ],
        [
          'is the newest connection when its consent asks for that',
          true,
          [
            ['b', true],
            ['a', false],
          ],
        ],
      ])('%s', async (_, makeDefault, expected) => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await connected(store, owner, account('a'))
        await connected(store, owner, account('b'), { makeDefault })
        expect(defaults(await store.connections.ofOwner(owner))).toEqual(expected)
      })

      test('is one of two first connections that are stored at once', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { owner } = await inProject(store)
        for (let i = 0; i < 10; i++) {
          const of = { ...owner, userId: `user ${i}` }
          const claims = [
            await claimed(store, of, { state: `first ${i}` }),
            await claimed(store, of, { state: `second ${i}` }),
          ]
          const storing = claims.map((claim, at) =>
            (at === 0 ? store : other).authorizations.finishStep(
              claim,
              connection(of, account(`account ${at}`)),
              { makeDefault: false },
              1,
            ),
          )
          expect(await Promise.all(storing)).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
          const stored = await store.connections.ofOwner(of)
          expect(stored.map(({ isDefault }) => isDefault)).toEqual([true, false])
        }
      })

      test('gets the new identity of its provider entry, at that entry only', async () => {
        await using opened = await open()
        const { store } = opened
        const [{ owner }, { owner: other }] = [await inProject(store), await inProject(store, 'another')]
        const kept = await connected(store, owner, account('a'))
        const elsewhere = await connected(store, other, account('a'))
        const from = [kept.providerIdentity]
        expect(await store.connections.reidentify(owner, { from: ['unknown'], to: 'new' })).toBe(0)
        expect(await store.connections.reidentify(owner, { from, to: 'new' })).toBe(1)
        expect(await store.connections.find(kept.id)).toMatchObject({ providerIdentity: 'new' })
        expect(await store.connections.find(elsewhere.id)).toMatchObject({ providerIdentity: from[0] })

        const entry = defined(await store.providers.findByUid(owner.providerUid))
        const described = defined(await store.providers.change(entry, { ...entry, description: 'x' }))
        expect(await store.connections.find(kept.id)).toMatchObject({ providerIdentity: 'new' })
        await store.providers.change(described, entry, undefined, { from: ['new'], to: 'newer' })
        expect(await store.connections.find(kept.id)).toMatchObject({ providerIdentity: 'newer' })
      })

      test('is the connection that was chosen as default', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        await connected(store, owner, account('a'))
        const second = await connected(store, owner, account('b'))
        await store.connections.makeDefault(second.id)
        expect(defaults(await store.connections.ofOwner(owner))).toEqual([
          ['b', true],
          ['a', false],
        ])
      })

      test('does not change by an import: an account is imported once, and replaced only under the same id', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const known = await connected(store, owner, account('a'))
        const keep = { replaces: false, makeDefault: false }
        const replace = { replaces: true, makeDefault: true }
        const other = { ...known, id: 'conn_other', access: sealed('another') }
        expect(await store.connections.addImported(other, keep)).toBe('present')
        expect(await store.connections.addImported(other, replace)).toBe('present')
        expect(await store.connections.find('conn_other')).toBeUndefined()
        expect(await store.connections.addImported({ ...other, account: { id: 'b', name: 'b' } }, keep)).toBe(
          'created',
        )
        expect(defaults(await store.connections.ofOwner(owner))).toEqual([
          ['a', true],
          ['b', false],
        ])
        expect(await store.connections.addImported({ ...known, access: sealed('newer') }, replace)).toBe(
          'replaced',
        )
        expect(await store.connections.find(known.id)).toMatchObject({ access: 'newer', generation: 2 })
      })

      test('is the next connection when the default is deleted', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner } = await inProject(store)
        const first = await connected(store, owner, account('a'))
        await connected(store, owner, account('b'))
        await connected(store, owner, account('c'))
        expect(await store.connections.delete(first.id)).toMatchObject({ id: first.id, access: 'access 1' })
        expect(defaults(await store.connections.ofOwner(owner))).toEqual([
          ['b', true],
          ['c', false],
        ])
      })

      test('is chosen for each user and provider apart', async () => {
        await using opened = await open()
        const { store } = opened
        const { owner, projectId } = await inProject(store)
        const next = providerEntry({ projectId, id: 'next' })
        await store.providers.add(next)
        for (const one of [owner, { ...owner, userId: 'bob' }, { ...owner, providerUid: next.uid }])
          expect(await connected(store, one)).toMatchObject({ isDefault: true })
        expect(await store.connections.ofOwner(owner)).toHaveLength(1)
      })
    })

    describe('a refresh', () => {
      test('is leased to one of several racing processes', async () => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        const racing = [connections, others, connections, others].map((one, i) =>
          one.claimRefresh(id, 1, lease(`process ${i}`), 0),
        )
        const won = (await Promise.all(racing)).filter((one) => one !== undefined)
        expect(won).toMatchObject([{ id, generation: 1, refresh: 'refresh 1' }])
      })

      test.each([
        ['is still held', 25, 1, false],
        ['has run out', 0, 1, true],
        ['has run out, but the tokens were replaced since,', 0, 2, false],
      ])('whose lease %s is taken over: %s', async (_, seconds, generation, given) => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('dead', seconds), 0)
        const taken = await others.claimRefresh(id, generation, lease('heir'), 0)
        expect(taken !== undefined).toBe(given)
      })

      test('is not leased for a connection that needs a new consent', async () => {
        await using opened = await open()
        const { id, connections } = await withConnection(opened)
        await connections.needsAuthorization(id, 1, 'refresh_refused')
        expect(await connections.claimRefresh(id, 1, lease('me'), 0)).toBeUndefined()
      })

      test('stores its tokens, releases the lease and counts the generation up', async () => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('me'), 0)
        const settled = await connections.settleRefresh(id, 1, refreshed({ scopes: ['less'] }))
        expect(settled).toMatchObject({
          generation: 2,
          access: 'access 2',
          refresh: 'refresh 2',
          scopes: ['less'],
          receivedAt: 3600,
          expiresAt: 7200,
          status: 'active',
        })
        expect(await others.find(id)).toEqual(settled)
        expect(await others.claimRefresh(id, 2, lease('next'), 1)).toBeDefined()
      })

      test('keeps the refresh token when there is no new one, and deletes the expiry when the provider names none', async () => {
        await using opened = await open()
        const { id, connections } = await withConnection(opened)
        const { refresh: _, expiresAt: __, ...tokens } = refreshed()
        const settled = await connections.settleRefresh(id, 1, tokens)
        expect(settled).toMatchObject({ access: 'access 2', refresh: 'refresh 1' })
        expect(settled).not.toHaveProperty('expiresAt')
      })

      test('whose lease has run out is stored if its tokens are of the generation that it used', async () => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('slow', 0), 0)
        await others.claimRefresh(id, 1, lease('heir'), 0)
        expect(await connections.settleRefresh(id, 1, refreshed())).toMatchObject({ generation: 2 })
      })

      test.each([
        [
          'another refresh',
          async (store: Store, id: string) =>
            void (await store.connections.settleRefresh(id, 1, refreshed())),
        ],
        [
          'a new consent',
          async (store: Store, id: string) => {
            const known = await store.connections.find(id)
            if (known) await connected(store, known, { id })
          },
        ],
        ['a revocation', async (store: Store, id: string) => void (await store.connections.delete(id))],
      ])('is not stored over %s', async (_, meanwhile) => {
        await using opened = await open()
        const { id, connections } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('me'), 0)
        await meanwhile(opened.other, id)
        const stored = await connections.find(id)
        expect(await connections.settleRefresh(id, 1, refreshed({ scopes: ['late'] }))).toBeUndefined()
        expect(await connections.find(id)).toEqual(stored)
      })

      test.each([
        ['its owner frees it', 'me', true],
        ['another process changes nothing', 'heir', false],
      ])('whose lease is released: %s', async (_, who, free) => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('me'), 0)
        await others.releaseRefresh(id, who, 'answered')
        expect((await others.claimRefresh(id, 1, lease('next'), 1)) !== undefined).toBe(free)
      })

      test.each([
        ['answered', 0],
        ['unknown', 1],
      ] as const)('whose lease is released as %s leaves %i unanswered', async (outcome, unanswered) => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        expect(await connections.claimRefresh(id, 1, lease('me'), 0)).toMatchObject({
          unansweredRefreshes: 1,
        })
        await connections.releaseRefresh(id, 'me', outcome)
        expect(await others.find(id)).toMatchObject({ unansweredRefreshes: unanswered })
      })

      test('gives the time that its lease has left to the owner of the lease only', async () => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('me', 0), 0)
        expect(await others.leaseLeft(id, 1, 'me', 0)).toBeLessThanOrEqual(0)
        await others.claimRefresh(id, 1, lease('heir', 60), 0)
        expect(await connections.leaseLeft(id, 1, 'me', 0)).toBeUndefined()
        expect(await connections.leaseLeft(id, 2, 'heir', 0)).toBeUndefined()
        const left = await connections.leaseLeft(id, 1, 'heir', 0)
        expect(left).toBeGreaterThan(50)
        expect(left).toBeLessThanOrEqual(60)
      })

      test('that another process has leased is not ended by the late refusal of the former owner', async () => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('me', 0), 0)
        await others.claimRefresh(id, 1, lease('heir'), 0)
        expect(
          await connections.needsAuthorization(id, 1, 'refresh_refused', undefined, { leaseOwner: 'me' }),
        ).toBe(false)
        expect(await connections.find(id)).toMatchObject({ status: 'active' })
        expect(
          await others.needsAuthorization(id, 1, 'refresh_refused', undefined, { leaseOwner: 'heir' }),
        ).toBe(true)
      })

      test('does not end a connection that was given another provider identity meanwhile', async () => {
        await using opened = await open()
        const { id, connections } = await withConnection(opened)
        const { providerIdentity = '' } = (await connections.find(id)) ?? {}
        const mark = (identity: string) =>
          connections.needsAuthorization(id, 1, 'provider_changed', undefined, { providerIdentity: identity })
        expect(await mark('former')).toBe(false)
        expect(await connections.find(id)).toMatchObject({ status: 'active' })
        expect(await mark(providerIdentity)).toBe(true)
      })

      test('whose process died is counted as unanswered until tokens are stored', async () => {
        await using opened = await open()
        const { id, connections, others } = await withConnection(opened)
        await connections.claimRefresh(id, 1, lease('dead', 0), 0)
        const heir = await others.claimRefresh(id, 1, lease('heir'), 0)
        expect(heir).toMatchObject({ unansweredRefreshes: 2 })
        expect(await others.settleRefresh(id, 1, refreshed())).toMatchObject({ unansweredRefreshes: 0 })
      })

      test.each([
        ['the generation that was refused', 1, true],
        ['no other generation', 2, false],
      ])('that the provider refuses marks %s', async (_, generation, marked) => {
        await using opened = await open()
        const { id, connections } = await withConnection(opened)
        expect(await connections.needsAuthorization(id, generation, 'refresh_refused')).toBe(marked)
        expect(await connections.find(id)).toMatchObject(
          marked ? { status: 'needs_authorization', statusReason: 'refresh_refused' } : { status: 'active' },
        )
      })
    })

    test('note since when the API refuses a typed credential, until it takes it or is given another', async () => {
      await using opened = await open()
      const { id, owner, connections, others } = await withConnection(opened)
      expect(await connections.countRefusal(id, 1, 100)).toBe(100)
      expect(await others.countRefusal(id, 1, 130)).toBe(100)
      expect(await others.find(id)).toMatchObject({ refusedAt: 100 })
      await connections.endRefusal(id, 1)
      expect(await others.find(id)).not.toHaveProperty('refusedAt')
      expect(await connections.countRefusal(id, 1, 200)).toBe(200)
      await connected(opened.store, owner, { id })
      expect(await connections.countRefusal(id, 1, 210)).toBeUndefined()
      expect(await connections.countRefusal(id, 2, 220)).toBe(220)
      await connections.needsAuthorization(id, 2, 'credential_refused')
      expect(await connections.countRefusal(id, 2, 230)).toBeUndefined()
    })

    test('are due for a refresh when they are in use, have a long lifetime and expire soon', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const put = async (userId: string, usedAt: number | undefined, more: Partial<Connection> = {}) => {
        const { id } = await connected(store, { ...owner, userId }, more)
        if (usedAt !== undefined) await store.connections.used(new Map([[id, usedAt]]))
        return id
      }
      const later = await put('later', 10, { receivedAt: 0, expiresAt: 3500 })
      const due = await put('due', 10, { receivedAt: 0, expiresAt: 3400 })
      await put('unused', undefined, { receivedAt: 0, expiresAt: 3400 })
      await put('short-lived', 3390, { receivedAt: 3380, expiresAt: 3400 })
      await put('run out', 10, { receivedAt: 0, expiresAt: 3000 })
      await put('not yet', 10, { receivedAt: 0, expiresAt: 4000 })
      await put('endless', 10, { receivedAt: 0, expiresAt: undefined as never })
      const claimed = await put('under way', 10, { receivedAt: 0, expiresAt: 3400 })
      await store.connections.claimRefresh(claimed, 1, lease('me'), 3000)
      const refused = await put('refused', 10, { receivedAt: 0, expiresAt: 3400 })
      await store.connections.needsAuthorization(refused, 1, 'refresh_refused')
      const ids = async (limit: number) =>
        (await store.connections.dueForRefresh(3600, 300, 3000, limit)).map((one) => one.id)
      expect(await ids(10)).toEqual([due, later])
      expect(await ids(1)).toEqual([due])
    })

    test('are due at their own refresh time, which can be postponed', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const put = async (userId: string, more: Partial<Connection>) =>
        (await connected(store, { ...owner, userId }, more)).id
      const second = await put('second', { refreshAt: 200 })
      const first = await put('first', { refreshAt: 100, refresh: undefined as never })
      await put('not yet', { refreshAt: 301 })
      await put('without a time', {})
      const claimed = await put('under way', { refreshAt: 100 })
      await store.connections.claimRefresh(claimed, 1, lease('me'), 300)
      const refused = await put('refused', { refreshAt: 100 })
      await store.connections.needsAuthorization(refused, 1, 'refresh_refused')
      const ids = async (limit = 10) =>
        (await store.connections.dueByRefreshAt(300, limit)).map((one) => one.id)
      expect(await ids()).toEqual([first, second])
      expect(await ids(1)).toEqual([first])
      await store.connections.postponeRefresh(first, 2, 900) // of another generation of tokens
      expect(await ids(1)).toEqual([first])
      await store.connections.postponeRefresh(first, 1, 900)
      expect(await ids()).toEqual([second])
      await store.connections.postponeRefresh(second, 1, undefined)
      expect(await ids()).toEqual([])
      expect((await store.connections.find(second))?.refreshAt).toBeUndefined()
      const found = await store.connections.find(claimed)
      expect(found).toMatchObject({ unansweredRefreshes: 1, unansweredSince: 300 })
    })

    test('keep the expiry of a refresh token that a new consent does not replace', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const { id } = await connected(store, owner, { refreshExpiresAt: 5000, refreshAt: 4000 })
      await connected(store, owner, { id, refresh: undefined as never, generation: 1 })
      expect(await store.connections.find(id)).toMatchObject({ refreshExpiresAt: 5000, refreshAt: 4000 })
      await connected(store, owner, { id, refreshExpiresAt: 6000 })
      expect(await store.connections.find(id)).toMatchObject({ refreshExpiresAt: 6000 })
      expect((await store.connections.find(id))?.refreshAt).toBeUndefined()
    })

    test('keep neither the refresh token nor its times when a new consent is for another identity', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const { id } = await connected(store, owner, { refreshExpiresAt: 5000, refreshAt: 4000 })
      const other = { id, refresh: undefined as never, providerIdentity: 'another' }
      await connected(store, owner, other)
      const stored = await store.connections.find(id)
      for (const member of ['refresh', 'refreshExpiresAt', 'refreshAt'])
        expect(stored).not.toHaveProperty(member)
    })

    test('are listed by page, user and provider, and only those of one project', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, projectId } = await inProject(store)
      const ids: string[] = []
      for (const userId of ['ada', 'bob', 'cleo']) ids.push((await connected(store, { ...owner, userId })).id)
      const foreign = await inProject(store, 'another')
      await connected(store, foreign.owner)
      const list = async (filter: object, page = { offset: 0, limit: 10 }) => {
        const { items, total } = await store.connections.list(projectId, filter, page)
        return { ids: items.map(({ id }) => id), total }
      }
      expect(await list({})).toEqual({ ids, total: 3 })
      expect(await list({}, { offset: 1, limit: 1 })).toEqual({ ids: [ids[1]], total: 3 })
      expect(await list({}, { offset: 3, limit: 10 })).toEqual({ ids: [], total: 3 })
      expect(await list({ userId: 'bob' })).toEqual({ ids: [ids[1]], total: 1 })
      expect(await list({ providerUid: owner.providerUid, userId: 'ada' })).toMatchObject({ total: 1 })
      expect(await list({ providerUid: foreign.owner.providerUid })).toEqual({ ids: [], total: 0 })
      expect(await store.connections.ofOwner({ ...owner, projectId: foreign.projectId })).toEqual([])
    })

    test('of many owners, read at once, are given to their own owner, the default first', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const foreign = await inProject(store, 'another')
      // ids that contain a separator must not make two owners look the same
      const names = [
        'ada',
        'ad',
        'a b',
        'a\nb',
        'a","b',
        '{}',
        'ünïcode 🙂',
        ...Array.from({ length: 250 }, (_, i) => `user-${i}`),
      ]
      const owners = names.map((userId) => ({ ...owner, userId }))
      for (const one of owners.slice(0, 12)) {
        await connected(store, one, account('x'))
        await connected(store, one, account('y'), { makeDefault: true })
      }
      await connected(store, { ...foreign.owner, userId: 'ada' }, account('z'))
      const unstorable = ['\0', '\ud800'].map((userId) => ({ ...owner, userId }))
      const everyOwner = [...owners, { ...foreign.owner, userId: 'ada' }]
      const [found] = await Promise.all([
        Promise.all(everyOwner.map((one) => store.connections.ofOwner(one))),
        Promise.allSettled(unstorable.map((one) => store.connections.ofOwner(one))),
      ])
      const seen = found.map((all) => all.map(({ userId, account: { id } }) => `${userId} ${id}`))
      expect(seen).toEqual([...names.map((name, i) => (i < 12 ? [`${name} y`, `${name} x`] : [])), ['ada z']])
    })

    test('keep when they were last used', async () => {
      await using opened = await open()
      const { id, connections } = await withConnection(opened)
      await connections.used(
        new Map([
          [id, 77],
          ['conn_gone', 78],
        ]),
      )
      expect(await connections.find(id)).toMatchObject({ lastUsedAt: 77, generation: 1 })
    })

    test('are deleted once', async () => {
      await using opened = await open()
      const { id, connections } = await withConnection(opened)
      expect(await connections.delete(id)).toMatchObject({ id })
      expect(await connections.delete(id)).toBeUndefined()
      expect(await connections.find(id)).toBeUndefined()
    })
  })
}
