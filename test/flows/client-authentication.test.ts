import { describe, expect, test } from 'vitest'
import type { Behaviour } from '../fake-authorization-server.ts'
import { importEntry, oauth2For, type Scene, startScene } from './fixtures.ts'

// The client's id and secret as servers read them: some decode HTTP Basic as RFC 6749 says, some by percent alone, some not at all.

const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCharCode(0x20 + i)).join('')
/** RFC 7617 section 2: a user id holds no colon, where nothing is encoded. */
const ID_UNENCODED = PRINTABLE.replace(':', '')

type Client = { readonly clientId: string; readonly clientSecret: string }
const printable: Client = { clientId: PRINTABLE, clientSecret: PRINTABLE }
const beyondAscii: Client = { clientId: 'grün', clientSecret: 'schlüssel 𝄞+1%' }
/** Nothing that Basic has to encode. */
const plain = PRINTABLE.replaceAll(/[ %+:]/g, '')
const asItIs: Client = { clientId: plain, clientSecret: plain }
const withoutColon: Client = { clientId: ID_UNENCODED, clientSecret: PRINTABLE }

/** Consent, refresh, introspection and revocation, each with the client shown. */
async function useEverything(scene: Scene): Promise<void> {
  const { as, clock } = scene
  const { body } = await scene.connect()
  expect(body.reason).toBeUndefined()
  expect(body.status).toBe('completed')
  expect(as.requestsTo('/introspect').length).toBeGreaterThan(0)
  clock.advance(3600)
  const [connection] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
  expect((await scene.call('POST', `/v1/connections/${connection.id}/token`, {})).status).toBe(200)
  expect((await scene.call('DELETE', `/v1/connections/${connection.id}`)).body.revocation).toBe('revoked')
  const shown = [...as.tokenRequests(), ...as.requestsTo('/introspect'), ...as.requestsTo('/revoke')]
  expect(shown.length).toBeGreaterThanOrEqual(5)
}

function oauth2By(scene: Scene, auth_method: string) {
  const { as } = scene
  return oauth2For(as, {
    token_request: { endpoint: as.tokenUrl, auth_method },
    refresh_request: { endpoint: as.tokenUrl, auth_method },
    revocation_request: { endpoint: as.revocationUrl, auth_method },
    token_introspection_request: {
      endpoint: as.introspectionUrl,
      auth_method,
      params: { token: '{{access_token}}' },
      triggers: { on_token_grant: true, on_token_refresh: true },
    },
  })
}

describe('a client of all printable characters', () => {
  test.each<[Behaviour['basicDecoding'], string, Behaviour['clientAuth'], Client]>([
    ['form', 'client_secret_basic', 'basic-only', printable],
    ['percent', 'client_secret_basic', 'basic-only', printable],
    ['none', 'client_secret_basic_unencoded', 'basic-only', withoutColon],
    ['none', 'client_secret_basic', 'basic-only', asItIs], // generated secrets need no setting anywhere
    ['form', 'client_secret_basic', 'basic-only', beyondAscii],
    ['percent', 'client_secret_basic', 'basic-only', beyondAscii],
    ['form', 'client_secret_post', 'post-only', printable],
  ])('is known to a server that decodes by %s, by %s', async (basicDecoding, method, clientAuth, client) => {
    await using scene = await startScene({
      // no expires_in, so that introspection has something to tell
      as: { basicDecoding, clientAuth, ...client, tokenMembers: { expires_in: undefined } },
      oauth2: false,
    })
    const added = await scene.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: oauth2By(scene, method),
    })
    expect(added.status).toBe(201)
    expect(added.body.oauth2.token_request.auth_method).toBe(method)
    await useEverything(scene)
  })

  test('is not known where an encoded one is read as it stands', async () => {
    await using scene = await startScene({
      as: { basicDecoding: 'none', clientAuth: 'basic-only', ...withoutColon },
      oauth2: false,
    })
    await scene.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: oauth2By(scene, 'client_secret_basic'),
    })
    expect((await scene.connect()).body.reason).toBe('invalid_client')
  })

  test('is asked for by tool metadata, encoded or not', async () => {
    for (const [basicDecoding, requestTokenAuthHeader] of [
      ['form', 'basic'],
      ['none', 'basic_unencoded'],
    ] as const) {
      await using scene = await startScene({
        as: { basicDecoding, clientAuth: 'basic-only', ...withoutColon },
        oauth2: false,
      })
      expect((await importEntry(scene.gatepass, scene.as, { requestTokenAuthHeader })).status).toBe(200)
      expect((await scene.connect()).body.status).toBe('completed')
    }
  })
})
