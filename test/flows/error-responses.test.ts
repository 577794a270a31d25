import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'

// Errors under members of a server's own, with status 200.

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

const WECHAT = {
  at: '$.errcode',
  success: ['0'],
  description: '$.errmsg',
  codes: { '40163': 'invalid_grant', '40125': 'invalid_client', '-1': 'temporarily_unavailable' },
}
const FEISHU = { at: '$.code', success: [0], description: '$.msg', codes: { '20037': 'invalid_grant' } }
const HUAWEI = {
  at: '$.error',
  code: '$.sub_error',
  description: '$.error_description',
  codes: { '20155': 'invalid_grant' },
}
const TIKTOK_SHOP = {
  at: '$.code',
  success: ['0'],
  description: '$.message',
  codes: { '36004004': 'invalid_grant' },
}

async function change(error_response: OAuth2) {
  const { as } = scene
  const block = { endpoint: as.tokenUrl, error_response }
  const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: {
      token_request: block,
      refresh_request: block,
      revocation_request: { endpoint: as.revocationUrl, error_response },
      user_info_request: { endpoint: as.userInfoUrl, error_response },
    },
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  return changed.body.oauth2
}

/** The server answers token requests like this from now on. */
function answerWith(body: string | undefined) {
  scene.as.behaviour.rawTokenAnswer = body === undefined ? undefined : { body }
}

describe('an error that a member of the entry tells', () => {
  test.each<[string, OAuth2, string, string]>([
    ['WeChat', WECHAT, '{"errcode":40163,"errmsg":"code been used"}', 'invalid_grant'],
    ['WeChat', WECHAT, '{"errcode":40125,"errmsg":"invalid appsecret"}', 'invalid_client'],
    ['WeChat', WECHAT, '{"errcode":-1,"errmsg":"system busy"}', 'provider_unavailable'],
    ['WeChat', WECHAT, '{"errcode":99,"errmsg":"another"}', 'provider_refused'],
    ['Feishu', FEISHU, '{"code":20037,"msg":"used"}', 'invalid_grant'],
    ['Huawei', HUAWEI, '{"error":1101,"sub_error":20155,"error_description":"expired"}', 'invalid_grant'],
    ['TikTok Shop', TIKTOK_SHOP, '{"code":36004004,"message":"expired"}', 'invalid_grant'],
  ])('%s %#: %j', async (_, error_response, body, reason) => {
    await change(error_response)
    answerWith(body)
    const { body: ended } = await scene.connect({ user_id: `refused ${reason}` })
    expect(ended).toMatchObject({ status: 'failed', reason })
    const words = JSON.parse(body)
    const text = JSON.stringify((await scene.call('GET', `/v1/auth/status?id=${ended.id}`)).body)
    expect(text).toContain(words.errmsg ?? words.msg ?? words.message ?? words.error_description)
    answerWith(undefined)
  })

  test('is none when it means success, or is absent (WeChat, Feishu)', async () => {
    await change(WECHAT)
    expect((await scene.connect({ user_id: 'absent' })).body.status).toBe('completed')
    await change(FEISHU)
    scene.as.behaviour.tokenMembers = { code: 0, msg: 'success' }
    expect((await scene.connect({ user_id: 'zero' })).body.status).toBe('completed')
    scene.as.behaviour.tokenMembers = {}
  })

  test('of a refresh ends the grant only by the code that the entry maps to invalid_grant', async () => {
    await change(WECHAT)
    await scene.connect({ user_id: 'refreshed' })
    scene.clock.advance(3700)
    answerWith('{"errcode":99,"errmsg":"another"}')
    expect((await scene.authorize({ user_id: 'refreshed' })).status).toBe(502)
    scene.clock.advance(60)
    answerWith('{"errcode":40163,"errmsg":"gone"}')
    expect((await scene.authorize({ user_id: 'refreshed' })).body.status).toBe('pending')
    answerWith(undefined)
  })

  test('of a revocation and of the user info counts, too', async () => {
    await change(FEISHU)
    scene.as.behaviour.revocation = { body: '{"code":1,"msg":"no"}' }
    await scene.connect({ user_id: 'revoked' })
    const [connection] = (await scene.call('GET', '/v1/connections?user_id=revoked')).body.items
    expect(connection.account.id).not.toBe('')
    expect((await scene.call('DELETE', `/v1/connections/${connection.id}`)).body.revocation).toBe('failed')
    scene.as.behaviour.revocation = 'ok'
    scene.as.account.code = 7
    await scene.connect({ user_id: 'unnamed' })
    const [unnamed] = (await scene.call('GET', '/v1/connections?user_id=unnamed')).body.items
    expect(unnamed.account.name).toBe('')
    delete scene.as.account.code
  })

  test('is answered as it was given, and removed by null', async () => {
    const oauth2 = await change(FEISHU)
    expect(oauth2.token_request.error_response).toEqual({ ...FEISHU, success: ['0'] })
    const removed = await change(null as never)
    expect(removed.token_request).not.toHaveProperty('error_response')
  })

  test.each<[string, OAuth2]>([
    ['no place', { success: ['0'] }],
    ['an expression that is none', { at: 'errcode' }],
    ['a code that is no standard one', { at: '$.errcode', codes: { '1': 'gone' } }],
    ['an unknown member', { at: '$.errcode', ok: ['0'] }],
  ])('with %s is refused', async (_, error_response) => {
    const oauth2 = { token_request: { error_response } }
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })).status).toBe(400)
  })
})
