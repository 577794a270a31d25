import { describe, expect, test } from 'vitest'
import type { Branding } from '../../../src/features/branding/domain.ts'
import { inProject, type OpenedStore, pending } from '../../store/fixtures.ts'

/** Tests the promises of `Brandings`, and that an authorization keeps the name and the language for its page. */
export function brandingPromises(open: () => Promise<OpenedStore>): void {
  describe('branding', () => {
    test('is stored once for each project, and its logo is read apart from it', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const branding: Branding = {
        projectId,
        appName: 'Acme',
        accent: '#0b57d0',
        styleHash: 's1',
        texts: { en: { 'connect.note': 'Hello' } },
        logoHash: 'l1',
        updatedAt: 1,
      }
      expect(await store.brandings.find(projectId)).toBeUndefined()
      const logo = { type: 'image/png', data: 'aGk=' } as const
      expect(await store.brandings.replace(undefined, branding, logo)).toBe(true)
      expect(await other.brandings.find(projectId)).toEqual(branding)
      expect(await store.brandings.findLogo(projectId, 'l1')).toEqual(logo)
      expect(await store.brandings.findLogo(projectId, 'l2')).toBeUndefined()
      expect(await store.brandings.findStyle('s1')).toEqual({ accent: '#0b57d0' })

      // the image stays until it is replaced or removed
      const renamed = { ...branding, appName: 'Acme Assistant', updatedAt: 2 }
      expect(await store.brandings.replace(branding, renamed)).toBe(true)
      expect(await store.brandings.findLogo(projectId, 'l1')).toEqual(logo)
      const newer = { type: 'image/webp', data: 'bmV3ZXI=' } as const
      const current = { ...renamed, logoHash: 'l2', updatedAt: 3 }
      expect(await other.brandings.replace(renamed, current, newer)).toBe(true)
      for (const before of [renamed, undefined])
        expect(await store.brandings.replace(before, { ...branding, appName: 'Stale' }, logo)).toBe(false)
      expect(await store.brandings.find(projectId)).toEqual(current)
      expect(await store.brandings.findLogo(projectId, 'l2')).toEqual(newer)
      const { logoHash: _, styleHash: _style, ...bare } = branding
      await store.brandings.replace(current, bare)
      expect(await store.brandings.find(projectId)).toEqual(bare)
      expect(await store.brandings.findLogo(projectId, 'l2')).toBeUndefined()
      expect(await store.brandings.findStyle('s1')).toBeUndefined()
    })

    test('its domain is stored apart, and only one project can prove a name', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const { id: second } = await store.projects.ensure('second', 1)
      const name = 'auth.acme.example'
      const announced: unknown[] = []
      store.onChange((change) => change.noun === 'domain' && announced.push(change.projectId))
      expect(await store.domains.remove(projectId)).toBe(false)
      await store.domains.put(projectId, { name, challenge: 'c1' }, 1)
      const domainOnly = await other.brandings.find(projectId)
      await store.brandings.replace(domainOnly, { projectId, appName: 'Acme', updatedAt: 2 })
      const claimed = { projectId, appName: 'Acme', domain: { name, challenge: 'c1' }, updatedAt: 2 }
      expect(await other.brandings.find(projectId)).toEqual(claimed)
      const proved = { projectId, name, provedAt: 5, mac: 'm' }
      expect(await store.domains.prove(proved, 'c2')).toBe(false)
      expect(await store.domains.findProved(projectId)).toBeUndefined()
      expect(await store.domains.prove(proved, 'c1')).toBe(true)
      expect(await other.domains.findProved(projectId)).toEqual(proved)
      expect(await other.domains.findHolder(name)).toEqual({ projectId, challenge: 'c1' })
      expect((await store.brandings.find(projectId))?.domain).toEqual({ name, challenge: 'c1', provedAt: 5 })

      await store.domains.put(second, { name, challenge: 'c3' }, 3)
      await expect(store.domains.prove({ ...proved, projectId: second }, 'c3')).rejects.toMatchObject({
        code: 'already_exists',
      })
      expect(await store.domains.unprove(projectId, { name, challenge: 'c9' })).toBe(false)
      expect(await store.domains.unprove(projectId, { name, challenge: 'c1' })).toBe(true)
      expect(await store.domains.prove({ ...proved, projectId: second }, 'c3')).toBe(true)
      await store.domains.put(projectId, { name: 'b.example', challenge: 'c4' }, 4)
      await store.domains.prove({ projectId, name: 'b.example', provedAt: 6 }, 'c4')
      const page = await store.domains.page('', 1)
      expect([page.rows.map((one) => one.name), page.next]).toEqual([[name], name])
      expect((await store.domains.page(name, 2)).rows.map((one) => one.name)).toEqual(['b.example'])

      // another name is not proved yet, and neither is the same name with another challenge
      await store.domains.put(second, { name, challenge: 'c5' }, 7)
      expect((await store.brandings.find(second))?.domain).toEqual({ name, challenge: 'c5' })
      expect(await store.domains.remove(second)).toBe(true)
      expect(await store.brandings.find(second)).toEqual({ projectId: second, updatedAt: 7 })
      expect(new Set(announced)).toEqual(new Set([projectId, second]))
    })

    test('an authorization keeps the display name and the language that its caller gave last', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner } = await inProject(store)
      const of = (id: string) => pending(owner, { id })
      const first = await store.authorizations.begin(
        { ...of('a1'), userDisplay: 'Ada L.', lang: 'de' },
        'share',
        1,
      )
      expect(first).toMatchObject({ userDisplay: 'Ada L.', lang: 'de' })
      const next = await store.authorizations.begin({ ...of('a2'), userDisplay: 'Ada' }, 'share', 2)
      expect(next).toMatchObject({ id: 'a1', userDisplay: 'Ada', lang: 'de' })
      expect((await store.authorizations.find('a1'))?.userDisplay).toBe('Ada')
    })
  })
}
