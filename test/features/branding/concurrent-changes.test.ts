import { afterEach, expect, test, vi } from 'vitest'
import { startGatepass } from '../../gatepass.ts'
import { afterNextRead, expectOk } from '../../http/meanwhile.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

test('two changes of one branding both last, and so do the first two', async () => {
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const change = (body: object) => expectOk(call('PATCH', '/v1/admin/projects/default/branding', body))
  const { brandings } = gatepass.broker.store
  afterNextRead(brandings, 'find', () => change({ app_name: 'Acme' }))
  await change({ lang: 'de' })
  vi.restoreAllMocks()
  afterNextRead(brandings, 'find', () => change({ app_name: 'Acme Assistant' }))
  await change({ accent: '#0b57d0' })
  const { body } = await call('GET', '/v1/admin/projects/default/branding')
  expect(body).toMatchObject({ app_name: 'Acme Assistant', lang: 'de', accent: '#0b57d0' })
})
