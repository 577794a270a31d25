import { expect, test } from 'vitest'
import { checkApiKeys } from '../../src/diagnosis/check-project.ts'
import { type ApiKey, issueApiKey } from '../../src/domain/api-key.ts'

const NOW = 1000

function check(keys: readonly ApiKey[], config: { readonly apiKey?: string } = {}, name = 'acme') {
  const project = { id: 'proj_1', name }
  const broker = { now: () => NOW, store: { apiKeys: { list: async () => keys } } }
  // the members that the check reads
  const target = { broker, project, config } as unknown as Parameters<typeof checkApiKeys>[0]
  return checkApiKeys(target)
}

async function statusWith(...keys: readonly ApiKey[]): Promise<string> {
  return (await check(keys)).status
}

test('only a key that is neither revoked nor expired counts', async () => {
  const { record: key } = issueApiKey({ projectId: 'proj_1', name: '', role: 'caller', createdAt: 1 })
  expect(await statusWith()).toBe('warning')
  expect(await statusWith({ ...key, revokedAt: NOW - 1 }, { ...key, expiresAt: NOW })).toBe('warning')
  expect(await statusWith({ ...key, expiresAt: NOW + 1 })).toBe('ok')
})

test('GATEPASS_API_KEY is accepted from the next start on, unless it was revoked', async () => {
  const { key: apiKey, record } = issueApiKey({ projectId: 'proj_1', name: '', role: 'admin', createdAt: 1 })
  const { record: other } = issueApiKey({ projectId: 'proj_1', name: '', role: 'admin', createdAt: 1 })
  const after = (revoked: ApiKey) => check([{ ...revoked, revokedAt: 2 }], { apiKey }, 'default')
  expect(await after(other)).toMatchObject({ status: 'ok', message: expect.stringContaining('next start') })
  expect(await after(record)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('stays refused'),
    fix: expect.stringContaining('gatepass keys create --project default --role admin'),
  })
})
