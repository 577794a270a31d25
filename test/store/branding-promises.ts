import { describe, expect, test } from 'vitest'
import type { Branding } from '../../src/domain/branding.ts'
import { inProject, type OpenedStore, pending } from './fixtures.ts'

/** What `Brandings` promises, and what an authorization keeps for its page. */
export function brandingPromises(open: () => Promise<OpenedStore>): void {
  describe('branding', () => {
    test('is one of each project, and its image is read alone', async () => {
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
      await store.brandings.put(branding, logo)
      expect(await other.brandings.find(projectId)).toEqual(branding)
      expect(await store.brandings.findLogo(projectId, 'l1')).toEqual(logo)
      expect(await store.brandings.findLogo(projectId, 'l2')).toBeUndefined()
      expect(await store.brandings.findStyle('s1')).toEqual({ accent: '#0b57d0' })

      // the image stays until it is replaced or taken away
      await store.brandings.put({ ...branding, appName: 'Acme Assistant', updatedAt: 2 })
      expect(await store.brandings.findLogo(projectId, 'l1')).toEqual(logo)
      const { logoHash: _, styleHash: _style, ...bare } = branding
      await store.brandings.put(bare)
      expect(await store.brandings.find(projectId)).toEqual(bare)
      expect(await store.brandings.findLogo(projectId, 'l1')).toBeUndefined()
      expect(await store.brandings.findStyle('s1')).toBeUndefined()
    })

    test('an authorization keeps the name and the language that its caller gave last', async () => {
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
