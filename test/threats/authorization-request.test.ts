import { request as httpRequest } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { WorkerTool } from '../fake-worker.ts'
import { click, startScene } from '../flows/fixtures.ts'
import { metadata, startWorld } from '../http/world.ts'

describe('threat 5: PKCE is never weakened', () => {
  test('a server that requires plain gets S256 all the same, and the authorization fails', async () => {
    await using scene = await startScene({ as: { requirePkce: 'plain' } })
    const { id, url } = (await scene.authorize()).body
    await click(url)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed' })
    const requests = scene.as.requestsTo('/authorize')
    expect(requests.map(({ params }) => params.code_challenge_method)).toEqual(['S256'])
    expect(scene.as.tokenRequests('authorization_code').length).toBeLessThanOrEqual(1)
  })

  test('every attempt has S256 and a verifier of its own', async () => {
    await using scene = await startScene()
    for (const user_id of ['ada', 'bob']) await scene.connect({ user_id })
    const requests = scene.as.requestsTo('/authorize')
    expect(requests.map(({ params }) => params.code_challenge_method)).toEqual(['S256', 'S256'])
    const verifiers = scene.as.tokenRequests('authorization_code').map(({ params }) => params.code_verifier)
    expect(new Set(verifiers).size).toBe(2)
  })
})

describe('threat 8: no URL is built from the Host or the forwarding headers of a request', () => {
  test.each([
    ['Host', { host: 'evil.example' }],
    ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
    ['Forwarded', { forwarded: 'host=evil.example;proto=https' }],
  ])('%s', async (_, headers) => {
    await using scene = await startScene()
    const { body } = await scene.authorize()
    const { port } = new URL(scene.gatepass.url)
    const page = await rawGet(Number(port), new URL(body.url).pathname, headers)
    expect(page).not.toContain('evil.example')
    const again = await rawPost(Number(port), new URL(body.url).pathname, headers)
    expect(again.location).toContain(encodeURIComponent(`${scene.gatepass.url}/callback/`))
    expect(again.location).not.toContain('evil.example')
  })
})

describe('threat 44: without a verifier for users, Gatepass has no endpoints of an authorization server', () => {
  test.each(['/authorize', '/token', '/oauth2/token', '/oauth2/authorize', '/register'])(
    '%s',
    async (path) => {
      await using scene = await startScene()
      expect((await scene.call('POST', path, {})).status).toBe(404)
      expect((await scene.call('GET', path)).status).toBe(404)
    },
  )
})

describe('threat 48: a tool cannot get another tool’s token by declaring the same provider', () => {
  test('only an administrator makes tools, and each import is in the audit trail', async () => {
    await using world = await startWorld()
    const tool = metadata('Thief')
    for (const role of ['caller', 'readonly'] as const) {
      const key = await world.gatepass.makeKey(role)
      expect((await world.call('POST', '/v1/tools/import', tool, { key })).status).toBe(403)
    }
    expect((await world.call('POST', '/v1/tools/import', tool)).status).toBe(200)
    const { body } = await world.call('GET', '/v1/admin/audit?action=tool.imported')
    expect(body.items).toMatchObject([{ tool: expect.stringMatching(/thief/i), actor: { kind: 'api_key' } }])
  })

  test('a tool that needs more scopes than were granted gets no token: its caller gets a link', async () => {
    await using world = await startWorld({
      worker: { requirement: { id: 'demo', scopes: ['read', 'write'] } },
    })
    await world.connect('ada', ['read'])
    const { body } = await world.execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'x' } })
    expect(body.output.requires_authorization.scopes).toContain('write')
    expect(world.worker.invocations).toEqual([])
  })

  test('each tool gets a token only for the scopes that it declares and that were granted, also after other tools', async () => {
    const given: unknown[] = []
    const tool = (name: string, more: Partial<WorkerTool>): WorkerTool => ({
      name,
      description: name,
      run: async (_, context) => {
        given.push([name, context.authorization?.token ?? null])
        return { value: name }
      },
      ...more,
    })
    await using world = await startWorld({
      worker: {
        tools: [
          tool('Reader', { authorization: { id: 'demo', scopes: ['read'] } }),
          tool('Writer', { authorization: { id: 'demo', scopes: ['write'] } }),
          tool('Thief', {}),
        ],
      },
    })
    const token = await world.connect('ada', ['read'])
    const run = async (name: string) =>
      (await world.execute(`Demo.${name}`, { user_id: 'ada', input: {} })).body.output
    expect(await run('Reader')).toEqual({ value: 'Reader' })
    expect((await run('Writer')).requires_authorization.scopes).toContain('write')
    expect(await run('Thief')).toEqual({ value: 'Thief' })
    expect(given).toEqual([
      ['Reader', token],
      ['Thief', null],
    ])
  })
})

function rawGet(port: number, path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', path, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}

function rawPost(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<{ readonly location: string }> {
  return new Promise((resolve, reject) => {
    const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
    httpRequest(
      { port, host: '127.0.0.1', path, method: 'POST', headers: { ...own, ...headers } },
      (response) => {
        response.resume()
        resolve({ location: response.headers.location ?? '' })
      },
    )
      .on('error', reject)
      .end()
  })
}
