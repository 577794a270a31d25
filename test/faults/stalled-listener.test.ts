import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { LISTENER } from '../../src/store/dialects/postgres/announcements.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startGatepass, testClock } from '../gatepass.ts'
import { approve, providerBody } from '../http/world.ts'
import { freshDatabase } from '../postgres.ts'
import { until } from '../until.ts'

// Two nodes on one PostgreSQL. The announcements of the first do not reach the second: its connection for announcements
// stays open and passes no data.

const NEED = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }

test('a deny policy that was acknowledged is in force at once on a node that does not receive its announcement', async () => {
  await using database = await freshDatabase()
  await using link = await linkTo(database.url)
  const as = await startFakeAuthorizationServer()
  await using _ = { [Symbol.asyncDispose]: () => as.close() }
  await using writer = await startGatepass({ environment: { GATEPASS_DATABASE_URL: database.url } })
  await using deaf = await startGatepass({ environment: { GATEPASS_DATABASE_URL: link.url } })
  expect((await writer.call('POST', '/v1/admin/auth_providers', providerBody('demo', as))).status).toBe(201)
  await approve((await writer.call('POST', '/v1/auth/authorize', NEED)).body.url)
  const { items } = (await writer.call('GET', '/v1/connections?user_id=ada')).body
  const fetchOn = (node: typeof deaf) => node.call('POST', `/v1/connections/${items[0].id}/token`)
  expect((await fetchOn(deaf)).status).toBe(200)

  link.stall()
  const rule = { id: 'no-ada', effect: 'deny', match: { users: ['ada'] } }
  expect((await writer.call('POST', '/v1/admin/policies', rule)).status).toBe(201)
  const refused = await fetchOn(deaf)
  expect([refused.status, refused.body.name]).toEqual([403, 'denied_by_policy'])

  expect((await writer.call('DELETE', '/v1/admin/policies/no-ada')).status).toBe(204)
  expect((await fetchOn(writer)).status).toBe(200)
})

test.each<[string, (id: string) => readonly [method: string, path: string, body?: object]]>([
  ['revoked', (id) => ['DELETE', `/v1/admin/keys/${id}`]],
  ['rotated without a grace', (id) => ['POST', `/v1/admin/keys/${id}/rotate`, { grace: 0 }]],
])('a key that was %s gets no token on a node that does not receive the announcement', async (_, end) => {
  await using database = await freshDatabase()
  await using link = await linkTo(database.url)
  const as = await startFakeAuthorizationServer()
  await using _as = { [Symbol.asyncDispose]: () => as.close() }
  await using writer = await startGatepass({ environment: { GATEPASS_DATABASE_URL: database.url } })
  await using deaf = await startGatepass({ environment: { GATEPASS_DATABASE_URL: link.url } })
  expect((await writer.call('POST', '/v1/admin/auth_providers', providerBody('demo', as))).status).toBe(201)
  await approve((await writer.call('POST', '/v1/auth/authorize', NEED)).body.url)
  const { items } = (await writer.call('GET', '/v1/connections?user_id=ada')).body
  const heard: string[] = []
  deaf.broker.store.onChange(({ noun }) => void heard.push(noun))
  const { id, key } = (await writer.call('POST', '/v1/admin/keys', { role: 'caller' })).body
  // the announcement of the new key would empty the cache of keys once more
  await until(() => heard.includes('api_key'))
  const fetched = () => deaf.call('POST', `/v1/connections/${items[0].id}/token`, undefined, { key })
  expect((await fetched()).status).toBe(200)

  link.stall()
  expect((await writer.call(...end(id))).status).toBeLessThan(300)
  const refused = await fetched()
  expect([refused.status, refused.body.name]).toEqual([401, 'invalid_authorization'])
})

test('a provider that was changed in the second in which it was added releases no token of its old client on such a node', async () => {
  await using database = await freshDatabase()
  await using link = await linkTo(database.url)
  const as = await startFakeAuthorizationServer()
  await using _ = { [Symbol.asyncDispose]: () => as.close() }
  const now = testClock()
  await using writer = await startGatepass({ now, environment: { GATEPASS_DATABASE_URL: database.url } })
  await using deaf = await startGatepass({ now, environment: { GATEPASS_DATABASE_URL: link.url } })
  expect((await writer.call('POST', '/v1/admin/auth_providers', providerBody('demo', as))).status).toBe(201)
  await approve((await writer.call('POST', '/v1/auth/authorize', NEED)).body.url)
  const { items } = (await writer.call('GET', '/v1/connections?user_id=ada')).body
  const fetched = () => deaf.call('POST', `/v1/connections/${items[0].id}/token`)
  expect((await fetched()).status).toBe(200)

  link.stall()
  const client = { oauth2: { client_id: 'another' } }
  expect((await writer.call('PATCH', '/v1/admin/auth_providers/demo', client)).status).toBe(200)
  expect((await fetched()).status).not.toBe(200)
})

/** A TCP proxy to the database that can hold back announcements, and passes everything else. */
async function linkTo(database: string) {
  const target = new URL(database)
  const sockets = new Set<Socket>()
  const listeners = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.once('data', (startup: Buffer) => {
      if (startup.includes(LISTENER)) listeners.add(far)
    })
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(database)
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  return {
    url: url.href,
    stall() {
      expect(listeners.size).toBeGreaterThan(0)
      for (const far of listeners) far.unpipe().pause()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
