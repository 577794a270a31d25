import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import { approve, click, type Need, type Scene, startScene } from './fixtures.ts'

// Cancel on the connect page, and what a caller may say of the user on it.

const NEXT = 'https://app.example/done?status=mine&a=b%20c&reason=x&reason=y#end'

let scene: Scene
let users = 0
beforeAll(async () => {
  scene = await startScene({ gatepass: { environment: { GATEPASS_NEXT_URIS: 'https://app.example' } } })
})
afterAll(() => scene[Symbol.asyncDispose]())

async function begin(need: Need = {}): Promise<{ id: string; url: string; userId: string }> {
  const userId = `cancelling-${++users}`
  const { status, body } = await scene.authorize({ user_id: userId, ...need })
  expect([status, body.status]).toEqual([200, 'pending'])
  return { id: body.id, url: body.url, userId }
}

const cancel = (url: string, browser = new UserAgent(), headers: Record<string, string> = {}) =>
  browser.post(`${url}/cancel`, {}, { headers })

describe('Cancel', () => {
  test('ends the authorization as access_denied, on record, and leads back to the caller', async () => {
    const { id, url } = await begin({ next_uri: NEXT })
    const browser = new UserAgent()
    await browser.get(url)
    const { status, response } = await cancel(url, browser)
    expect(status).toBe(303)
    const away = new URL(response.headers.get('location') ?? '')
    expect([...away.searchParams].sort()).toEqual([
      ['a', 'b c'],
      ['auth_id', id],
      ['reason', 'access_denied'],
      ['status', 'failed'],
    ])
    expect(away.hash).toBe('#end')
    expect((await scene.status(id)).body).toMatchObject({
      status: 'failed',
      reason: 'access_denied',
      cause: { code: 'cancelled', who: 'user' },
    })
    const { body } = await scene.call('GET', `/v1/admin/audit?limit=100`)
    const entries = body.items.filter(
      (one: { action: string; authorization_id?: string }) =>
        one.action === 'authorization.failed' && one.authorization_id === id,
    )
    expect(entries).toMatchObject([{ reason: 'access_denied', detail: 'canceled on the connect page' }])
    // the same browser is led back again, another one is not
    expect((await cancel(url, browser)).response.headers.get('location')).toBe(away.href)
    expect((await cancel(url)).response.headers.get('location')).toBe(url)
    expect((await new UserAgent().get(url)).body).not.toContain('app.example')
  })

  test('without a next_uri it ends on a page that says so, and nothing can be started any more', async () => {
    const { id, url } = await begin()
    const browser = new UserAgent()
    const page = await browser.get(url)
    const end = await browser.follow((await cancel(url, browser)).response.headers.get('location') ?? '')
    expect(end.body).toContain('Access was not approved')
    const late = await browser.submitForm(page)
    expect(late.body).toContain('Access was not approved')
    expect((await scene.status(id)).body.reason).toBe('access_denied')
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('another browser cannot end what one has begun', async () => {
    const { id, url } = await begin()
    const { browser, callback } = await approve(url)
    const refused = await cancel(url)
    expect(refused.status).toBe(403)
    expect(refused.body).toContain('This is in progress in another browser')
    expect((await scene.status(id)).body.status).toBe('pending')
    expect((await browser.follow(callback)).body).toContain('is connected')
    expect((await scene.status(id)).body.status).toBe('completed')
    // nor what has ended
    expect((await cancel(url, browser)).response.headers.get('location')).toBe(url)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('the browser that has clicked ends its own attempt: the answer of the provider comes too late', async () => {
    const { id, url } = await begin()
    const { browser, callback } = await approve(url)
    const before = scene.as.tokenRequests().length
    expect((await cancel(url, browser)).status).toBe(303)
    await browser.follow(callback)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'access_denied' })
    expect(scene.as.tokenRequests()).toHaveLength(before)
  })

  test.each([
    ['a form of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a form of a neighbouring host', { 'sec-fetch-site': 'same-site' }],
    [
      'another origin, where browsers do not say the site',
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ],
  ])('%s ends nothing', async (_, { 'sec-fetch-site': site, ...headers }: Record<string, string>) => {
    const { id, url } = await begin()
    const sent = site === '' ? { ...headers } : { 'sec-fetch-site': site ?? '', ...headers }
    const answer =
      site === ''
        ? await fetch(`${url}/cancel`, { method: 'POST', headers: sent, redirect: 'manual' })
        : (await cancel(url, new UserAgent(), sent)).response
    expect(answer.status).toBe(403)
    expect((await scene.status(id)).body.status).toBe('pending')
  })

  test('opening its address, or a link that is unknown, ends nothing', async () => {
    const { id, url } = await begin()
    expect((await new UserAgent().get(`${url}/cancel`)).status).toBe(405)
    expect((await cancel(`${scene.gatepass.url}/connect/auth_unknown`)).status).toBe(404)
    expect((await scene.status(id)).body.status).toBe('pending')
  })

  test('racing with the click: either the attempt ends or it never starts, and both browsers are told the end', async () => {
    const { id, url } = await begin()
    const browser = new UserAgent()
    const page = await browser.get(url)
    await cancel(url, browser) // the browser has its cookie from here on
    const other = await begin()
    const shown = await browser.get(other.url)
    const answers = await Promise.all([
      browser.submitForm(shown),
      ...[1, 2, 3].map(() => cancel(other.url, browser)),
    ])
    expect(answers.every(({ status }) => status < 500)).toBe(true)
    expect(['failed', 'completed']).toContain((await scene.status(other.id)).body.status)
    expect((await browser.submitForm(page)).body).toContain('Access was not approved')
    expect((await scene.status(id)).body.status).toBe('failed')
  })
})

describe('the caller says of the user', () => {
  test('a name for people and a language, on every page of the authorization', async () => {
    const { url, id } = await begin({ user_display: 'Ada L.', lang: 'de-AT' })
    const browser = new UserAgent()
    const page = await browser.get(url, { headers: { 'accept-language': 'fr' } })
    expect(page.body).toContain('<html lang="de" dir="ltr">')
    expect(page.body).toContain('Sie sind <strong><bdi>Ada L.</bdi></strong>')
    expect(page.response.headers.get('content-language')).toBe('de')
    expect(page.response.headers.get('vary')).toContain('Accept-Language')
    expect((await browser.get(`${url}?lang=ja`)).body).toContain('<html lang="ja"')
    const done = await click(url, browser)
    expect(done.body).toContain('demo ist verbunden')
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test.each([
    ['user_display', '\u202eevil', 'direction of text'],
    ['user_display', 'x\u2066y', 'direction of text'],
    ['user_display', '   ', 'blank'],
    ['user_display', 'x'.repeat(81), '80'],
    ['user_display', 'a\u0007', 'control characters'],
    ['lang', 'deutsch, bitte', 'language tag'],
  ] as const)('%s %j is refused, by its name', async (member, value, words) => {
    const { status, body } = await scene.authorize({ user_id: 'refused', [member]: value })
    expect(status).toBe(400)
    expect(body.message).toContain(member)
    expect(body.message).toContain(words)
  })
})
