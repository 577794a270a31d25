import { describe, expect, test } from 'vitest'
import type { PinnedTool } from '../../src/domain/pinned-tool.ts'
import type { Tool } from '../../src/domain/tool.ts'
import { IMPORTS, type ToolName } from '../../src/domain/tool-name.ts'
import { WORKER_TYPES } from '../../src/domain/worker.ts'
import { NO_NEEDS } from '../../src/domain/worker-needs.ts'
import type { ProviderEntry } from '../../src/providers/provider-entry.ts'
import type { PinChanges } from '../../src/store/pinned-tools.ts'
import {
  defined,
  inProject,
  type OpenedStore,
  providerEntry,
  putTool,
  sealed,
  secret,
  tool,
  worker,
} from './fixtures.ts'

/** Tests the promises of `Tools`, `Workers` and `Secrets`. */
export function toolPromises(open: () => Promise<OpenedStore>): void {
  describe('tools', () => {
    test('are found by every spelling of their name, with and without the version, newest first', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const first = tool({ projectId })
      const second = tool({ projectId, version: '2.0.0' })
      await putTool(store, first)
      await putTool(store, second)
      const named = async (alias: string) => (await store.tools.named(projectId, alias)).map(({ uid }) => uid)
      for (const alias of ['whoami', 'who am i', 'demo:whoami', 'demo.whoami', 'demo_whoami'])
        expect(await named(alias), alias).toEqual([second.uid, first.uid])
      for (const alias of ['demo:whoami:1.0.0', 'demo.whoami@1.0.0', 'demo_whoami@1.0.0', 'whoami@1.0.0'])
        expect(await named(alias), alias).toEqual([first.uid])
      expect(await named('unknown')).toEqual([])
    })

    test('without a version are stored without one, and only one of each name', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const { version: _, ...versionless } = tool({ projectId })
      await putTool(store, versionless)
      expect(await store.tools.named(projectId, 'demo:whoami')).toEqual([versionless])
      await expect(putTool(store, { ...versionless, uid: 'tool_other' })).rejects.toThrow()
    })

    test('are replaced whole, with their aliases', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const bound = tool({
        projectId,
        outputSchema: { type: 'string' },
        tags: ['mail', 'read-only'],
        annotations: { readOnlyHint: true },
        meta: { 'example.test/rank': 1 },
        icons: [{ src: 'https://example.test/icon.png' }],
        binding: { workerUid: 'work_1', toolkit: 'Demo', name: 'Whoami' },
      })
      await putTool(store, bound)
      expect(await store.tools.list(projectId)).toEqual([bound])
      const { uid, createdAt } = bound
      const bare = tool({ projectId, uid, createdAt, title: 'Tell me who I am' })
      await putTool(store, bare)
      expect(await store.tools.list(projectId)).toEqual([bare])
      expect(await store.tools.named(projectId, 'who am i')).toEqual([])
      expect(await store.tools.named(projectId, 'tell me who i am')).toHaveLength(1)
    })

    test('are held only as they were compared, and accepted only while the same waits', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const owner = worker({ projectId })
      await store.workers.add(owner)
      const stored = tool({ projectId, source: { kind: 'worker', workerUid: owner.uid, document: {} } })
      await putTool(store, stored)
      const pin = (waiting: string): PinnedTool => ({
        ...{
          workerUid: owner.uid,
          projectId,
          tool: 'Demo:Whoami',
          accepted: 'a',
          waiting,
          listed: `l${waiting}`,
        },
        ...{ needs: NO_NEEDS, isUnstable: false, since: 7, definition: '{"name":"Whoami"}', mac: 'm' },
      })
      const change = (pins: PinChanges, put: readonly Tool[] = []) =>
        other.tools.change(projectId, { put, removed: [], pins })
      const held = async () => (await store.tools.list(projectId)).map((one) => one.held)

      await change({ held: [{ ...stored, digest: 'another', held: 'x' }] })
      expect(await held()).toEqual([undefined])
      await change({ held: [{ ...stored, held: 'lb' }], put: [pin('b')] })
      expect(await held()).toEqual(['lb'])
      const { definition: _, ...withoutDefinition } = pin('b')
      expect(await store.pinnedTools.ofWorker(owner.uid)).toEqual([withoutDefinition])
      expect(await store.pinnedTools.waiting(projectId)).toEqual([withoutDefinition])
      expect(await store.pinnedTools.definitions(owner.uid)).toEqual([pin('b')])

      await change({ put: [pin('c')] })
      const accepting = { accepted: [{ workerUid: owner.uid, tool: 'Demo:Whoami', waiting: 'b' }] }
      expect(await change(accepting, [{ ...stored, title: 'New' }])).toBe(false)
      expect(await store.tools.list(projectId)).toMatchObject([{ title: stored.title, held: 'lb' }])
      const accepted = [{ workerUid: owner.uid, tool: 'Demo:Whoami', waiting: 'c' }]
      expect(await change({ accepted }, [{ ...stored, title: 'New' }])).toBe(true)
      expect(await held()).toEqual([undefined])
      expect(await store.pinnedTools.ofWorker(owner.uid)).toEqual([])

      await change({ put: [pin('d')] })
      await store.workers.delete(projectId, owner.id)
      expect(await store.pinnedTools.ofWorker(owner.uid)).toEqual([])
    })

    test('belong to the source that had the name first, in any case, until it is deleted', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [first, second] = ['first', 'second'].map((id) => worker({ projectId, id }))
      for (const one of [first, second]) await store.workers.add(defined(one))
      const name = (of: Partial<ToolName> = {}): ToolName => ({
        projectId,
        identity: 'demo:whoami',
        source: defined(first).uid,
        since: 7,
        mac: 'm',
        ...of,
      })
      const [theirs, late] = [tool({ projectId }), tool({ projectId, namespace: 'DEMO', version: '9.0.0' })]
      const claim = { put: [theirs], removed: [], names: [name(), name({ identity: 'demo:' })] }
      await store.tools.change(projectId, claim)
      const owner = { source: defined(first).uid, since: 7, mac: 'm' }
      expect(await store.tools.list(projectId)).toEqual([{ ...theirs, owner }])
      // again by the same source: nothing changes
      await other.tools.change(projectId, { put: [], removed: [], names: [name({ since: 9, mac: 'x' })] })
      expect(await store.tools.named(projectId, 'demo:whoami')).toMatchObject([{ owner }])

      const taking = { put: [late], removed: [], names: [name({ source: defined(second).uid })] }
      await expect(other.tools.change(projectId, taking)).rejects.toMatchObject({ code: 'already_exists' })
      expect(await store.tools.list(projectId)).toEqual([{ ...theirs, owner }])
      await other.tools.change(projectId, { put: [late], removed: [theirs.uid] })
      await other.toolNames.settle([name({ source: defined(second).uid })])
      expect(await store.tools.list(projectId)).toEqual([{ ...late, owner }])
      expect(await store.toolNames.find(projectId, ['demo:whoami', 'none:none'])).toEqual([name()])
      expect(await store.toolNames.count(projectId, defined(first).uid)).toBe(2)

      const to = { uid: defined(second).uid, accepted: NO_NEEDS, acceptedMac: 'm' }
      const taken = name({ source: defined(second).uid, since: 8 })
      expect(await store.workers.accept(defined(second), { ...to, names: [taken] })).toBe(true)
      expect(await store.tools.list(projectId)).toMatchObject([{ owner: { source: taken.source, since: 8 } }])
      await store.workers.delete(projectId, 'second')
      expect(await store.toolNames.find(projectId, ['demo:whoami', 'demo:'])).toEqual([
        name({ identity: 'demo:' }),
      ])
    })

    test('are freed with the last tool of an import', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const imported = tool({ projectId })
      const name = { projectId, identity: 'demo:whoami', source: IMPORTS, since: 7 }
      await store.tools.change(projectId, { put: [imported], removed: [], names: [name] })
      await store.tools.delete(imported.uid, undefined, { ...name, source: 'work_1' })
      expect(await store.toolNames.count(projectId, IMPORTS)).toBe(1)
      await putTool(store, imported)
      await store.tools.delete(imported.uid, undefined, name)
      expect(await store.toolNames.count(projectId, IMPORTS)).toBe(0)
    })

    test('are bound without another change, and not when they were deleted', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const first = tool({ projectId })
      await putTool(store, first)
      const { uid } = first
      const change = { binding: { workerUid: 'work_1', toolkit: 'Demo', name: 'Whoami' }, updatedAt: 9 }
      expect(await store.tools.bind({ uid, ...change })).toEqual({ ...first, ...change })
      expect(await store.tools.list(projectId)).toEqual([{ ...first, ...change }])
      await store.tools.delete(uid)
      expect(await store.tools.bind({ uid, ...change })).toBeUndefined()
      expect(await store.tools.list(projectId)).toEqual([])
    })

    test('are changed together with provider entries, all or nothing', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const [kept, gone] = [tool({ projectId }), tool({ projectId, name: 'Gone' })]
      const entries = [{ to: providerEntry({ projectId, id: 'new' }) }]
      await store.tools.change(projectId, { put: [kept, gone], removed: [], entries })
      expect(await store.providers.findById(projectId, 'new')).toBeDefined()
      const refused = {
        put: [tool({ projectId, name: 'Other' }), tool({ projectId })],
        removed: [gone.uid],
        entries: [{ to: providerEntry({ projectId, id: 'not' }) }],
      }
      await expect(store.tools.change(projectId, refused)).rejects.toThrow()
      expect(await store.providers.findById(projectId, 'not')).toBeUndefined()
      expect(await store.tools.list(projectId)).toEqual([kept, gone])
    })

    test('are not changed when a provider entry has changed since it was read, or was deleted', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, entry } = await inProject(store)
      const changed = defined(await other.providers.change(entry, { ...entry, description: 'newer' }))
      const put = [tool({ projectId })]
      const described = (from: ProviderEntry) => ({ from, to: { ...from, description: 'imported' } })
      const added = { to: providerEntry({ projectId, id: 'new' }) }
      const change = (from: ProviderEntry) =>
        store.tools.change(projectId, { put, removed: [], entries: [added, described(from)] })
      expect(await change(entry)).toBe(false)
      expect(await store.tools.list(projectId)).toEqual([])
      expect(await store.providers.list(projectId)).toEqual([changed])
      expect(await change(changed)).toBe(true)
      const imported = defined(await other.providers.findByUid(entry.uid))
      expect(imported).toMatchObject({ description: 'imported' })
      await other.providers.delete(projectId, entry.id)
      expect(await store.tools.change(projectId, { put, removed: [], entries: [described(imported)] })).toBe(
        false,
      )
      expect(await store.providers.findByUid(entry.uid)).toBeUndefined()
    })

    test('keep the aliases that still fit after a change, and lose the others', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const before = tool({ projectId })
      await putTool(store, before)
      await store.tools.change(projectId, { put: [{ ...before, title: 'Tell me' }], removed: [] })
      const found = async (alias: string) => (await store.tools.named(projectId, alias)).length
      expect([await found('demo:whoami'), await found('tell me'), await found('who am i')]).toEqual([1, 1, 0])
    })

    test('are read page by page, and by their uids, with every member as it was put', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      await putTool(store, tool({ projectId: another.projectId }))
      const { version: _, ...versionless } = tool({ projectId, name: 'Plain' })
      const all = [
        tool({
          projectId,
          name: 'First',
          outputSchema: { type: 'string' },
          meta: { a: 1 },
          icons: [{ src: 'b' }],
        }),
        versionless,
        tool({
          projectId,
          name: 'Last',
          source: { kind: 'worker', workerUid: 'work_1', document: { c: 2 } },
          binding: { workerUid: 'work_1', toolkit: 'demo', name: 'Last', version: '1.0.0' },
        }),
      ]
      all.sort((a, b) => (a.uid < b.uid ? -1 : 1))
      for (const one of all) await putTool(store, one)
      const [first, second, last] = all.map(({ uid }) => uid)
      const page = await store.tools.page(projectId, '', 2)
      expect(page).toEqual({ rows: all.slice(0, 2), next: second })
      expect(await store.tools.page(projectId, second ?? '', 2)).toEqual({ rows: all.slice(2) })
      expect(await store.tools.byUids(projectId, [last ?? '', 'tool_none'])).toEqual(all.slice(2))
      expect(await store.tools.byUids(another.projectId, [first ?? ''])).toEqual([])
    })

    test('are added, changed and deleted together', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const source = { kind: 'worker', workerUid: 'work_1', document: {} } as const
      const kept = tool({ projectId, name: 'Kept', source })
      const dropped = tool({ projectId, name: 'Dropped', source })
      const added = tool({ projectId, name: 'Added', source })
      const others = [
        tool({ projectId, name: 'Imported' }),
        tool({ projectId, name: 'Foreign', source: { ...source, workerUid: 'work_2' } }),
      ]
      for (const one of [...others, kept, dropped]) await putTool(store, one)
      const names = async () => (await store.tools.list(projectId)).map(({ name }) => name).sort()
      await store.tools.change(projectId, {
        put: [{ ...kept, description: 'New.' }, added],
        removed: [dropped.uid],
      })
      expect(await names()).toEqual(['Added', 'Foreign', 'Imported', 'Kept'])
      expect(await store.tools.named(projectId, 'kept')).toMatchObject([
        { uid: kept.uid, description: 'New.' },
      ])
      expect(await store.tools.named(projectId, 'dropped')).toEqual([])
      await store.tools.change(projectId, { put: [], removed: [kept.uid, added.uid] })
      expect(await names()).toEqual(['Foreign', 'Imported'])
    })

    test('are deleted with their aliases, and not found by another project', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const one = tool({ projectId })
      await putTool(store, one)
      expect(await store.tools.named(another.projectId, 'whoami')).toEqual([])
      await store.tools.delete(one.uid)
      expect(await store.tools.named(projectId, 'whoami')).toEqual([])
    })
  })

  describe('workers', () => {
    test('have an id that is unique in their project', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const first = worker({ projectId })
      expect(await store.workers.add(first)).toEqual(first)
      expect(await store.workers.add(worker({ projectId }))).toBeUndefined()
      expect(await store.workers.add(worker({ projectId: another.projectId }))).toBeDefined()
      expect(await store.workers.list(projectId)).toEqual([first])
      expect(await store.workers.all()).toHaveLength(2)
    })

    test.each(WORKER_TYPES)('of type %s keep the settings of their type', async (type) => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const one = worker({ projectId, type, settings: { hosts: ['api.example.test'], nested: { a: 1 } } })
      await store.workers.add(one)
      expect(await other.workers.findByUid(one.uid)).toEqual(one)
      const changed = { ...one, settings: {} }
      expect(await other.workers.change(one, changed)).toEqual(changed)
      expect(await store.workers.find(projectId, one.id)).toEqual(changed)
    })

    test('are stored without the sync error when it is over', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const faulty = worker({ projectId, syncError: 'It did not answer.', syncedAt: 5 })
      await store.workers.add(faulty)
      const { syncError: _, ...well } = faulty
      expect(await store.workers.settleSync({ uid: faulty.uid, syncedAt: 6 })).toEqual({
        ...well,
        syncedAt: 6,
      })
      expect(await store.workers.findByUid(faulty.uid)).toEqual({ ...well, syncedAt: 6 })
      const away = { uid: faulty.uid, syncError: 'It is away.', unreachableSince: 7 }
      expect(await store.workers.settleSync(away)).toEqual({ ...well, ...away, syncedAt: 6 })
    })

    test('are changed only if their settings are those that were read; a sync changes none of them', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const read = worker({ projectId })
      await store.workers.add(read)
      await other.workers.settleSync({ uid: read.uid, syncedAt: 8 })
      await other.workers.accept(read, { uid: read.uid, accepted: NO_NEEDS, acceptedMac: 'm' })
      const off = { ...read, enabled: false, updatedAt: 9 }
      expect(await store.workers.change(read, off)).toMatchObject({ enabled: false, syncedAt: 8 })
      expect(await other.workers.change(read, { ...read, retry: 3 })).toBeUndefined()
      expect(await other.workers.findByUid(read.uid)).toMatchObject({ ...off, syncedAt: 8, acceptedMac: 'm' })
      await store.workers.delete(projectId, read.id)
      expect(await store.workers.change(off, read)).toBeUndefined()
      expect(await store.workers.settleSync({ uid: read.uid, syncedAt: 10 })).toBeUndefined()
    })

    test('have more accepted only if what was accepted is what was read', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const read = worker({ projectId, accepted: NO_NEEDS })
      await store.workers.add(read)
      const to = (key: string) => ({ uid: read.uid, accepted: { providers: {}, secrets: [key] } })
      expect(await other.workers.accept(read, to('one'))).toBe(true)
      expect(await store.workers.accept(read, to('two'))).toBe(false)
      expect(await store.workers.findByUid(read.uid)).toMatchObject(to('one'))
      expect(await store.workers.accept(to('one'), to('two'))).toBe(true)
      await store.workers.delete(projectId, read.id)
      expect(await store.workers.accept(to('two'), to('one'))).toBe(false)
    })

    test('keep what an operator changes while their catalogue is read', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const before = worker({ projectId, syncError: 'It did not answer.', unreachableSince: 4 })
      await store.workers.add(before)
      await other.workers.change(before, { ...before, enabled: false, settings: { changed: true } })
      await store.workers.settleSync({ uid: before.uid, syncedAt: 6 })
      const { syncError: _, unreachableSince: __, ...well } = before
      expect(await other.workers.findByUid(before.uid)).toEqual({
        ...well,
        enabled: false,
        settings: { changed: true },
        syncedAt: 6,
      })
    })

    test('are deleted with their tools, and unbind the tools that were bound to them', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const gone = worker({ projectId })
      await store.workers.add(gone)
      const own = { kind: 'worker', workerUid: gone.uid, document: {} } as const
      const binding = { toolkit: 'Demo', name: 'Whoami' }
      await putTool(store, tool({ projectId, name: 'Own', source: own }))
      await putTool(store, tool({ projectId, name: 'Bound', binding: { ...binding, workerUid: gone.uid } }))
      await putTool(store, tool({ projectId, name: 'Other', binding: { ...binding, workerUid: 'work_2' } }))
      expect(await store.workers.delete(projectId, gone.id)).toBe(true)
      expect(await store.workers.delete(projectId, gone.id)).toBe(false)
      const left = (await store.tools.list(projectId)).map((one) => [one.name, one.binding?.workerUid])
      expect(left).toEqual([
        ['Bound', undefined],
        ['Other', 'work_2'],
      ])
      expect(await store.tools.named(projectId, 'own')).toEqual([])
    })

    test('with many tools are deleted in several commits, the worker in the last', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const gone = worker({ projectId })
      await store.workers.add(gone)
      const source = { kind: 'worker', workerUid: gone.uid, document: {} } as const
      const many = Array.from({ length: 125 }, (_, i) => tool({ projectId, name: `Own${i}`, source }))
      await store.tools.change(projectId, { put: many, removed: [] })
      const commits: string[] = []
      store.onChange(({ noun }) => void commits.push(noun))
      expect(await store.workers.delete(projectId, gone.id)).toBe(true)
      expect(commits).toEqual(['tool', 'tool', 'tool', 'tool', 'worker'])
      expect(await store.tools.list(projectId)).toEqual([])
    })
  })

  describe('secrets', () => {
    test('are stored once for each key, in upper or lower case', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const first = secret({ projectId, key: 'Api_Key', description: 'old' })
      expect(await store.secrets.put(first)).toEqual(first)
      const { description: _, ...bare } = first
      const put = await store.secrets.put({
        ...bare,
        key: 'API_KEY',
        value: sealed('new'),
        createdAt: 9,
        updatedAt: 9,
      })
      expect(put).toEqual({ ...bare, value: 'new', updatedAt: 9 })
      for (const key of ['API_KEY', 'api_key', 'Api_Key'])
        expect(await store.secrets.find(projectId, key)).toEqual(put)
      expect(await store.secrets.list(projectId)).toHaveLength(1)
    })

    test('are refused under a new id when another process has set their key meanwhile', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const first = secret({ projectId, key: 'KEY' })
      await other.secrets.put(first)
      expect(await store.secrets.put(secret({ projectId, key: 'key' }))).toBeUndefined()
      expect(await store.secrets.list(projectId)).toEqual([first])
    })

    test('keep when they were last used, and are deleted in their own project only', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const { id } = secret({ projectId })
      await store.secrets.put(secret({ projectId, id }))
      await store.secrets.used(new Map([[id, 42]]))
      expect(await store.secrets.find(projectId, 'api_key')).toMatchObject({ lastAccessedAt: 42 })
      expect(await store.secrets.find(another.projectId, 'api_key')).toBeUndefined()
      expect(await store.secrets.delete(another.projectId, id)).toBe(false)
      expect(await store.secrets.delete(projectId, id)).toBe(true)
      expect(await store.secrets.list(projectId)).toEqual([])
    })
  })
}
