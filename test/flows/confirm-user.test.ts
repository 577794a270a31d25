import { describe, expect, test } from 'vitest'
import { startGatepass } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'
import { type Approved, confirmAndGoOn, type Scene, type SceneOptions, startScene } from './fixtures.ts'

const VERIFIER = 'https://app.example/verify'

function withVerifier({ as }: Pick<SceneOptions, 'as'> = {}): Promise<Scene> {
  return startScene({ as: as ?? {}, gatepass: { environment: { GATEPASS_USER_VERIFIER: VERIFIER } } })
}

/** Brings the provider's answer back; the flow id that the verifier page is visited with. */
async function comeBack({ browser, callback }: Pick<Approved, 'browser' | 'callback'>): Promise<string> {
  const page = await browser.get(callback)
  const location = new URL(page.response.headers.get('location') ?? 'about:blank')
  expect(page.status).toBe(303)
  expect(location.href.startsWith(`${VERIFIER}?`)).toBe(true)
  expect([...location.searchParams.keys()]).toEqual(['flow_id'])
  return location.searchParams.get('flow_id') ?? ''
}

const confirm = (scene: Scene, flow_id: string, user_id = 'u1', key = scene.gatepass.apiKey) =>
  scene.call('POST', '/v1/auth/confirm_user', { flow_id, user_id }, { key })

