import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { click, type Scene, startScene } from './fixtures.ts'

describe('connections', () => {
  test('are listed without a token, in pages', async () => {
    await using scene = await startScene()
    for (const user_id of ['u1', 'u2', 'u3']) await scene.connect({ user_id })
    const all = (await scene.call('GET', '/v1/connections')).body
    expect(all).toMatchObject({ total_count: 3, offset: 0, limit: 25, page_count: 3 })
    const first = all.items.find((one: { user_id: string }) => one.user_id === 'u1')
    expect(first).toEqual({
      id: expect.stringMatching(/^conn_/),
      user_id: 'u1',
      provider_id: 'demo',
      account: { id: 'u-1', name: 'ada@example.test' },
      scopes: ['read'],
      status: 'active',
      expires_at: new Date((scene.clock() + 3600) * 1000).toISOString(),
      created_at: new Date(scene.clock() * 1000).toISOString(),
      ...(first.last_used_at && { last_used_at: expect.any(String) }),
      default: true,
    })
    for (const secret of scene.as.secrets()) expect(JSON.stringify(all)).not.toContain(secret)
    const users: string[] = []
    for (let offset = 0; offset < 3; offset += 2) {
      const { body } = await scene.call('GET', `/v1/connections?limit=2&offset=${offset}`)
      expect(body).toMatchObject({ total_count: 3, offset, limit: 2 })
      users.push(...body.items.map((one: { user_id: string }) => one.user_id))
    }
    expect(users.sort()).toEqual(['u1', 'u2', 'u3'])
    expect((await scene.call('GET', '/v1/connections?user_id=u2')).body.total_count).toBe(1)
    expect((await scene.call('GET', '/v1/connections?user_id=nobody')).body.items).toEqual([])
    expect((await scene.call('GET', '/v1/connections?provider_id=demo')).body.total_count).toBe(3)
    expect((await scene.call('GET', '/v1/connections?limit=101')).body.limit).toBe(100)
  })

  test('give their token to a caller, not to a readonly key', async () => {
    await using scene = await startScene()
    const { token } = (await scene.connect()).body.context
    const { id } = (await scene.authorize()).body
    expect((await scene.call('POST', `/v1/connections/${id}/token`)).body).toEqual({
      access_token: token,
      token_type: expect.stringMatching(/^bearer$/i),
      expires_at: new Date((scene.clock() + 3600) * 1000).toISOString(),
      scopes: ['read'],
    })
    const key = await scene.gatepass.makeKey('readonly')
    expect((await scene.call('GET', `/v1/connections/${id}`, undefined, { key })).status).toBe(200)
    for (const [method, path] of [
      ['POST', `/v1/connections/${id}/token`],
      ['DELETE', `/v1/connections/${id}`],
    ] as const)
      expect(await scene.call(method, path, undefined, { key })).toMatchObject({ status: 403 })
  })
})

test('the token of a provider that is switched off is not given', async () => {
  await using scene = await startScene()
  const { id: authorization } = (await scene.connect()).body
  const { id } = (await scene.authorize()).body
  expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })).status).toBe(
    200,
  )
  for (const [method, path] of [
    ['POST', `/v1/connections/${id}/token`],
    ['GET', `/v1/auth/status?id=${id}`],
    ['GET', `/v1/auth/status?id=${authorization}`],
  ] as const)
    expect(await scene.call(method, path)).toMatchObject({ status: 400, body: { name: 'provider_inactive' } })
})

async function projectOf({ gatepass }: Scene): Promise<string> {
  return (await gatepass.broker.store.projects.findByName('default'))?.id ?? ''
}

describe('delete', () => {
  test('revokes the refresh token and the access token at the provider', async () => {
    await using scene = await startScene()
    const { token } = (await scene.connect()).body.context
    const { id } = (await scene.authorize()).body
    expect(await scene.call('DELETE', `/v1/connections/${id}`)).toMatchObject({
      status: 200,
      body: { id, revocation: 'revoked' },
    })
    expect(scene.as.requestsTo('/revoke').map(({ params }) => params.token_type_hint)).toEqual([
      'refresh_token',
      'access_token',
    ])
    expect(scene.as.requestsTo('/revoke').at(-1)?.params.token).toBe(token)
    for (const { params } of scene.as.requestsTo('/revoke'))
      expect(params).not.toHaveProperty('client_secret')
    expect(scene.as.isLive(token)).toBe(false)
  })

  test.each([
    ['revoked', {}, {}],
    ['revoked without a refresh token', {}, { omitRefreshToken: true }],
    ['unsupported', { revocation_request: null }, {}],
    ['failed', {}, { revocation: '503' }],
    ['failed', {}, { revocation: 'unsupported' }],
    ['failed', {}, { revocation: 'hang' }],
  ] as const)('%s (%j, %j): gone here in every case', async (expected, oauth2, as) => {
    await using scene = await startScene({ oauth2, as })
    const authorization = (await scene.connect()).body.id
    const { id } = (await scene.authorize()).body
    const answer = await scene.call('DELETE', `/v1/connections/${id}`)
    expect(answer).toMatchObject({ status: 200, body: { id, revocation: expected.split(' ')[0] } })
    for (const [method, path] of [
      ['GET', `/v1/connections/${id}`],
      ['POST', `/v1/connections/${id}/token`],
      ['DELETE', `/v1/connections/${id}`],
      ['GET', `/v1/auth/status?id=${id}`],
    ] as const)
      expect(await scene.call(method, path)).toMatchObject({ status: 404 })
    expect((await scene.authorize()).body.status).toBe('pending')
    expect((await scene.status(authorization)).body).toMatchObject({ status: 'completed', context: {} })
    const files = await Promise.all(
      ['', '-wal'].map((end) => readFile(`${scene.gatepass.databasePath}${end}`, 'latin1').catch(() => '')),
    )
    expect(scene.as.secrets().filter((secret) => files.join('').includes(secret))).toEqual([])
  })

  test('gone here as well when the client is not set any more', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { id } = (await scene.authorize()).body
    const { providers } = scene.gatepass.broker.store
    const entry = (await providers.findById(await projectOf(scene), 'demo')) ?? expect.fail('no entry')
    const { clientSecret: _, ...bare } = entry
    await providers.change(entry, bare)
    expect(await scene.call('DELETE', `/v1/connections/${id}`)).toMatchObject({
      status: 200,
      body: { revocation: 'failed' },
    })
  })

  test('of the default account makes the other one the default', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.as.account = { ...scene.as.account, sub: 'u-2', email: 'bob@example.test' }
    await click((await scene.authorize({ account: 'new' })).body.url)
    const first = (await scene.authorize()).body.id
    await scene.call('DELETE', `/v1/connections/${first}`)
    const { body } = await scene.authorize()
    expect(scene.as.accountOf(body.context.token)).toMatchObject({ sub: 'u-2' })
    expect((await scene.call('GET', '/v1/connections')).body.items).toMatchObject([{ default: true }])
  })

  test('a link begun before still works after it, and makes a new connection', async () => {
    await using scene = await startScene()
    await scene.connect()
    const first = (await scene.authorize()).body.id
    const more = (await scene.authorize({ scopes: ['write'] })).body
    await scene.call('DELETE', `/v1/connections/${first}`)
    await click(more.url)
    const { body } = await scene.authorize({ scopes: ['write'] })
    expect(body).toMatchObject({ status: 'completed' })
    expect(body.id).not.toBe(first)
  })
})
