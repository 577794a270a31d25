import { describe, expect, test } from 'vitest'
import type { StoreChange } from '../../src/store/changes.ts'
import type { Store } from '../../src/store/store.ts'
import { featureParts } from '../feature-parts.ts'
import { auditPromises } from './audit-promises.ts'
import { authorizationPromises } from './authorization-promises.ts'
import { connectionPromises } from './connection-promises.ts'
import { consolePromises } from './console-promises.ts'
import { executionPromises } from './execution-promises.ts'
import {
  apiKey,
  attempt,
  claimed,
  connected,
  connection,
  execution,
  inProject,
  type OpenedStore,
  pending,
  providerEntry,
  refreshed,
  scheduledRun,
  sealed,
  secret,
  tool,
  until,
  worker,
} from './fixtures.ts'
import { keyPromises } from './key-promises.ts'
import { mcpPromises } from './mcp-promises.ts'
import { pageSessionPromises } from './page-session-promises.ts'
import { processPromises } from './process-promises.ts'
import { serverPromises } from './server-promises.ts'
import { storedFilePromises } from './stored-file-promises.ts'
import { suspendedCallPromises } from './suspended-call-promises.ts'
import { toolPromises } from './tool-promises.ts'
import { trailPromises } from './trail-promises.ts'

const promisesOfFeatures = await featureParts<(open: () => Promise<OpenedStore>) => void>('store-promises')

