import { expect, test } from 'vitest'
import { checkApiKeys } from '../../src/diagnosis/check-project.ts'
import { type ApiKey, issueApiKey } from '../../src/domain/api-key.ts'

const NOW = 1000

async function statusWith(...keys: readonly ApiKey[]): Promise<string> {
  const project = { id: 'proj_1', name: 'acme' }
  const broker = { now: () => NOW, store: { apiKeys: { list: async () => keys } } }
  // the members that the check reads
  const target = { broker, project, config: {} } as unknown as Parameters<typeof checkApiKeys>[0]
  return (await checkApiKeys(target)).status
}

test('only a key that is neither revoked nor expired counts', async () => {
  const { record: key } = issueApiKey({ projectId: 'proj_1', name: '', role: 'caller', createdAt: 1 })
  expect(await statusWith()).toBe('warning')
  expect(await statusWith({ ...key, revokedAt: NOW - 1 }, { ...key, expiresAt: NOW })).toBe('warning')
  expect(await statusWith({ ...key, expiresAt: NOW + 1 })).toBe('ok')
})
