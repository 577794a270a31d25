import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthorizationServerWorld, startAuthorizationServer } from './authorization-server-world.ts'
import { exchange, initialize, legacy, type RawOptions, send } from './raw.ts'

// What a hostile client sends to /mcp, against a server with an authorization server of its own.

let world: AuthorizationServerWorld
beforeAll(async () => {
  world = await startAuthorizationServer()
})
afterAll(() => world[Symbol.asyncDispose]())

const bearer = (token: string): RawOptions => ({ key: null, headers: { authorization: `Bearer ${token}` } })

test.each([
  ['a quote', '/mcp/a%22,%20resource_metadata=%22https:%2f%2fevil.test'],
  ['a line break', '/mcp/a%0d%0ax-evil:%201'],
  ['another alphabet', '/mcp/%E2%82%AC'],
])('a path with %s is no toolset, and is in no header', async (_, path) => {
  const { status, headers, body } = await exchange(world.gatepass, legacy('tools/list'), { path, key: null })
  expect({ status, name: body.name }).toEqual({ status: 404, name: 'not_found' })
  expect(JSON.stringify([...headers])).not.toContain('evil')
})

test('a request that nests too deep is refused before anything reads it', async () => {
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${deep}}}`
  const answer = await exchange(world.gatepass, body)
  expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 400, code: -32_700 })
})

test('each message of a batch counts against the rate of its user and client', async () => {
  await using slow = await startAuthorizationServer({ environment: { GATEPASS_RATE_LIMIT: '10' } })
  const { accessToken } = await slow.connect()
  const batch = Array.from({ length: 20 }, (_, id) => legacy('ping', undefined, id))
  expect((await exchange(slow.gatepass, batch, bearer(accessToken))).status).toBe(429)
})

test('a user has the streams of one user, with however many clients', async () => {
  const ending = new AbortController()
  const streams: Response[] = []
  const open = async () => {
    const { accessToken } = await world.connect()
    const { headers } = await exchange(world.gatepass, initialize(), bearer(accessToken))
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    return async () => {
      const response = await send(world.gatepass, undefined, {
        method: 'GET',
        key: null,
        headers: { ...bearer(accessToken).headers, ...session },
        signal: ending.signal,
      })
      streams.push(response) // one that is let go would be closed
      return response.status
    }
  }
  const clients = [await open(), await open()]
  const statuses: number[] = []
  for (const stream of clients) for (let i = 0; i < 17; i++) statuses.push(await stream())
  ending.abort()
  expect(statuses.filter((status) => status === 200)).toHaveLength(32)
  expect(statuses.slice(-2)).toEqual([429, 429])
})
