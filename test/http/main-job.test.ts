import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type FakeWorker, startFakeWorker } from '../fake-worker.ts'
import { toolMetadata } from '../fixtures.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'

let as: FakeAuthorizationServer
let worker: FakeWorker
let gatepass: Gatepass

beforeAll(async () => {
  as = await startFakeAuthorizationServer()
  worker = await startFakeWorker({
    secret: 'worker-secret',
    apiUrl: `${as.url}/api/me`,
    requirement: { id: 'demo', scopes: ['read'] },
  })
  gatepass = await startGatepass()
})

afterAll(async () => {
  await gatepass.close()
  await worker.close()
  await as.close()
})

test('from metadata to the tool that runs with the injected token', async () => {
  const { call } = gatepass
  expect(
    await call('POST', '/v1/workers', {
      id: 'demo',
      http: { uri: worker.url, secret: 'worker-secret', timeout: 60, retry: 1 },
    }),
  ).toMatchObject({ status: 201 })
  const imported = await call('POST', '/v1/tools/import?worker_id=demo', toolMetadata(as))
  expect(imported.status).toBe(200)
  expect(imported.body.items[0]).toMatchObject({
    result: 'created',
    providers: [{ id: 'demo', missing: [] }],
  })

  const first = await call('POST', '/v1/tools/execute', { tool_name: 'Who am I', user_id: 'u1' })
  expect(first.body.output.requires_authorization).toMatchObject({ status: 'pending', scopes: ['read'] })
  const { id, url } = first.body.output.requires_authorization

  const browser = new UserAgent()
  const connect = await browser.get(url)
  expect(connect.body).toContain('Who am I')
  const waiting = call('GET', `/v1/auth/status?id=${id}&wait=30`)
  const end = await browser.submitForm(connect)
  expect(end.status).toBe(200)
  expect((await waiting).body).toMatchObject({ id, status: 'completed', provider_id: 'demo' })

  const second = await call('POST', '/v1/tools/execute', { tool_name: 'Who am I', user_id: 'u1' })
  expect(second.body).toMatchObject({
    success: true,
    output: { value: { account: { sub: as.account.sub } } },
  })
})
