import { describe, expect, test } from 'vitest'
import type { StoreChange } from '../../src/store/changes.ts'
import { BACKUP_FACT } from '../../src/store/facts.ts'
import { inProject, mcpConsent, mcpRecord, type OpenedStore, sealed } from './fixtures.ts'

/** Tests the promises of `McpRecords` and `McpConsents`. */
export function mcpPromises(open: () => Promise<OpenedStore>): void {
  describe('records of the authorization server', () => {
    test('are found by model and id until they expire, and are replaced by a later put', async () => {
      await using opened = await open()
      const { store, other } = opened
      const client = mcpRecord({ model: 'Client', id: 'one', expiresAt: 10 })
      await store.mcpRecords.put(client)
      expect(await other.mcpRecords.find('Client', 'one', 9)).toEqual(client)
      expect(await other.mcpRecords.find('Client', 'one', 10)).toBeUndefined()
      expect(await other.mcpRecords.find('Grant', 'one', 9)).toBeUndefined()
      const lasting = mcpRecord({ model: 'Client', id: 'one', payload: sealed('other') })
      await other.mcpRecords.put(lasting)
      expect(await store.mcpRecords.find('Client', 'one', 1_000)).toEqual(lasting)
      await store.mcpRecords.delete('Client', 'one')
      expect(await other.mcpRecords.find('Client', 'one', 9)).toBeUndefined()
    })

    test('are consumed by one of several racing processes; the time of the first use is kept', async () => {
      await using opened = await open()
      const { store, other } = opened
      const code = mcpRecord({ model: 'AuthorizationCode', expiresAt: 100 })
      await store.mcpRecords.put(code)
      const race = [store, other, store, other].map((one) => one.mcpRecords.consume(code.model, code.id, 5))
      expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1)
      expect(await other.mcpRecords.consume(code.model, code.id, 6)).toBe(false)
      expect(await store.mcpRecords.find(code.model, code.id, 7)).toEqual({ ...code, consumedAt: 5 })
      await store.mcpRecords.put(code)
      expect(await store.mcpRecords.find(code.model, code.id, 7)).toMatchObject({ consumedAt: 5 })
    })

    test('are replaced if nobody has replaced them since they were read', async () => {
      await using opened = await open()
      const { store, other } = opened
      const token = mcpRecord({ model: 'RefreshToken', grantId: 'g', expiresAt: 100 })
      await store.mcpRecords.put(token)
      const next = (i: number) => ({ ...token, payload: sealed(`next ${i}`), expiresAt: 200 })
      const race = [store, other].map((one, i) => one.mcpRecords.replace(next(i), token.payload))
      expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1)
      expect(await other.mcpRecords.find(token.model, token.id, 150)).toMatchObject({ grantId: 'g' })
      expect(await store.mcpRecords.replace({ ...token, id: 'none' }, token.payload)).toBe(false)
    })

    test('of a client last longer once a user has approved it, never shorter, and not after they have expired', async () => {
      await using opened = await open()
      const { store, other } = opened
      await store.mcpRecords.put(mcpRecord({ model: 'Client', id: 'one', expiresAt: 10, network: 'n' }))
      expect(await other.mcpRecords.countUnapproved()).toBe(1)
      await store.mcpRecords.approve('one', 5, 1)
      expect(await other.mcpRecords.find('Client', 'one', 9)).toBeDefined()
      await store.mcpRecords.approve('one', 20, 1)
      expect(await other.mcpRecords.find('Client', 'one', 19)).toBeDefined()
      expect(await other.mcpRecords.countUnapproved()).toBe(0)
      await store.mcpRecords.approve('one', 99, 20)
      expect(await other.mcpRecords.find('Client', 'one', 21)).toBeUndefined()
    })

    test('of unapproved clients give way, the oldest of the network that has most', async () => {
      await using opened = await open()
      const { store, other } = opened
      const clients = [
        { id: 'lone', network: 'b', expiresAt: 10 },
        { id: 'many 2', network: 'a', expiresAt: 30 },
        { id: 'many 1', network: 'a', expiresAt: 20 },
        { id: 'approved', expiresAt: 5 },
      ]
      for (const one of clients) await store.mcpRecords.put(mcpRecord({ model: 'Client', ...one }))
      const left = async () => {
        const found = clients.map(async ({ id }) => (await other.mcpRecords.find('Client', id, 0))?.id)
        return (await Promise.all(found)).filter(Boolean)
      }
      await store.mcpRecords.evictUnapproved()
      expect(await left()).toEqual(['lone', 'many 2', 'approved'])
      await other.mcpRecords.evictUnapproved()
      expect(await left()).toEqual(['many 2', 'approved'])
      await store.mcpRecords.evictUnapproved()
      await store.mcpRecords.evictUnapproved()
      expect(await left()).toEqual(['approved'])
    })

    test('are swept once they have expired', async () => {
      await using opened = await open()
      const { store, other } = opened
      for (const expiresAt of [10, 20, 30])
        await store.mcpRecords.put(mcpRecord({ model: 'Client', expiresAt, network: 'n' }))
      expect(await other.mcpRecords.sweep(20)).toBe(1)
      expect(await store.mcpRecords.countUnapproved()).toBe(2)
    })
  })

  describe('approvals of MCP clients', () => {
    test('that another verifier, or none that is known, made possible are found', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      for (const [i, verifier] of ['now', 'before', undefined, 'before'].entries())
        await store.mcpConsents.put(
          mcpConsent({
            projectId,
            clientId: `c${i}`,
            ...(i < 3 && { grantId: `g${i}` }),
            ...(verifier && { verifier }),
          }),
        )
      const { total, some } = await other.mcpConsents.ofOtherVerifiers('now', 1)
      expect([total, some.length]).toEqual([2, 1])
      expect(
        (await other.mcpConsents.ofOtherVerifiers('before', 9)).some.map((one) => one.clientId).sort(),
      ).toEqual(['c0', 'c2'])
    })

    test('are kept once for each user, client and redirect URI; a later one replaces scopes and grant', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const first = mcpConsent({ projectId, grantId: 'g1' })
      await store.mcpConsents.put(first)
      expect(await other.mcpConsents.find(first)).toEqual(first)
      expect(await other.mcpConsents.findByGrant('g1')).toEqual(first)
      const announced: StoreChange[] = []
      other.onChange((change) => void announced.push(change))
      await other.mcpConsents.put({ ...first, id: 'another', scopes: ['mcp', 'mcp:read'], grantId: 'g2' })
      for (const id of ['g1', 'g2']) expect(announced).toContainEqual({ noun: 'mcp_grant', id })
      expect(await store.mcpConsents.find(first)).toEqual({
        ...first,
        scopes: ['mcp', 'mcp:read'],
        grantId: 'g2',
      })
      expect(await store.mcpConsents.findByGrant('g1')).toBeUndefined()
      for (const different of [
        { userId: 'bob' },
        { clientId: 'c2' },
        { redirectUri: 'https://other.example/' },
      ])
        expect(await store.mcpConsents.find({ ...first, ...different })).toBeUndefined()
    })

    test('are listed of one user or of all, and only in their own project', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const [older, newer] = [
        mcpConsent({ projectId }),
        mcpConsent({ projectId, clientId: 'c2', createdAt: 2 }),
      ]
      const ofBob = mcpConsent({ projectId, userId: 'bob', createdAt: 3 })
      for (const one of [older, newer, ofBob]) await store.mcpConsents.put(one)
      expect(await other.mcpConsents.ofUser(projectId, 'ada')).toEqual([newer, older])
      const page = { offset: 0, limit: 10 }
      expect(await other.mcpConsents.list(projectId, {}, page)).toEqual({
        items: [ofBob, newer, older],
        total: 3,
      })
      expect((await other.mcpConsents.list(projectId, { userId: 'bob' }, page)).items).toEqual([ofBob])
      expect((await other.mcpConsents.list(another.projectId, {}, page)).items).toEqual([])
      expect(await other.mcpConsents.findById(another.projectId, older.id)).toBeUndefined()
      expect(await other.mcpConsents.delete(another.projectId, older.id)).toBe(false)
      expect(await other.mcpConsents.findById(projectId, older.id)).toEqual(older)
    })

    test('are deleted with their grant and its tokens, which is announced', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const consent = mcpConsent({ projectId, grantId: 'g1' })
      const own = [
        mcpRecord({ model: 'Grant', id: 'g1' }),
        mcpRecord({ model: 'RefreshToken', grantId: 'g1' }),
        mcpRecord({ model: 'AuthorizationCode', grantId: 'g1' }),
      ]
      const foreign = mcpRecord({ model: 'RefreshToken', grantId: 'g2' })
      await store.mcpConsents.put(consent)
      for (const one of [...own, foreign]) await store.mcpRecords.put(one)
      const announced: unknown[] = []
      store.onChange((change) => announced.push(change))
      expect(await store.mcpConsents.delete(projectId, consent.id)).toBe(true)
      expect(announced).toEqual([{ noun: 'mcp_grant', id: 'g1' }])
      expect(await other.mcpConsents.findByGrant('g1')).toBeUndefined()
      for (const { model, id } of own) expect(await other.mcpRecords.find(model, id, 1)).toBeUndefined()
      expect(await other.mcpRecords.find(foreign.model, foreign.id, 1)).toEqual(foreign)
      expect(await other.mcpConsents.delete(projectId, consent.id)).toBe(false)
    })

    test('are kept when their grant ends, without the grant', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const consent = mcpConsent({ projectId, grantId: 'g1' })
      await store.mcpConsents.put(consent)
      await store.mcpRecords.put(mcpRecord({ model: 'RefreshToken', id: 'r', grantId: 'g1' }))
      expect(await other.mcpConsents.endGrant('g1')).toBe(true)
      expect(await store.mcpConsents.findByGrant('g1')).toBeUndefined()
      expect(await store.mcpRecords.find('RefreshToken', 'r', 1)).toBeUndefined()
      const { grantId: _, ...kept } = consent
      expect(await store.mcpConsents.find(consent)).toEqual(kept)
      expect(await other.mcpConsents.endGrant('g1')).toBe(false)
    })

    test('keep their last use, and are swept with their grants when it was before the given time', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [idle, used] = [
        mcpConsent({ projectId, clientId: 'idle', grantId: 'g1' }),
        mcpConsent({ projectId, clientId: 'used', grantId: 'g2' }),
      ]
      for (const one of [idle, used]) await store.mcpConsents.put(one)
      await store.mcpRecords.put(mcpRecord({ model: 'Grant', id: 'g1' }))
      await store.mcpConsents.used('g2', 50)
      expect(await other.mcpConsents.find(used)).toEqual({ ...used, lastUsedAt: 50 })
      expect(await other.mcpConsents.sweep(50)).toBe(1)
      expect(await store.mcpConsents.ofUser(projectId, 'ada')).toEqual([{ ...used, lastUsedAt: 50 }])
      expect(await store.mcpRecords.find('Grant', 'g1', 1)).toBeUndefined()
    })

    test('are deleted from a restored backup with every grant and token, since some may have been revoked since', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      await store.mcpConsents.put(mcpConsent({ projectId, grantId: 'g1' }))
      const client = mcpRecord({ model: 'Client' })
      const [grant, token] = [mcpRecord({ model: 'Grant', id: 'g1' }), mcpRecord({ model: 'RefreshToken' })]
      for (const one of [client, grant, token]) await store.mcpRecords.put(one)
      await store.facts.put(BACKUP_FACT, '3')
      expect(await store.settleRestore('restored', 5)).toMatchObject({ mcpConsents: 1 })
      expect(await other.mcpConsents.ofUser(projectId, 'ada')).toEqual([])
      for (const { model, id } of [grant, token])
        expect(await other.mcpRecords.find(model, id, 1)).toBeUndefined()
      expect(await other.mcpRecords.find(client.model, client.id, 1)).toEqual(client)
    })
  })
}
