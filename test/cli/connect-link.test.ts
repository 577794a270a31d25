import { afterEach, expect, test, vi } from 'vitest'
import type { Api } from '../../src/cli/api.ts'
import { waitForAnswer } from '../../src/cli/connect.ts'

const opened = vi.hoisted(() => vi.fn(async () => undefined))
vi.mock('open', () => ({ default: opened }))

afterEach(() => {
  vi.restoreAllMocks()
  opened.mockClear()
})

test.each([
  ['https://gatepass.example.com/connect/auth_1', true],
  ['http://localhost:8400/connect/auth_1', true],
  ['file:///etc/passwd', false],
  ['ms-msdt:/id', false],
  ['not a URL', false],
])('of the links that a server names, only a web page is opened: %s', async (url, isOpened) => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const authorization = { id: 'auth_1', status: 'pending', url, provider_id: 'acme', scopes: [] } as const
  const api = { call: async () => ({ ...authorization, status: 'completed' }) } as unknown as Api // the wait needs no more
  await waitForAnswer(api, authorization, { user: 'ada', open: true })
  expect(opened).toHaveBeenCalledTimes(isOpened ? 1 : 0)
})