describe('a verifier page', () => {
  test('is visited with flow_id alone; the code is redeemed when it has sent the browser on', async () => {
    await using scene = await withVerifier()
    const approved = await scene.approve()
    const flowId = await comeBack(approved)
    for (const secret of [approved.id, 'u1', approved.callback.searchParams.get('code') ?? ''])
      expect(flowId).not.toContain(secret)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(approved.id)).body.status).toBe('pending')
    const waiting = scene.call('GET', `/v1/auth/status?id=${approved.id}&wait=59`)
    const { status, body } = await confirm(scene, flowId)
    expect({ status, body }).toMatchObject({ status: 200, body: { auth_id: approved.id } })
    expect(new URL(body.next_uri).origin).toBe(new URL(approved.url).origin)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(approved.id)).body.status).toBe('pending')
    expect((await approved.browser.get(approved.url)).body).toContain('Continue in your application')

    const end = await approved.browser.get(body.next_uri)
    expect(end).toMatchObject({ status: 303 })
    expect(end.response.headers.get('location')).toBe(approved.url)
    expect(end.response.headers.get('referrer-policy')).toBe('no-referrer')
    expect((await waiting).body).toMatchObject({ status: 'completed' })
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('what it answers, opened in another browser, redeems nothing and ends nothing', async () => {
    await using scene = await withVerifier()
    const { id, browser, callback } = await scene.approve()
    const { next_uri } = (await confirm(scene, await comeBack({ browser, callback }))).body
    const withCookie = (await scene.approve({ user_id: 'other' })).browser
    for (const stranger of [new UserAgent(), withCookie]) {
      const page = await stranger.get(next_uri)
      expect(page.status).toBe(403)
      expect(page.body).toContain('approved in another browser')
      expect(page.body).not.toContain('u1')
    }
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
    await browser.get(next_uri)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test.each([
    ['without its confirmation', (url: URL) => url.searchParams.delete('confirmation')],
    ['with a made up one', (url: URL) => url.searchParams.set('confirmation', 'a'.repeat(43))],
    ['with an empty one', (url: URL) => url.searchParams.set('confirmation', '')],
    [
      'with that of another flow',
      (url: URL, other: string) => {
        url.search = new URL(other).search
      },
    ],
  ])('the browser that clicked does not finish %s', async (_, change) => {
    await using scene = await withVerifier()
    const { id, url, browser, callback } = await scene.approve()
    const answered = await confirm(scene, await comeBack({ browser, callback }))
    const next = new URL(answered.body.next_uri)
    const theirs = await scene.approve({ user_id: 'u2' })
    change(next, (await confirm(scene, await comeBack(theirs), 'u2')).body.next_uri)
    const page = await browser.get(next)
    expect(page.response.headers.get('location')).toBe(url)
    expect(scene.as.tokenRequests()).toEqual([])
    await browser.get(answered.body.next_uri)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('a link checker that looks at what it answers (HEAD) redeems nothing', async () => {
    await using scene = await withVerifier()
    const { browser, callback, id } = await scene.approve()
    const { next_uri } = (await confirm(scene, await comeBack({ browser, callback }))).body
    const cookie = `gatepass=${browser.cookies(next_uri).gatepass}`
    await fetch(next_uri, { method: 'HEAD', redirect: 'manual', headers: { cookie } })
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
  })

  test('a user who lost the page starts again from the link; the earlier flow no longer counts', async () => {
    await using scene = await withVerifier()
    const { id, url, browser, callback } = await scene.approve()
    const lost = await comeBack({ browser, callback })
    const isVerifier = (to: URL) => to.origin === new URL(VERIFIER).origin
    const again = await browser.submitForm(await browser.get(url), {}, { until: isVerifier })
    const flowId = new URL(again.hops.at(-1)?.location ?? 'about:blank').searchParams.get('flow_id') ?? ''
    expect(await confirm(scene, lost)).toMatchObject({ status: 404 })
    expect(await confirmAndGoOn(scene, { browser, flowId, userId: 'u1' })).toMatchObject({
      body: { auth_id: id },
    })
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('its browser is led on to the next_uri of the authorization at the end', async () => {
    await using scene = await withVerifier()
    const { id, browser, callback } = await scene.approve({ next_uri: 'https://app.example/done?of=mine' })
    const { body } = await confirm(scene, await comeBack({ browser, callback }))
    expect(body.next_uri).not.toContain('app.example')
    const page = await browser.get(body.next_uri)
    expect(page.response.headers.get('location')).toBe(
      `https://app.example/done?of=mine&auth_id=${id}&status=completed`,
    )
  })

  test('another user: 400 user_mismatch, the authorization has failed, and no token request ever', async () => {
    await using scene = await withVerifier()
    const { id, url, browser, callback } = await scene.approve()
    const flowId = await comeBack({ browser, callback })
    const mismatch = { status: 400, body: { name: 'user_mismatch' } }
    expect(await confirm(scene, flowId, 'mallory')).toMatchObject(mismatch)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    expect(await confirm(scene, flowId)).toMatchObject(mismatch)
    expect(await confirm(scene, flowId, 'mallory')).toMatchObject(mismatch)
    await browser.follow(callback)
    const page = await browser.get(url)
    expect(page.body).not.toContain('<form')
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('another user after completion gets user_mismatch and changes nothing', async () => {
    await using scene = await withVerifier()
    const approved = await scene.approve()
    const flowId = await comeBack(approved)
    await confirmAndGoOn(scene, { browser: approved.browser, flowId, userId: 'u1' })
    const refused = await confirm(scene, flowId, 'mallory')
    expect(refused).toMatchObject({ status: 400, body: { name: 'user_mismatch' } })
    expect(refused.body.message).toContain('stays so')
    expect((await scene.status(approved.id)).body.status).toBe('completed')
  })

  test('confirming again answers alike and requests nothing', async () => {
    await using scene = await withVerifier()
    const { browser, callback } = await scene.approve()
    const flowId = await comeBack({ browser, callback })
    const first = await confirm(scene, flowId)
    expect((await confirm(scene, flowId)).body).toEqual(first.body)
    expect(scene.as.tokenRequests()).toEqual([])
    await browser.get(first.body.next_uri)
    expect(await confirm(scene, flowId)).toMatchObject({ status: 200, body: first.body })
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('10 confirmations and 10 openings at once make one answer, one token request and one end', async () => {
    await using scene = await withVerifier({ as: { exchangeDelayMs: 50 } })
    const next_uri = 'https://app.example/done'
    const { id, browser, callback } = await scene.approve({ next_uri })
    const flowId = await comeBack({ browser, callback })
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(scene, flowId)))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toEqual(answers[0]?.body)
    }
    const opened = await Promise.all(answers.map(({ body }) => browser.get(body.next_uri)))
    for (const { response } of opened)
      expect(response.headers.get('location')).toBe(`${next_uri}?auth_id=${id}&status=completed`)
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('a confirmation is in the audit trail once', async () => {
    await using scene = await withVerifier()
    const { id, browser, callback } = await scene.approve()
    const flowId = await comeBack({ browser, callback })
    await confirm(scene, flowId)
    await confirmAndGoOn(scene, { browser, flowId, userId: 'u1' })
    const { body } = await scene.call('GET', '/v1/admin/audit?user_id=u1')
    const actions = body.items.filter((one: { authorization_id?: string }) => one.authorization_id === id)
    expect(actions.map((one: { action: string }) => one.action).reverse()).toEqual([
      'authorization.confirmed',
      'authorization.completed',
    ])
  })

  test('in time, but opened too late: nothing is redeemed', async () => {
    await using scene = await withVerifier()
    const { id, browser, callback } = await scene.approve()
    const { next_uri } = (await confirm(scene, await comeBack({ browser, callback }))).body
    scene.clock.advance(600)
    await browser.get(next_uri)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'expired' })
  })

  test('a code is held for ten minutes, however long the authorization lives', async () => {
    await using scene = await startScene({
      gatepass: {
        environment: { GATEPASS_USER_VERIFIER: VERIFIER, GATEPASS_AUTHORIZATION_TTL: '3600' },
      },
    })
    const { id, url, browser, callback } = await scene.approve()
    const { next_uri } = (await confirm(scene, await comeBack({ browser, callback }))).body
    scene.clock.advance(600)
    expect((await browser.get(next_uri)).response.headers.get('location')).toBe(url)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
    expect((await browser.get(url)).body).toContain('wants to use your')
  })

  test('a confirmation by a verifier that was replaced meanwhile redeems nothing', async () => {
    await using scene = await withVerifier()
    const { id, browser, callback } = await scene.approve()
    const { next_uri } = (await confirm(scene, await comeBack({ browser, callback }))).body
    const { databasePath } = scene.gatepass
    await using later = await startGatepass({ databasePath, now: scene.clock }) // `open`
    await browser.get(new URL(new URL(next_uri).pathname + new URL(next_uri).search, later.url))
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
  })

  test('an unknown flow and one of another project are both 404, and the flow can still be confirmed', async () => {
    await using scene = await withVerifier()
    const { id, browser, callback } = await scene.approve()
    const flowId = await comeBack({ browser, callback })
    const other = await scene.gatepass.makeKey('caller', 'other')
    for (const answer of [
      await confirm(scene, 'flow_nope'),
      await confirm(scene, id),
      await confirm(scene, flowId, 'u1', other),
      await confirm(scene, flowId, 'mallory', other),
    ])
      expect(answer).toMatchObject({ status: 404, body: { name: 'not_found' } })
    expect((await confirm(scene, flowId)).status).toBe(200)
  })

  test('a readonly key may not confirm', async () => {
    await using scene = await withVerifier()
    const flowId = await comeBack(await scene.approve())
    const key = await scene.gatepass.makeKey('readonly')
    expect(await confirm(scene, flowId, 'u1', key)).toMatchObject({ status: 403 })
  })

  test('too late: 400 authorization_expired, and no token request', async () => {
    await using scene = await withVerifier()
    const flowId = await comeBack(await scene.approve())
    scene.clock.advance(600)
    expect(await confirm(scene, flowId)).toMatchObject({
      status: 400,
      body: { name: 'authorization_expired' },
    })
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('the wrong browser never reaches it', async () => {
    await using scene = await withVerifier()
    const { callback } = await scene.approve()
    const page = await new UserAgent().get(callback)
    expect(page.status).toBe(403)
    expect(page.response.headers.get('location')).toBeNull()
  })

  test('a refusal of the provider ends it without a visit', async () => {
    await using scene = await withVerifier({ as: { consent: 'deny' } })
    const { id, url, browser, callback } = await scene.approve()
    expect((await browser.get(callback)).response.headers.get('location')).toBe(url)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'access_denied' })
  })

  test.each([undefined, 'https://app.example/done'])(
    'a failing exchange: the browser is led to where that is said (next_uri: %s)',
    async (next_uri) => {
      await using scene = await withVerifier({ as: { exchange: 'invalid_client' } })
      const { id, url, browser, callback } = await scene.approve({ ...(next_uri && { next_uri }) })
      const { body } = await confirm(scene, await comeBack({ browser, callback }))
      const end = await browser.get(body.next_uri)
      expect(end.response.headers.get('location')).toBe(url)
      const page = await browser.get(url)
      const away = `${next_uri}?auth_id=${id}&amp;status=failed&amp;reason=invalid_client`
      expect(page.body.includes(`href="${away}">Back to your application</a>`)).toBe(next_uri !== undefined)
      expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'invalid_client' })
    },
  )

  test('a click in another browser ends the flow that waited', async () => {
    await using scene = await withVerifier()
    const { id, url, browser, callback } = await scene.approve()
    const elsewhere = new UserAgent()
    const opened = await elsewhere.get(url)
    const first = await comeBack({ browser, callback })
    const until = (to: URL) => to.pathname.startsWith('/callback/')
    const clicked = await elsewhere.submitForm(opened, {}, { until })
    const again = new URL(clicked.hops.at(-1)?.location ?? 'about:blank')
    const second = await comeBack({ browser: elsewhere, callback: again })
    expect(second).not.toBe(first)
    expect(await confirm(scene, first)).toMatchObject({ status: 404 })
    await confirmAndGoOn(scene, { browser: elsewhere, flowId: second, userId: 'u1' })
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('the browser back at the callback while it waits is not sent with another flow', async () => {
    await using scene = await withVerifier()
    const { browser, callback } = await scene.approve()
    const flowId = await comeBack({ browser, callback })
    expect((await browser.follow(callback)).status).toBe(200)
    expect((await confirm(scene, flowId)).status).toBe(200)
  })
})
