import { afterEach, expect, test, vi } from 'vitest'
import { expectOk } from '../../http/meanwhile.ts'
import { startWorld } from '../../http/world.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

test('two changes of one toolset both last', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { toolsets } = gatepass.broker.store
  await call('POST', '/v1/toolsets', { id: 'mail', tags: ['mail'] })
  const { change } = toolsets
  vi.spyOn(toolsets, 'change').mockImplementationOnce(async (...args) => {
    await expectOk(call('PATCH', '/v1/toolsets/mail', { instructions: 'Ask first.' }))
    return change(...args)
  })
  await expectOk(call('PATCH', '/v1/toolsets/mail', { tags: ['post'] }))
  const { body } = await call('GET', '/v1/toolsets/mail')
  expect(body).toMatchObject({ tags: ['post'], instructions: 'Ask first.' })
})
