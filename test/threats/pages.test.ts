import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SANDBOX_CLIENT_ID } from '../../src/dev-provider/client.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { approve, providerBody, startWorld, type World } from '../http/world.ts'
import { UserAgent } from '../user-agent.ts'
import { type ApiDocument, routesOf } from './requests-of-document.ts'

let world: World
/** A Gatepass in development mode, for the pages of its sandbox. */
let development: Gatepass

beforeAll(async () => {
  world = await startWorld()
  development = await startGatepass({ mode: 'development' })
})
afterAll(async () => {
  await development.close()
  await world[Symbol.asyncDispose]()
})

async function begin(userId: string = randomUUID(), provider = 'demo') {
  const auth_requirement = { id: provider, oauth2: { scopes: ['read'] } }
  const { body } = await world.call('POST', '/v1/auth/authorize', { auth_requirement, user_id: userId })
  return body as { id: string; url: string }
}

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Every page, its status, and how to request it. */
const PAGES: readonly (readonly [string, number, () => Promise<Response>])[] = [
  ['landing', 200, () => get('/')],
  ['API reference', 200, () => get('/docs')],
  ['operations', 200, () => get('/docs/tools')],
  ['connect', 200, async () => get(new URL((await begin()).url).pathname)],
  ['connected', 200, connected],
  ['no such link', 404, () => get('/connect/auth_unknown')],
  ['no such page', 404, () => get('/no/such/page')],
  ['method', 405, () => get('/docs', { method: 'POST' })],
  ['unknown state', 400, () => get('/callback/prov_x?state=x&code=y')],
  ['foreign click', 403, async () => click({ 'sec-fetch-site': 'cross-site' })],
  ['body too large', 413, async () => click({}, `x=${'x'.repeat(70_000)}`)],
  ['sandbox refusal', 400, () => fetch(`${development.url}/sandbox/authorize`, { headers: asBrowser })],
  ['sandbox consent', 200, sandboxConsent],
]

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${world.gatepass.url}${path}`, { redirect: 'manual', headers: asBrowser, ...init })
}

async function click(headers: Record<string, string>, body?: string, url?: string): Promise<Response> {
  const to = url ?? (await begin()).url
  return fetch(to, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...asBrowser, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    ...(body !== undefined && { body }),
  })
}

async function connected(): Promise<Response> {
  const { url } = await begin()
  await approve(url)
  return get(new URL(url).pathname)
}

function sandboxConsent(): Promise<Response> {
  const url = new URL('/sandbox/authorize', development.url)
  const params = {
    client_id: SANDBOX_CLIENT_ID,
    redirect_uri: `${development.url}/callback/prov_x`,
    response_type: 'code',
    state: 's',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  }
  url.search = new URLSearchParams(params).toString()
  return fetch(url, { headers: asBrowser })
}

function directives(policy: string | null): Map<string, string> {
  return new Map(
    (policy ?? '').split(';').map((one) => {
      const [name = '', ...values] = one.trim().split(' ')
      return [name, values.join(' ')]
    }),
  )
}

describe('threats 11, 13, 27: every page', () => {
  test.each(PAGES)(
    '%s (%i) cannot be framed, runs no script, keeps no opener and loads nothing from other sites',
    async (_, status, open) => {
      const response = await open()
      const { headers } = response
      const html = await response.text()
      expect([response.status, headers.get('content-type')]).toEqual([
        status,
        expect.stringMatching(/^text\/html/),
      ])
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        // a page with a form sends its origin with it, and only to this server
        'referrer-policy': /<form[^>]*action="\/connect\//.test(html) ? 'same-origin' : 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
        // the reference is the same for every visitor, so a browser may keep it and revalidate it
        'cache-control': response.headers.has('etag') ? 'no-cache' : 'no-store',
        'x-request-id': expect.any(String),
      })
      const policy = directives(headers.get('content-security-policy'))
      expect(policy.get('default-src')).toBe("'none'")
      expect(policy.get('frame-ancestors')).toBe("'none'")
      expect(policy.get('base-uri')).toBe("'none'")
      expect(policy.get('require-trusted-types-for')).toBe("'script'")
      expect(policy.get('trusted-types')).toBe("'none'")
      expect(policy.get('style-src')).toBe("'self'")
      // the reference, which is no page of a flow, has its own script, which may send requests in development only
      const isReference = headers.has('etag')
      expect(policy.get('script-src')).toBe(isReference ? "'self'" : undefined)
      for (const open of ['connect-src', 'frame-src', 'object-src', 'worker-src'])
        expect(policy.get(open)).toBeUndefined()
      expect(headers.get('content-security-policy')).not.toContain('unsafe')
      const script = /<script src="\/assets\/docs\.js\?v=[0-9a-f]+" defer><\/script>/
      const withoutScript = isReference ? html.replace(script, '') : html
      expect(withoutScript).not.toMatch(/<script|postMessage|\son\w+=|javascript:/i)
    },
  )

  test('a click is answered by a 303 redirect that is not stored and sends no Referer', async () => {
    const browser = new UserAgent()
    const { url } = await begin()
    const page = await browser.get(url)
    const clicked = await click({ 'sec-fetch-site': 'same-origin' }, '', page.url)
    expect(clicked.status).toBe(303)
    expect(Object.fromEntries(clicked.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://a:b@example.com/'])(
    'an authorization endpoint %s is refused when it is registered',
    async (endpoint) => {
      const { oauth2, ...rest } = providerBody('evil', world.as)
      const body = {
        ...rest,
        oauth2: { ...oauth2, authorize_request: { ...oauth2.authorize_request, endpoint } },
      }
      expect(await world.call('POST', '/v1/admin/auth_providers', body)).toMatchObject({
        status: 400,
        body: { name: 'invalid_request' },
      })
    },
  )

  test('names from users and administrators are shown as text', async () => {
    const hostile = '<img src=x onerror=alert(1)>"\'&'
    const id = `evil${Date.now()}`
    await world.call('POST', '/v1/admin/auth_providers', {
      ...providerBody(id, world.as),
      description: hostile,
    })
    const { url } = await begin(hostile, id)
    const html = await (await get(new URL(url).pathname)).text()
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(html).not.toContain('<img src=x')
  })
})

describe('every answer of the API', () => {
  test('cannot be sniffed, framed or stored, on every route', async () => {
    const { body: document } = await world.call('GET', '/openapi.json', undefined, { key: null })
    const routes = routesOf(document as ApiDocument)
    expect(routes.length).toBeGreaterThan(35)
    for (const { method, path } of [
      ...routes,
      { method: 'GET', path: '/openapi.json' },
      { method: 'GET', path: '/v1/nothing' },
    ])
      for (const key of [null, world.gatepass.apiKey]) {
        const { headers } = await world.call(method, path.replaceAll(/\{\w+\}/g, 'unknown'), undefined, {
          key,
        })
        expect(Object.fromEntries(headers), `${method} ${path}`).toMatchObject({
          'x-content-type-options': 'nosniff',
          'cache-control': expect.stringContaining('no-'),
          'content-security-policy': expect.stringMatching(/^default-src 'none'/),
          'x-request-id': expect.any(String),
        })
        expect(headers.get('set-cookie')).toBeNull()
        expect(headers.get('access-control-allow-origin')).toBeNull()
      }
  })

  test('that holds a token is not stored', async () => {
    await world.connect('keeps a token')
    const { body, headers } = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
      user_id: 'keeps a token',
    })
    expect(body.context.token).toEqual(expect.any(String))
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('the assets of pages have a content type that is not sniffed, and are not for other sites', async () => {
    for (const path of ['/assets/console.css', '/assets/gatepass.css', '/assets/icon.svg']) {
      const { status, headers } = await get(path)
      expect([
        status,
        headers.get('x-content-type-options'),
        headers.get('cross-origin-resource-policy'),
      ]).toEqual([200, 'nosniff', 'same-origin'])
    }
  })
})

describe('threat 45: a click that another site made', () => {
  test.each([
    ['cross-site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
    ['same-site', { 'sec-fetch-site': 'same-site', origin: 'https://other.example' }, 403],
    ['none, as for a typed address', { 'sec-fetch-site': 'none' }, 403],
    ['cross-site with a forged Origin of Gatepass', { 'sec-fetch-site': 'cross-site', origin: 'own' }, 403],
    ['in other letters', { 'sec-fetch-site': 'Same-Origin' }, 403],
    ['twice', { 'sec-fetch-site': 'same-origin, cross-site' }, 403],
    ['absent, from another Origin', { origin: 'https://evil.example' }, 403],
    ['absent, from an Origin that only begins with that of Gatepass', { origin: 'own.evil.example' }, 403],
    ['absent, from a null Origin', { origin: 'null' }, 403],
    ['same-origin', { 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
    ['absent, from the Origin of Gatepass', { origin: 'own' }, 303],
    ['absent, and no Origin: no browser', {}, 303],
  ])('Sec-Fetch-Site %s: %i', async (_, given: Record<string, string>, status) => {
    const headers = { ...given }
    if (headers.origin !== undefined) headers.origin = headers.origin.replace('own', world.gatepass.url)
    const { id, url } = await begin()
    const response = await click(headers, '', url)
    expect(response.status).toBe(status)
    const stored = await world.gatepass.broker.store.authorizations.find(id)
    expect(stored !== undefined && 'attempt' in stored).toBe(status === 303)
  })

  test('over https the cookie is for this host only, for TLS only and for no script', async () => {
    await using secure = await startGatepass({
      environment: { GATEPASS_PUBLIC_URL: 'https://gatepass.example.com' },
    })
    await secure.call('POST', '/v1/admin/auth_providers', providerBody('demo', world.as))
    const { body } = await secure.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo' },
      user_id: 'ada',
    })
    const { headers, status } = await fetch(`${secure.url}${new URL(body.url).pathname}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    expect(status).toBe(303)
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-gatepass=[\w-]{43}; (?=.*Path=\/)(?=.*HttpOnly)(?=.*Secure)(?=.*SameSite=Lax)(?!.*Domain)/,
    )
  })

  test('the API accepts no API key in a cookie', async () => {
    const browser = new UserAgent()
    await browser.get((await begin()).url)
    const { status } = await world.call('GET', '/v1/connections', undefined, {
      key: null,
      headers: { cookie: `gatepass=${world.gatepass.apiKey}; authorization=${world.gatepass.apiKey}` },
    })
    expect(status).toBe(401)
  })
})
