import { describe, expect, test } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import { type Approved, type Scene, type SceneOptions, startScene } from './fixtures.ts'

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
  test('is visited with flow_id alone; only the confirmation redeems the code', async () => {
    await using scene = await withVerifier()
    const approved = await scene.approve()
    const flowId = await comeBack(approved)
    for (const secret of [approved.id, 'u1', approved.callback.searchParams.get('code') ?? ''])
      expect(flowId).not.toContain(secret)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(approved.id)).body.status).toBe('pending')
    const waiting = scene.call('GET', `/v1/auth/status?id=${approved.id}&wait=59`)
    expect(await confirm(scene, flowId)).toMatchObject({
      status: 200,
      body: { auth_id: approved.id, next_uri: approved.url },
    })
    expect((await waiting).body).toMatchObject({ status: 'completed' })
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('a user who lost the page starts again from the link; the earlier flow no longer counts', async () => {
    await using scene = await withVerifier()
    const { id, url, browser, callback } = await scene.approve()
    const lost = await comeBack({ browser, callback })
    const isVerifier = (to: URL) => to.origin === new URL(VERIFIER).origin
    const again = await browser.submitForm(await browser.get(url), {}, { until: isVerifier })
    const flowId = new URL(again.hops.at(-1)?.location ?? 'about:blank').searchParams.get('flow_id') ?? ''
    expect(await confirm(scene, lost)).toMatchObject({ status: 404 })
    expect(await confirm(scene, flowId)).toMatchObject({ status: 200, body: { auth_id: id } })
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('next_uri is answered when it was given', async () => {
    await using scene = await withVerifier()
    const flowId = await comeBack(await scene.approve({ next_uri: 'https://app.example/done' }))
    expect((await confirm(scene, flowId)).body.next_uri).toBe('https://app.example/done')
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
    await confirm(scene, flowId)
    const refused = await confirm(scene, flowId, 'mallory')
    expect(refused).toMatchObject({ status: 400, body: { name: 'user_mismatch' } })
    expect(refused.body.message).toContain('stays so')
    expect((await scene.status(approved.id)).body.status).toBe('completed')
  })

  test('confirming again answers alike and requests nothing', async () => {
    await using scene = await withVerifier()
    const flowId = await comeBack(await scene.approve())
    const first = await confirm(scene, flowId)
    expect((await confirm(scene, flowId)).body).toEqual(first.body)
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('10 confirmations at once make one token request and one answer', async () => {
    await using scene = await withVerifier({ as: { exchangeDelayMs: 50 } })
    const flowId = await comeBack(await scene.approve())
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(scene, flowId)))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toEqual(answers[0]?.body)
    }
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('an unknown flow and another project’s are 404 alike, and the flow stands', async () => {
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

  test('a failing exchange: the confirmation leads to the page that says so', async () => {
    await using scene = await withVerifier({ as: { exchange: 'invalid_client' } })
    const approved = await scene.approve()
    const flowId = await comeBack(approved)
    expect(await confirm(scene, flowId)).toMatchObject({ status: 200, body: { next_uri: approved.url } })
    expect((await scene.status(approved.id)).body).toMatchObject({
      status: 'failed',
      reason: 'invalid_client',
    })
  })

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
    expect((await confirm(scene, second)).status).toBe(200)
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
