import { describe, expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { startProxyWorld } from '../http/proxy-world.ts'
import { authorize, click, oauth2For, type Scene, startScene } from './fixtures.ts'
import { connection, LIFE } from './refresh-fixtures.ts'

// An entry with an issuer: its metadata decides what the entry does not set.

const client = ({ as }: Scene) => ({ client_id: as.clientId, client_secret: as.clientSecret })
const add = (scene: Scene, oauth2: object) =>
  scene.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: { ...client(scene), ...oauth2 } })
const shown = async (scene: Scene) => (await scene.call('GET', '/v1/admin/auth_providers/demo')).body.oauth2
const patch = (scene: Scene, body: object) => scene.call('PATCH', '/v1/admin/auth_providers/demo', body)

async function ofIssuerAlone(metadata: Record<string, unknown> = {}): Promise<Scene> {
  const scene = await startScene({ oauth2: false, as: { metadata } })
  const added = await add(scene, { issuer: scene.as.url })
  if (added.status !== 201) throw new Error(JSON.stringify(added.body))
  return scene
}

describe('an entry of an issuer alone', () => {
  test('is complete by its metadata, through consent, refresh and revocation', async () => {
    await using scene = await ofIssuerAlone({
      authorization_response_iss_parameter_supported: true,
      end_session_endpoint: 'https://ends.example/session',
    })
    const { as } = scene
    as.behaviour.issParameter = true
    expect(await shown(scene)).toMatchObject({
      issuer: as.url,
      pkce: { enabled: true, code_challenge_method: 'S256' },
      authorize_request: { endpoint: as.authorizationUrl },
      token_request: { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' },
      refresh_request: { endpoint: as.tokenUrl },
      user_info_request: { endpoint: as.userInfoUrl },
      token_introspection_request: { endpoint: as.introspectionUrl },
      revocation_request: { endpoint: as.revocationUrl },
      authorization_response_iss_parameter_supported: true,
      end_session_endpoint: 'https://ends.example/session',
    })
    const { body } = await scene.connect()
    expect(body.status).toBe('completed')
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('completed')
    expect(as.tokenRequests('refresh_token')).toHaveLength(1)
    const [{ id, account }] = (await scene.call('GET', '/v1/connections')).body.items
    expect(account.id).toBe('u-1')
    expect((await scene.call('DELETE', `/v1/connections/${id}`)).body.revocation).toBe('revoked')
  })

  test.each([
    ['client_secret_post', undefined, 'client_secret_basic'],
    ['client_secret_basic', ['client_secret_post'], 'client_secret_post'],
  ])(
    'may say by auth_method %s alone how its refresh requests authenticate',
    async (method, listed, others) => {
      const metadata = { token_endpoint_auth_methods_supported: listed }
      await using scene = await startScene({ oauth2: false, as: { metadata } })
      const { as, clock } = scene
      const added = await add(scene, { issuer: as.url, refresh_request: { auth_method: method } })
      expect(added.status).toBe(201)
      const blocks = {
        token_request: { endpoint: as.tokenUrl, auth_method: others },
        refresh_request: { endpoint: as.tokenUrl, auth_method: method },
      }
      expect(await shown(scene)).toMatchObject(blocks)
      expect((await scene.connect()).body.status).toBe('completed')
      clock.advance(LIFE)
      expect((await scene.authorize()).body.status).toBe('completed')
      expect(await shown(scene)).toMatchObject(blocks)
      const isBasic = as
        .tokenRequests('refresh_token')
        .map(({ headers }) => headers.authorization !== undefined)
      expect(isBasic).toContain(method === 'client_secret_basic')
      expect(isBasic).not.toContain(method !== 'client_secret_basic')
    },
  )

  test('is also made by tool metadata', async () => {
    await using scene = await startScene({ oauth2: false, as: { requirePkce: 'S256' } })
    const document = toolMetadata(scene.as, {
      issuer: scene.as.url,
      authorizationUrl: '',
      tokenUrl: undefined,
    })
    const { body } = await scene.call('POST', '/v1/tools/import', document)
    expect(body.items[0]).toMatchObject({ result: 'created', providers: [{ id: 'demo', missing: [] }] })
    expect(await shown(scene)).toMatchObject({ token_request: { endpoint: scene.as.tokenUrl } })
    expect((await scene.connect()).body.status).toBe('completed')
    expect((await scene.call('POST', '/v1/tools/import', document)).body.items[0].result).toBe('unchanged')
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['of another issuer', { issuer: 'https://bank.example' }, /bank\.example/],
    ['with a slash more', { issuer: undefined }, /issuer/],
    ['without a token endpoint', { token_endpoint: undefined }, /token_endpoint/],
    [
      'with a token endpoint that may not be reached',
      { token_endpoint: 'https://169.254.169.254/t' },
      /token_endpoint/,
    ],
  ])('is refused by metadata %s', async (_, metadata, message) => {
    await using scene = await startScene({ oauth2: false, as: { metadata } })
    const refused = await add(scene, { issuer: scene.as.url })
    expect([refused.status, refused.body.name]).toEqual([400, 'invalid_request'])
    expect(refused.body.message).toMatch(message)
    const document = toolMetadata(scene.as, { issuer: scene.as.url, authorizationUrl: '', tokenUrl: '' })
    expect((await scene.call('POST', '/v1/tools/import', document)).status).toBe(422)
  })

  test('works on while its issuer is away, also after a restart', async () => {
    await using scene = await ofIssuerAlone()
    await scene.connect()
    scene.as.behaviour.metadata = { issuer: 'https://broken.example' }
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('completed')
    expect((await scene.connect({ user_id: 'u2' })).body.status).toBe('completed')
    await using second = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    const { body } = await authorize(second, { user_id: 'u3' })
    await click(body.url)
    expect((await second.call('GET', `/v1/auth/status?id=${body.id}`)).body.status).toBe('completed')
  })

  test('is asked again at once when the clock was set back, which would lengthen the pause', async () => {
    await using scene = await ofIssuerAlone()
    const { as, clock } = scene
    const asked = () => as.requestsTo('/.well-known/oauth-authorization-server').length
    as.behaviour.metadata = { issuer: 'https://broken.example' }
    clock.advance(LIFE)
    await scene.connect()
    const before = asked()
    await scene.connect({ user_id: 'u2' })
    expect(asked()).toBe(before)
    clock.advance(-LIFE)
    await scene.connect({ user_id: 'u3' })
    expect(asked()).toBe(before + 1)
  })

  test('keeps a change that another request makes while the metadata is read', async () => {
    await using scene = await ofIssuerAlone()
    const { broker } = scene.gatepass
    const { discover } = broker
    const [begun, away] = [gate(), gate()]
    Object.assign(broker, {
      async discover(issuer: string) {
        begun.open()
        await away.opened
        return discover(issuer)
      },
    })
    const slow = patch(scene, { description: 'described slowly' })
    await begun.opened
    Object.assign(broker, { discover })
    expect((await patch(scene, { status: 'inactive' })).status).toBe(200)
    away.open()
    expect(await slow).toMatchObject({
      status: 200,
      body: { description: 'described slowly', status: 'inactive' },
    })
  })

  test('follows its issuer to other endpoints, on record, without a new consent', async () => {
    await using scene = await ofIssuerAlone()
    await scene.connect()
    scene.as.behaviour.metadata = { token_endpoint: `${scene.as.url}/elsewhere` }
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('completed')
    expect(scene.as.requestsTo('/elsewhere')).toHaveLength(1)
    const { items } = (await scene.call('GET', '/v1/admin/audit?action=provider.changed')).body
    expect(items).toMatchObject([{ reason: 'issuer_metadata', subject: expect.stringMatching(/^token: /) }])
    expect(
      scene.gatepass.logLines.some((line) => line.includes('the metadata of an issuer has changed')),
    ).toBe(true)
  })

  test('follows its issuer also where an API refuses the token before it expires', async () => {
    await using scene = await startProxyWorld({ oauth2: false })
    await add(scene, { issuer: scene.as.url, api: { base_url: scene.api.url } })
    const old = (await scene.connect()).body.context.token
    scene.as.behaviour.metadata = { token_endpoint: `${scene.as.url}/elsewhere` }
    scene.clock.advance(LIFE / 2)
    scene.api.answer = ({ headers }, response) =>
      response.writeHead(headers.authorization === `Bearer ${old}` ? 401 : 200).end()
    expect((await scene.send('GET', '/proxy/demo/x')).status).toBe(200)
    expect(scene.as.requestsTo('/elsewhere')).toHaveLength(1)
  })

  test('whose change cannot be stored is used without it, and follows once it can', async () => {
    await using scene = await ofIssuerAlone()
    await scene.connect()
    const { store } = scene.gatepass.broker
    const { change } = store.providers
    Object.assign(store.providers, {
      async change() {
        throw new BrokerError('store_unavailable', 'The database cannot be used.')
      },
    })
    scene.as.behaviour.metadata = { token_endpoint: `${scene.as.url}/elsewhere` }
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('completed')
    expect(scene.gatepass.logLines.some((line) => line.includes('cannot be stored'))).toBe(true)
    expect(scene.as.requestsTo('/elsewhere')).toEqual([])
    Object.assign(store.providers, { change })
    expect((await scene.connect({ user_id: 'u2' })).body.status).toBe('completed')
    expect(scene.as.requestsTo('/elsewhere')).toHaveLength(1)
  })

  test('changed to another client while its metadata is read: no token of the old one is sent with the new', async () => {
    await using scene = await ofIssuerAlone()
    await scene.connect()
    scene.as.behaviour.metadata = { token_endpoint: `${scene.as.url}/elsewhere` }
    scene.clock.advance(LIFE)
    const { broker } = scene.gatepass
    const { discover } = broker
    const [begun, read] = [gate(), gate()]
    Object.assign(broker, {
      async discover(issuer: string) {
        begun.open()
        await read.opened
        return discover(issuer)
      },
    })
    const fetched = scene.authorize()
    await begun.opened
    Object.assign(broker, { discover })
    expect((await patch(scene, { oauth2: { client_id: 'another' } })).status).toBe(200)
    read.open()
    expect((await fetched).body.status).toBe('pending')
    expect(await connection(scene)).toMatchObject({ status_reason: 'provider_changed' })
    expect(scene.as.requestsTo('/elsewhere')).toEqual([])
  })

  test('of another issuer costs a new consent, and no token goes there', async () => {
    await using scene = await ofIssuerAlone()
    await using other = await startFakeAuthorizationServer()
    await scene.connect()
    expect((await patch(scene, { oauth2: { issuer: other.url } })).body.oauth2.token_request.endpoint).toBe(
      other.tokenUrl,
    )
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(other.tokenRequests()).toEqual([])
  })
})

describe('an entry with an issuer and endpoints of its own', () => {
  test('misses the iss that the metadata announces', async () => {
    await using scene = await startScene({
      oauth2: false,
      as: { metadata: { authorization_response_iss_parameter_supported: true } },
    })
    await add(scene, { ...oauth2For(scene.as), issuer: scene.as.url })
    expect((await scene.connect()).body.status).toBe('failed')
    expect(scene.as.tokenRequests()).toEqual([])
    scene.as.behaviour.issParameter = true
    expect((await scene.connect({ user_id: 'u2' })).body.status).toBe('completed')
  })

  test('keeps what was said by hand', async () => {
    await using scene = await startScene({
      oauth2: false,
      as: {
        metadata: {
          authorization_response_iss_parameter_supported: true,
          token_endpoint: 'https://other.example/token',
          code_challenge_methods_supported: ['plain'],
        },
      },
    })
    await add(scene, {
      ...oauth2For(scene.as),
      issuer: scene.as.url,
      authorization_response_iss_parameter_supported: false,
    })
    const before = await shown(scene)
    expect(before).toMatchObject({
      token_request: { endpoint: scene.as.tokenUrl },
      pkce: { code_challenge_method: 'S256' },
    })
    expect((await scene.connect()).body.status).toBe('completed')
    expect((await shown(scene)).token_request).toEqual(before.token_request)
  })

  test('is taken while the issuer is away, and filled when it is back', async () => {
    await using scene = await startScene({ oauth2: false, as: { metadata: { issuer: 'https://x.example' } } })
    expect((await add(scene, { ...oauth2For(scene.as), issuer: scene.as.url })).status).toBe(201)
    expect(await shown(scene)).not.toHaveProperty('authorization_response_iss_parameter_supported')
    scene.as.behaviour.metadata = { authorization_response_iss_parameter_supported: true }
    scene.clock.advance(61)
    expect((await scene.connect()).body.status).toBe('failed')
    expect(await shown(scene)).toMatchObject({ authorization_response_iss_parameter_supported: true })
  })
})