/** Tests every promise of `src/store/store.ts`, for every store. `open` opens an empty database as two processes do. */
export function storeConformance(backend: string, open: () => Promise<OpenedStore>): void {
  describe(`${backend} store`, () => {
    describe('projects', () => {
      test('are created once for each name, and every process finds the same one', async () => {
        await using opened = await open()
        const { store, other } = opened
        const [first, second] = await Promise.all([
          store.projects.ensure('p', 1),
          other.projects.ensure('p', 2),
        ])
        expect(second).toEqual(first)
        expect(await other.projects.find(first.id)).toEqual(first)
        expect(await store.projects.findByName('p')).toEqual(first)
        expect(await store.projects.findByName('q')).toBeUndefined()
      })

      test('are added once for each name: of two racing calls one succeeds', async () => {
        await using opened = await open()
        const { store, other } = opened
        const added = await Promise.all([
          store.projects.add({ id: 'proj_a', name: 'p', createdAt: 1 }),
          other.projects.add({ id: 'proj_b', name: 'p', createdAt: 2 }),
        ])
        expect(added.toSorted()).toEqual([false, true])
        expect((await store.projects.list()).map(({ name }) => name)).toEqual(['p'])
      })
    })

    describe('API keys', () => {
      test('are found by their hash until they are revoked', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId } = await inProject(store)
        const key = apiKey({ projectId })
        await store.apiKeys.add(key)
        expect(await other.apiKeys.findByHash(key.hash)).toEqual(key)
        expect(await store.apiKeys.revoke(projectId, key.id, 5)).toBe(true)
        expect(await other.apiKeys.findByHash(key.hash)).toBeUndefined()
        expect(await store.apiKeys.revoke(projectId, key.id, 6)).toBe(false)
        expect(await store.apiKeys.list(projectId)).toMatchObject([{ revokedAt: 5 }])
      })

      test('keep their expiry, their rate limit, and the key that replaces them', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId } = await inProject(store)
        const key = apiKey({ projectId, expiresAt: 5_000_000_000, rateLimit: 0 })
        await store.apiKeys.add(key)
        expect(await other.apiKeys.findByHash(key.hash)).toEqual(key)
        const next = apiKey({ projectId })
        expect(await store.apiKeys.rotate(key, 700, next)).toBe(true)
        expect(await other.apiKeys.findByHash(next.hash)).toEqual(next)
        expect(await other.apiKeys.findByHash(key.hash)).toEqual({
          ...key,
          expiresAt: 700,
          replacedBy: next.id,
        })
      })

      test('are rotated once, by their own project, and not after they were revoked', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId } = await inProject(store)
        const another = await inProject(store, 'another')
        const [key, revoked] = [apiKey({ projectId }), apiKey({ projectId })]
        await store.apiKeys.add(key)
        await store.apiKeys.add(revoked)
        await store.apiKeys.revoke(projectId, revoked.id, 5)
        const rotate = (old: typeof key, by = store) => by.apiKeys.rotate(old, 700, apiKey({ projectId }))
        expect(await rotate({ ...key, projectId: another.projectId })).toBe(false)
        expect(await rotate(revoked)).toBe(false)
        const races = await Promise.all([rotate(key), rotate(key, other), rotate(key)])
        expect(races.filter(Boolean)).toHaveLength(1)
        expect(await store.apiKeys.list(projectId)).toHaveLength(3)
      })

      test('do not change when they are added again, revoked ones too', async () => {
        await using opened = await open()
        const { store } = opened
        const { projectId } = await inProject(store)
        const key = apiKey({ projectId, role: 'readonly' })
        await store.apiKeys.add(key)
        await store.apiKeys.add(apiKey({ projectId, hash: key.hash, role: 'admin' }))
        expect(await store.apiKeys.findByHash(key.hash)).toEqual(key)
        await store.apiKeys.revoke(projectId, key.id, 5)
        await store.apiKeys.add(apiKey({ projectId, hash: key.hash }))
        expect(await store.apiKeys.findByHash(key.hash)).toBeUndefined()
      })

      test('are revoked by their own project only, and keep when they were last used', async () => {
        await using opened = await open()
        const { store } = opened
        const { projectId } = await inProject(store)
        const another = await inProject(store, 'another')
        const key = apiKey({ projectId })
        await store.apiKeys.add(key)
        await store.apiKeys.used(new Map([[key.id, 8]]))
        expect(await store.apiKeys.revoke(another.projectId, key.id, 9)).toBe(false)
        expect(await store.apiKeys.findByHash(key.hash)).toEqual({ ...key, lastUsedAt: 8 })
        expect(await store.apiKeys.list(another.projectId)).toEqual([])
      })
    })

    describe('providers', () => {
      test('have an id that is unique in their project', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId, entry } = await inProject(store)
        expect(await other.providers.add(providerEntry({ projectId }))).toBeUndefined()
        expect(await store.providers.findById(projectId, 'demo')).toEqual(entry)
        const another = await inProject(store, 'another')
        expect(await store.providers.findById(another.projectId, 'demo')).toEqual(another.entry)
        expect(await store.providers.list(projectId)).toEqual([entry])
      })

      test('are replaced whole: members that are left out are deleted', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId, entry } = await inProject(store)
        const full = {
          ...entry,
          wellKnownId: 'github',
          description: 'd',
          externalId: 'e',
          clientId: 'client',
          clientSecret: sealed('secret'),
        }
        // each change is another version of the row
        const changed = { ...full, updatedAt: entry.updatedAt + 1 }
        expect(await store.providers.change(entry, full)).toEqual(changed)
        expect(await other.providers.findByUid(entry.uid)).toEqual(changed)
        const bare = { ...entry, updatedAt: 9 }
        expect(await store.providers.change(changed, bare)).toEqual(bare)
        expect(await other.providers.findById(projectId, 'demo')).toEqual(bare)
      })

      test('are replaced only while they are as they were read, also by a change in the same second', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId, entry } = await inProject(store)
        const first = { ...entry, clientSecret: sealed('first') }
        const both = [store, other].map((one, i) =>
          one.providers.change(entry, { ...first, clientId: `c${i}` }),
        )
        const changed = (await Promise.all(both)).filter((row) => row !== undefined)
        expect(changed).toHaveLength(1)
        expect([await store.providers.findByUid(entry.uid)]).toEqual(changed)
        const audit = { projectId, at: 5, lines: ['changed'], link: () => '' }
        const stale = { ...entry, description: 'stale' }
        expect(await store.providers.change(entry, stale, audit)).toBeUndefined()
        await store.providers.delete(projectId, entry.id)
        for (const row of changed) expect(await store.providers.change(row, entry, audit)).toBeUndefined()
        expect(await store.audit.blocks(projectId, { order: 'oldest first', limit: 10 })).toEqual([])
      })

      test('are deleted with their connections', async () => {
        await using opened = await open()
        const { store } = opened
        const { projectId, owner } = await inProject(store)
        const { id } = await connected(store, owner)
        expect(await store.providers.delete(projectId, 'demo')).toBe(true)
        expect(await store.providers.delete(projectId, 'demo')).toBe(false)
        expect(await store.connections.find(id)).toBeUndefined()
      })

      test('with many connections are deleted in several commits, the provider in the last', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { projectId, owner } = await inProject(store)
        const ids: string[] = []
        for (let i = 0; i < 60; i++) ids.push((await connected(store, { ...owner, userId: `user ${i}` })).id)
        const deleted: StoreChange[] = []
        store.onChange((change) => void deleted.push(change))
        expect(await store.providers.delete(projectId, 'demo')).toBe(true)
        expect(deleted.at(-1)).toMatchObject({ noun: 'provider' })
        expect(deleted.flatMap((change) => (change.noun === 'connection' ? change.id : [])).sort()).toEqual(
          ids.sort(),
        )
        for (const id of ids) expect(await other.connections.find(id)).toBeUndefined()
      })
    })

    auditPromises(open)
    authorizationPromises(open)
    connectionPromises(open)
    toolPromises(open)
    keyPromises(open)
    mcpPromises(open)
    executionPromises(open)
    suspendedCallPromises(open)
    storedFilePromises(open)
    pageSessionPromises(open)
    consolePromises(open)
    processPromises(open)
    serverPromises(open)
    trailPromises(open)
    for (const promises of promisesOfFeatures) promises(open)

    describe('answers to an Idempotency-Key', () => {
      /** Makes a project; returns a function that makes the claim of an owner in it. */
      async function scene({ store }: OpenedStore) {
        const { projectId } = await inProject(store)
        return (owner: string, seconds = 100) => ({
          projectId,
          owner,
          request: `request of ${owner}`,
          claimedBy: `process of ${owner}`,
          seconds,
        })
      }
      const claimOf = (owner: string) => ({
        request: `request of ${owner}`,
        owner,
        claimedBy: `process of ${owner}`,
      })
      const run = { executionId: 'exec_1', toolId: 'mail:send' }

      test('are claimed by one of several racing processes', async () => {
        await using opened = await open()
        const { store, other } = opened
        const claim = await scene(opened)
        const outcomes = await Promise.all(
          ['a', 'b', 'c', 'd'].map((owner, i) =>
            (i % 2 ? other : store).idempotencyKeys.claim('place', claim(owner), 0),
          ),
        )
        expect(outcomes.filter((one) => one === 'claimed')).toHaveLength(1)
        const winner = ['a', 'b', 'c', 'd'][outcomes.indexOf('claimed')] ?? ''
        for (const one of outcomes) if (one !== 'claimed') expect(one).toEqual(claimOf(winner))
      })

      test('are claimed by an owner whose first attempt has made the claim, though its outcome was lost', async () => {
        await using opened = await open()
        const claim = await scene(opened)
        const { idempotencyKeys: keys } = opened.store
        expect(await keys.claim('place', claim('a'), 0)).toBe('claimed')
        expect(await keys.claim('place', claim('a'), 0)).toBe('claimed')
        expect(await keys.claim('place', claim('b'), 0)).toEqual(claimOf('a'))
      })

      test('are kept until they expire, and given to every later claim of the same place', async () => {
        await using opened = await open()
        const { store, other } = opened
        const claim = await scene(opened)
        expect(await store.idempotencyKeys.claim('place', claim('a'), 0)).toBe('claimed')
        await other.idempotencyKeys.settle('place', 'b', sealed('foreign'), 200, 0)
        await store.idempotencyKeys.settle('place', 'a', sealed('answer'), 200, 0)
        const kept = { ...claimOf('a'), answer: 'answer' }
        expect(await other.idempotencyKeys.claim('place', claim('b', 300), 0)).toEqual(kept)
        expect(await other.idempotencyKeys.find('place')).toEqual(kept)
        await store.idempotencyKeys.settle('place', 'a', sealed('answer'), 0, 0)
        expect(await other.idempotencyKeys.claim('place', claim('b', 300), 0)).toBe('claimed')
        expect(await store.idempotencyKeys.find('place')).toEqual(claimOf('b'))
      })

      test.runIf(backend === 'postgres')(
        'expire by the clock of the database, not by that of a node',
        async () => {
          await using opened = await open()
          const { store, other } = opened
          const claim = await scene(opened)
          const ahead = Math.floor(Date.now() / 1000) + 3600
          await store.idempotencyKeys.claim('place', claim('a', 60), 0)
          expect(await other.idempotencyKeys.claim('place', claim('b'), ahead)).toEqual(claimOf('a'))
          await store.idempotencyKeys.settle('place', 'a', sealed('answer'), 60, 0)
          expect(await other.idempotencyKeys.claim('place', claim('b'), ahead)).toMatchObject({
            answer: 'answer',
          })
          expect(await other.idempotencyKeys.sweep(ahead)).toBe(0)
          expect(await store.idempotencyKeys.find('place')).toBeDefined()
        },
      )

      test('stay claimed while their owner prolongs the claim, which prolongs no stored answer', async () => {
        await using opened = await open()
        const { store, other } = opened
        const claim = await scene(opened)
        await store.idempotencyKeys.claim('place', claim('a', 0), 0)
        await other.idempotencyKeys.prolong('place', 'b', 1000, 0)
        await store.idempotencyKeys.prolong('place', 'a', 30, 0)
        expect(await other.idempotencyKeys.claim('place', claim('b', 300), 0)).toEqual(claimOf('a'))
        await store.idempotencyKeys.settle('place', 'a', sealed('answer'), 0, 0)
        await store.idempotencyKeys.prolong('place', 'a', 1000, 0)
        expect(await other.idempotencyKeys.claim('place', claim('b', 300), 0)).toBe('claimed')
      })

      test('of a dead process are taken over, but not when it has begun a run that must not be repeated', async () => {
        await using opened = await open()
        const { store, other } = opened
        const claim = await scene(opened)
        await store.idempotencyKeys.claim('place', claim('dead'), 0)
        expect(await other.idempotencyKeys.claim('place', claim('b'), 0, 'another')).toEqual(claimOf('dead'))
        expect(await other.idempotencyKeys.claim('place', claim('b'), 0, 'dead')).toBe('claimed')
        expect(await store.idempotencyKeys.begin('place', 'dead', run, 600, 0)).toBe(false)
        expect(await store.idempotencyKeys.find('place')).toEqual(claimOf('b'))
        expect(await other.idempotencyKeys.begin('place', 'b', run, 600, 0)).toBe(true)
        const begun = { ...claimOf('b'), begun: run }
        expect(await store.idempotencyKeys.claim('place', claim('c'), 0, 'b')).toEqual(begun)
        await other.idempotencyKeys.settle('place', 'b', sealed('answer'), 600, 0)
        expect(await other.idempotencyKeys.begin('place', 'b', run, 600, 0)).toBe(false)
        expect(await store.idempotencyKeys.claim('place', claim('c'), 0, 'b')).toEqual({
          ...begun,
          answer: 'answer',
        })
      })

      test('are released by their owner only, and swept once they have expired', async () => {
        await using opened = await open()
        const { store, other } = opened
        const claim = await scene(opened)
        await store.idempotencyKeys.claim('place', claim('a'), 0)
        await other.idempotencyKeys.release('place', 'b')
        expect(await store.idempotencyKeys.find('place')).toBeDefined()
        await store.idempotencyKeys.release('place', 'a')
        expect(await other.idempotencyKeys.find('place')).toBeUndefined()
        await store.idempotencyKeys.claim('old', claim('a', 0), 0)
        await store.idempotencyKeys.claim('new', claim('a', 20), 0)
        expect(await other.idempotencyKeys.sweep(1)).toBe(1)
        expect(await store.idempotencyKeys.find('new')).toBeDefined()
      })
    })

    describe('facts', () => {
      test('are set once: every process gets the value of the first', async () => {
        await using opened = await open()
        const { store, other } = opened
        const settled = await Promise.all([
          store.facts.settle('check', 'a'),
          other.facts.settle('check', 'b'),
        ])
        expect(settled[0]).toBe(settled[1])
        expect(await store.facts.settle('check', 'c')).toBe(settled[0])
        expect(await other.facts.find('check')).toBe(settled[0])
        expect(await store.facts.find('unknown')).toBeUndefined()
      })
    })

    describe('a write', () => {
      type Scene = Awaited<ReturnType<typeof scene>>

      /** Rows of several nouns, and the changes that the store announces from then on. */
      async function scene(store: Store) {
        const { projectId, entry, owner } = await inProject(store)
        const held = await connected(store, owner)
        const begun = await store.authorizations.begin(pending(owner), 'share', 0)
        const claim = await claimed(store, owner, { state: 's2' })
        const key = apiKey({ projectId })
        await store.apiKeys.add(key)
        const changes: StoreChange[] = []
        store.onChange((change) => changes.push(change))
        return { store, projectId, entry, owner, held, begun, claim, key, changes }
      }

      const ofConnection = ({ held, owner }: Scene): StoreChange => ({
        noun: 'connection',
        id: held.id,
        owner: expect.objectContaining(owner),
      })

      test.each<[string, (on: Scene) => Promise<unknown>, (on: Scene) => readonly StoreChange[]]>([
        [
          'an attempt',
          ({ store, begun }) => store.authorizations.attempt(begun.id, 0, attempt('s3'), 1),
          ({ begun }) => [{ noun: 'authorization', id: begun.id }],
        ],
        [
          'a failure',
          ({ store, begun }) => store.authorizations.fail(begun.id, 'access_denied', '', 1),
          ({ begun }) => [{ noun: 'authorization', id: begun.id }],
        ],
        [
          'a finished step, the connection first',
          ({ store, claim, held, owner }) =>
            store.authorizations.finishStep(
              claim,
              connection(owner, { id: held.id }),
              { makeDefault: true },
              1,
            ),
          (on) => [ofConnection(on), { noun: 'authorization', id: on.claim.id }],
        ],
        [
          'a refresh',
          ({ store, held }) => store.connections.settleRefresh(held.id, held.generation, refreshed()),
          (on) => [ofConnection(on)],
        ],
        [
          'a refused grant',
          ({ store, held }) => store.connections.needsAuthorization(held.id, 1, 'refresh_refused'),
          (on) => [ofConnection(on)],
        ],
        [
          'a new default',
          ({ store, held }) => store.connections.makeDefault(held.id),
          (on) => [ofConnection(on)],
        ],
        ['a revocation', ({ store, held }) => store.connections.delete(held.id), (on) => [ofConnection(on)]],
        [
          'a revoked key',
          ({ store, projectId, key }) => store.apiKeys.revoke(projectId, key.id, 1),
          () => [{ noun: 'api_key' }],
        ],
        [
          'a provider',
          ({ store, entry }) => store.providers.change(entry, entry),
          ({ projectId, entry }) => [{ noun: 'provider', projectId, uids: [entry.uid] }],
        ],
        [
          'a tool with its provider',
          ({ store, projectId, entry }) => {
            const put = [tool({ projectId, uid: 'tool_1' })]
            return store.tools.change(projectId, { put, removed: [], entries: [{ from: entry, to: entry }] })
          },
          ({ projectId, entry }) => [
            { noun: 'tool', projectId, uids: ['tool_1'] },
            { noun: 'provider', projectId, uids: [entry.uid] },
          ],
        ],
        [
          'more tools than an announcement names',
          ({ store, projectId }) => {
            const put = Array.from({ length: 101 }, (_, i) => tool({ projectId, name: `Tool${i}` }))
            return store.tools.change(projectId, { put, removed: [] })
          },
          ({ projectId }) => [{ noun: 'tool', projectId }],
        ],
        [
          'a worker',
          ({ store, projectId }) => store.workers.add(worker({ projectId })),
          () => [{ noun: 'worker' }],
        ],
        [
          'a secret',
          ({ store, projectId }) => store.secrets.put(secret({ projectId })),
          () => [{ noun: 'secret' }],
        ],
        [
          'nothing, of runs',
          ({ store, projectId }) =>
            store.executions.add([execution({ projectId }), scheduledRun({ projectId, runAt: 9 })]),
          () => [],
        ],
        [
          'nothing, when it changed nothing',
          async ({ store, held, claim, owner }) => {
            await store.connections.settleRefresh(held.id, 99, refreshed())
            await store.connections.needsAuthorization(held.id, 99, 'refresh_refused')
            await store.connections.delete('conn_unknown')
            await store.authorizations.claim('made up', 1, until(30))
            const lost = { ...claim, attempt: attempt('lost') }
            await store.authorizations.finishStep(lost, connection(owner), { makeDefault: true }, 1)
          },
          () => [],
        ],
      ])('is announced: %s', async (_, write, expected) => {
        await using opened = await open()
        const on = await scene(opened.store)
        await write(on)
        expect(on.changes).toEqual(expected(on))
      })

      test('is visible to other processes when it is announced', async () => {
        await using opened = await open()
        const { store, other } = opened
        const { held } = await scene(store)
        const seen: Promise<unknown>[] = []
        store.onChange(() => seen.push(other.connections.find(held.id)))
        await store.connections.settleRefresh(held.id, 1, refreshed())
        expect(await Promise.all(seen)).toMatchObject([{ generation: 2 }])
      })

      test('is announced to other processes too, once', async () => {
        await using opened = await open()
        const { store, other } = opened
        const received: StoreChange[] = []
        other.onChange((change) => received.push(change))
        const { begun, held, owner } = await scene(store)
        await caughtUp(other, () => received.at(-1)?.noun === 'api_key')
        received.length = 0
        const before = other.catchUp()
        await store.connections.settleRefresh(held.id, 1, refreshed())
        await store.authorizations.fail(begun.id, 'access_denied', '', 1)
        await caughtUp(other, () => received.length >= 2)
        expect(received).toEqual([
          { noun: 'connection', id: held.id, owner },
          { noun: 'authorization', id: begun.id },
        ])
        expect(other.catchUp()).toBe(before)
      })
    })

    test('can be probed, which changes nothing', async () => {
      await using opened = await open()
      const { store, other } = opened
      const before = other.catchUp()
      await store.probe()
      expect(other.catchUp()).toBe(before)
    })
  })
}

/** Waits until the store has received the changes of others, which some databases announce a moment later. */
async function caughtUp(store: Store, done: () => boolean = () => true): Promise<void> {
  const end = Date.now() + 60_000
  do {
    store.catchUp()
    await new Promise((resolve) => setTimeout(resolve, 5))
  } while (!done() && Date.now() < end)
}
