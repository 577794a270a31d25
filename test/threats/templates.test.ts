import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { click, oauth2For, type Scene, startScene } from '../flows/fixtures.ts'
import { UserAgent } from '../user-agent.ts'

// Templates over the API: values of placeholders are data, for every placeholder and every place.

let scene: Scene
beforeAll(async () => {
  scene = await startScene({ oauth2: false })
})
afterAll(() => scene?.[Symbol.asyncDispose]())

let made = 0
/** Adds a provider entry with these blocks; returns its id, or the refusal. */
async function add(oauth2: Record<string, unknown>) {
  const id = `t${++made}`
  const { status, body } = await scene.call('POST', '/v1/admin/auth_providers', {
    id,
    oauth2: oauth2For(scene.as, oauth2),
  })
  return { id, status, said: String(body.message ?? '') }
}

const CODES = [
  '{{client_secret}}',
  '{{ access_token }}',
  '{{{{client_secret}}}}',
  '\u0024{client_secret}',
  '$client_secret',
  '<%= client_secret %>',
  '{% client_secret %}',
  '#{client_secret}',
  '%{client_secret}',
  '$(id)',
  '`id`',
  '$&',
  "$'",
  '$1',
]

const NASTY = [...CODES, 'a&b=c#d?e/f g+h%20%', 'a"b\'c\\d', 'ü€漢🔑', ';,:@=', '\u00a0']

/** RFC 6749 section 2.3.1: both halves as values of a form, of which a `&` is a part. */
function basicOf({ headers }: { headers: { authorization?: string | undefined } }) {
  const pair = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString('latin1')
  const decode = (text = '') => decodeURIComponent(text.replaceAll('+', ' '))
  const [id, secret, ...rest] = pair.split(':')
  expect(rest).toEqual([])
  return { client_id: decode(id), client_secret: decode(secret) }
}

