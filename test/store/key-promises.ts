import { describe, expect, test } from 'vitest'
import { BACKUP_FACT } from '../../src/store/facts.ts'
import type { SealedColumn } from '../../src/store/protection.ts'
import { SEALED_COLUMNS } from '../../src/store/store-parts.ts'
import {
  claimed,
  connected,
  defined,
  inProject,
  mcpRecord,
  type OpenedStore,
  pending,
  scheduledRun,
  sealed,
} from './fixtures.ts'

const OLD = 'aaaaaaaa'
const NEW = 'bbbbbbbb'
const envelope = (text: string, key = OLD) => sealed(`v1.${key}.nonce.${text}.tag`)
/** One more than one statement reads or changes of a table. */
const MORE_THAN_A_SLICE = 1_001

function column(table: string, name: string): SealedColumn {
  return defined(SEALED_COLUMNS.find((one) => one.table === table && one.column === name))
}

/** Tests `Facts.exchange`, the promises of `Envelopes`, and what the first start on a restored backup settles. */
export function keyPromises(open: () => Promise<OpenedStore>): void {
  describe('facts', () => {
    test('are exchanged by one of two racing processes', async () => {
      await using opened = await open()
      const { store, other } = opened
      const race = (from: string | undefined) =>
        Promise.all([store.facts.exchange('f', from, 'a'), other.facts.exchange('f', from, 'b')])
      expect((await race(undefined)).filter(Boolean)).toHaveLength(1)
      const stored = defined(await store.facts.find('f'))
      expect((await race(stored)).filter(Boolean).length).toBeGreaterThan(0)
      expect(await store.facts.exchange('f', 'neither', 'c')).toBe(false)
      expect(await other.facts.find('f')).not.toBe('c')
    })
  })

  describe('envelopes', () => {
    test('are counted by column and key; facts that are no envelopes are not counted', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      await store.facts.put('check', envelope('check', NEW))
      await store.facts.put('plain', 'v1 of something')
      await connected(store, owner, { access: envelope('1'), refresh: envelope('2', NEW) })
      await connected(store, owner, {
        account: { id: 'u-2', name: 'B' },
        access: envelope('3'),
        refresh: envelope('4'),
      })
      expect(await store.envelopes.countByKey()).toEqual(
        expect.arrayContaining([
          { table: 'facts', column: 'value', keyId: NEW, count: 1 },
          { table: 'connections', column: 'access', keyId: OLD, count: 2 },
          { table: 'connections', column: 'refresh', keyId: OLD, count: 1 },
          { table: 'connections', column: 'refresh', keyId: NEW, count: 1 },
        ]),
      )
    })

    test('of other keys are listed page by page, each with the place that it is bound to', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const ids: string[] = []
      for (const account of ['1', '2', '3']) {
        const { id } = await connected(store, owner, {
          account: { id: account, name: account },
          access: envelope(account, account === '2' ? NEW : OLD),
        })
        ids.push(id)
      }
      const access = column('connections', 'access')
      const [first, ...none] = await store.envelopes.ofOtherKeys(access, NEW, '', 1)
      expect(none).toEqual([])
      expect(first).toEqual({
        rowId: ids[0],
        sealed: envelope('1'),
        context: { table: 'connections', column: 'access', rowId: ids[0], ...owner },
      })
      const rest = await store.envelopes.ofOtherKeys(access, NEW, ids[0] ?? '', 10)
      expect(rest.map(({ rowId }) => rowId)).toEqual([ids[2]])
    })

    test('are found among more rows than one statement reads', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const runs = Array.from({ length: MORE_THAN_A_SLICE }, () => scheduledRun({ projectId, runAt: 4 }))
      const last = runs
        .map(({ id }) => id)
        .toSorted()
        .at(-1)
      await store.executions.add(
        runs.map((run) => ({ ...run, request: envelope('1', run.id === last ? OLD : NEW) })),
      )
      const requests = column('executions', 'request')
      expect(await store.envelopes.ofOtherKeys(requests, NEW, '', 10)).toMatchObject([{ rowId: last }])
      const ofRequests = { table: 'executions', column: 'request' }
      expect(await store.envelopes.countByKey()).toEqual(
        expect.arrayContaining([
          { ...ofRequests, keyId: NEW, count: MORE_THAN_A_SLICE - 1 },
          { ...ofRequests, keyId: OLD, count: 1 },
        ]),
      )
    })

    test('of rows whose id is unique only within a model are listed and exchanged one by one', async () => {
      await using opened = await open()
      const { store } = opened
      for (const model of ['Client', 'Grant'])
        await store.mcpRecords.put(mcpRecord({ model, id: 'same', payload: envelope(model) }))
      const payload = column('mcpRecords', 'payload')
      const [first] = await store.envelopes.ofOtherKeys(payload, NEW, '', 1)
      const { rowId, sealed: from } = defined(first)
      expect(await store.envelopes.exchange(payload, [{ rowId, from, to: envelope('Client', NEW) }])).toBe(1)
      expect(await store.envelopes.ofOtherKeys(payload, NEW, rowId, 10)).toMatchObject([
        { context: { rowId: 'Grant same' } },
      ])
      expect(await store.mcpRecords.find('Client', 'same', 1)).toMatchObject({
        payload: envelope('Client', NEW),
      })
    })

    test('are exchanged only if they have not changed since they were read', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      const { id } = await connected(store, owner, { access: envelope('1') })
      const access = column('connections', 'access')
      const stale = { rowId: id, from: envelope('0'), to: envelope('0', NEW) }
      expect(await store.envelopes.exchange(access, [stale])).toBe(0)
      const current = { rowId: id, from: envelope('1'), to: envelope('1', NEW) }
      expect(await store.envelopes.exchange(access, [stale, current])).toBe(1)
      expect(await other.connections.find(id)).toMatchObject({ access: envelope('1', NEW), generation: 1 })
    })

    test('of rows that processes cache are announced when they are exchanged', async () => {
      await using opened = await open()
      const { store } = opened
      const { entry } = await inProject(store)
      await store.providers.change(entry, { ...entry, clientSecret: envelope('1') })
      const announced: string[] = []
      store.onChange(({ noun }) => announced.push(noun))
      const exchange = { rowId: entry.uid, from: envelope('1'), to: envelope('1', NEW) }
      await store.envelopes.exchange(column('providers', 'client_secret'), [exchange])
      expect(announced).toEqual(['provider'])
    })
  })

  describe('a restored backup', () => {
    test('is settled once: refresh tokens count as perhaps used, and pending authorizations have failed', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      const held = await connected(store, owner)
      await store.connections.claimRefresh(held.id, 1, { owner: 'dead', seconds: 600 }, 1)
      const lasting = { account: { id: 'u-2', name: 'B' } }
      const second = await connected(store, owner, lasting)
      const begun = await store.authorizations.begin(pending(owner), 'share', 1)
      const claim = await claimed(store, owner, { state: 's9' })
      expect(await store.settleRestore('restored', 5)).toBeUndefined()

      await store.facts.put(BACKUP_FACT, '3')
      const settled = await Promise.all([
        store.settleRestore('restored', 5),
        other.settleRestore('restored', 5),
      ])
      expect(settled.filter(Boolean)).toEqual([
        { takenAt: 3, connections: 2, authorizations: 2, runs: 0, mcpConsents: 0 },
      ])
      expect(await store.connections.find(held.id)).toMatchObject({
        status: 'active',
        unansweredRefreshes: 1,
      })
      expect(await store.connections.find(second.id)).toMatchObject({ unansweredRefreshes: 1 })
      for (const { id } of [begun, claim])
        expect(await store.authorizations.find(id)).toMatchObject({
          status: 'failed',
          reason: 'expired',
          message: 'restored',
          completedAt: 5,
        })
      // the lease of a process that is not on this machine delays no refresh
      const lease = { owner: 'next', seconds: 10 }
      expect(await store.connections.claimRefresh(held.id, 1, lease, 6)).toBeDefined()
    })

    test('is settled with its audit entry, and by the next start when one was interrupted before', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, owner } = await inProject(store)
      const { id } = await connected(store, owner)
      await store.authorizations.begin(pending(owner), 'share', 1)
      await store.facts.put(BACKUP_FACT, '3')
      const entry = (link: () => string) => (takenAt: number) => ({
        projectId,
        at: 5,
        lines: [`backup of ${takenAt}`],
        link,
      })
      const interrupted = entry(() => {
        throw new Error('interrupted')
      })
      await expect(store.settleRestore('restored', 5, interrupted)).rejects.toThrow('interrupted')
      const linked = entry(() => 'hash')
      expect(await other.settleRestore('restored', 6, linked)).toMatchObject({
        takenAt: 3,
        connections: 1,
        authorizations: 1,
      })
      expect(await store.settleRestore('restored', 7, linked)).toBeUndefined()
      expect(await store.connections.find(id)).toMatchObject({ unansweredRefreshes: 1 })
      const blocks = await store.audit.blocks(projectId, { order: 'oldest first', limit: 10 })
      expect(blocks.map(({ text }) => text)).toEqual(['backup of 3'])
    })

    test('is settled whole, with more rows than one statement changes', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const runs = Array.from({ length: MORE_THAN_A_SLICE }, () => scheduledRun({ projectId, runAt: 4 }))
      await store.executions.add(runs)
      await store.facts.put(BACKUP_FACT, '3')
      expect(await store.settleRestore('restored', 5)).toMatchObject({ runs: MORE_THAN_A_SLICE })
      const { rows } = await store.executions.browse(projectId, { status: 'scheduled' }, {}, 1)
      expect(rows).toEqual([])
    })

    test('does not change connections that need a new consent anyway', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const { id } = await connected(store, owner)
      await store.connections.needsAuthorization(id, 1, 'refresh_refused')
      await store.facts.put(BACKUP_FACT, '3')
      expect(await store.settleRestore('restored', 5)).toEqual({
        takenAt: 3,
        connections: 0,
        authorizations: 0,
        runs: 0,
        mcpConsents: 0,
      })
      expect(await store.connections.find(id)).toMatchObject({
        status: 'needs_authorization',
        unansweredRefreshes: 0,
      })
    })
  })
}