describe('threat 26: a value that replaces a placeholder is never read as a template again', () => {
  test.each(CODES.filter((code) => !/[\s"\\]/.test(code)))('the scope %s', async (scope) => {
    const { id } = await add({})
    const { body } = await scene.authorize({ provider: id, scopes: [scope], user_id: `s ${scope}` })
    const page = await click(body.url)
    const location = page.hops
      .map((hop) => hop.location ?? '')
      .find((to) => to.startsWith(scene.as.authorizationUrl))
    expect(new URL(location ?? '').searchParams.get('scope')).toBe(scope)
    expect(location).not.toContain(scene.as.clientSecret)
  })

  test.each(CODES)('a refresh token and an access token of a provider: %s', async (code) => {
    const { as } = scene
    const format = 'Bearer {{access_token}}'
    const { id } = await add({
      refresh_request: {
        endpoint: as.tokenUrl,
        params: {
          grant_type: 'refresh_token',
          refresh_token: '{{refresh_token}}',
          client_id: '{{client_id}}',
          client_secret: '{{client_secret}}',
        },
      },
      user_info_request: {
        endpoint: as.userInfoUrl,
        auth_method: 'bearer_access_token',
        auth_header_value_format: format,
        triggers: { on_token_grant: true },
      },
    })
    as.behaviour.tokenMembers = { refresh_token: code, access_token: code }
    await scene.connect({ provider: id, user_id: `r ${code}` })
    scene.clock.advance(4000)
    await scene.authorize({ provider: id, user_id: `r ${code}` })
    as.behaviour.tokenMembers = {}
    expect(as.tokenRequests('refresh_token').at(-1)?.params.refresh_token).toBe(code)
    expect(as.requestsTo('/userinfo').at(-1)?.headers.authorization).toBe(`Bearer ${code}`)
  })
})

describe('threat 26: values are encoded for their position', () => {
  test.each(NASTY)(
    'a client id and a secret that are %j, in a URL, a form, JSON and Basic',
    async (nasty) => {
      const { as } = scene
      const params = {
        client_id: '{{client_id}}',
        client_secret: '{{client_secret}}',
        mixed: 'a {{client_id}} b',
        fixed: nasty.replaceAll('{{', '{'),
      }
      const blocks: [string, Record<string, unknown>, (request: (typeof as.requests)[number]) => unknown][] =
        [
          ['form', { auth_method: 'none', params }, ({ form }) => form],
          [
            'JSON',
            { auth_method: 'none', params, request_content_type: 'application/json' },
            ({ json }) => json,
          ],
          [
            'Basic',
            { auth_method: 'client_secret_basic', params },
            (request) => ({ ...request.form, ...basicOf(request) }),
          ],
        ]
      for (const [what, block, read] of blocks) {
        const client = { client_id: nasty, client_secret: `${nasty} secret` }
        const { id, status, said } = await add({
          ...client,
          token_request: { endpoint: as.tokenUrl, ...block },
        })
        expect(status, said).toBe(201)
        const begun = await scene.authorize({ provider: id, user_id: `${what} ${nasty}` })
        const browser = new UserAgent()
        const connect = await click(begun.body.url, browser)
        const location = connect.hops
          .map((hop) => hop.location ?? '')
          .find((to) => to.startsWith(as.authorizationUrl))
        expect(new URL(location ?? '').searchParams.get('client_id')).toBe(nasty)
        // the server does not know this client, so the test itself calls back
        const state = new URL(location ?? '').searchParams.get('state')
        const callback = new URL(new URL(location ?? '').searchParams.get('redirect_uri') ?? '')
        callback.search = new URLSearchParams({ code: 'c', state: state ?? '' }).toString()
        const before = as.requestsTo('/token').length
        await browser.follow(callback.href)
        expect(as.requestsTo('/token').length).toBe(before + 1)
        const request = as.requestsTo('/token').at(-1)
        expect(request && read(request), what).toMatchObject({
          client_id: nasty,
          client_secret: `${nasty} secret`,
          mixed: `a ${nasty} b`,
          code: 'c',
        })
        expect(Object.keys(request?.headers ?? {})).toEqual(expect.arrayContaining(['accept', 'host']))
        expect(Object.keys(request?.headers ?? {})).not.toContain('x-evil')
      }
    },
  )
})

describe('threat 26: an unknown placeholder is refused when it is registered', () => {
  test.each([
    '{{client_secrets}}',
    '{{constructor}}',
    '{{__proto__}}',
    '{{toString}}',
    '{{client_id.length}}',
    '{{process.env}}',
    '{{client_id}}{{',
    '{{ {{client_id}} }}',
    '{{#if client_id}}',
    '{{> partial}}',
    '{{client_id',
    '{{access_token}}',
    '{{refresh_token}}',
  ])('%s in the token request', async (template) => {
    const { as } = scene
    const { status, said } = await add({ token_request: { endpoint: as.tokenUrl, params: { x: template } } })
    expect([status, said]).toEqual([400, expect.stringMatching(/^oauth2\.token_request\.params\.x /)])
  })

  test.each(['{{client_secret}}', '{{access_token}}', '{{refresh_token}}'])(
    '%s in the browser’s URL',
    async (template) => {
      const { as } = scene
      const { status } = await add({
        authorize_request: { endpoint: as.authorizationUrl, params: { x: template } },
      })
      expect(status).toBe(400)
    },
  )

  test.each([
    'Bearer {{access_token}}\r\nx-evil: 1',
    'Bearer {{access_token}}\n',
    'Bearer {{access_token}}\0',
    'Bearer {{access_token}} é',
    'Bearer {{client_secret}}',
    'Bearer',
    '{{access_token}}{{',
  ])('the header %j', async (auth_header_value_format) => {
    const { as } = scene
    const { status, said } = await add({
      user_info_request: {
        endpoint: as.userInfoUrl,
        auth_method: 'bearer_access_token',
        auth_header_value_format,
        triggers: {},
      },
    })
    expect([status, said]).toEqual([400, expect.stringContaining('auth_header_value_format')])
  })
})
