import { describe, expect, test } from 'vitest'
import { newPerson, openBrowser } from '../browser.ts'
import { formIn, UserAgent } from '../user-agent.ts'
import { authorize, type OAuth2, type Scene, startScene } from './fixtures.ts'
import { startHostileWorld } from './hostile-world.ts'

// An authorization response that the browser posts from the provider's site (Apple), where it sends none of our cookies.

const PROVIDER = 'https://appleid.example/'
const asksForForm = (as: Scene['as'], more: OAuth2 = {}): OAuth2 => ({
  authorize_request: { endpoint: as.authorizationUrl, params: { response_mode: 'form_post' } },
  ...more,
})

async function start(more: OAuth2 = {}) {
  const scene = await startScene()
  const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: asksForForm(scene.as, more),
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  return scene
}

/** Clicks and approves, up to the provider's page with the form. */
async function formOf(scene: Scene, user_id = 'u1') {
  const browser = new UserAgent()
  const { id, url } = (await authorize(scene.gatepass, { user_id })).body
  const page = await browser.submitForm(await browser.get(url))
  const form = formIn(page)
  expect(form?.action).toContain('/callback/')
  return { id, browser, action: form?.action ?? '', fields: { ...form?.fields } }
}

/** As from the provider's site: first the form without cookies, then the redirect. */
async function postFrom(site: string, browser: UserAgent, action: string, fields: Record<string, string>) {
  const posted = await browser.post(action, fields, { from: site })
  const location = posted.response.headers.get('location')
  return {
    posted,
    location,
    ended: location === null ? posted : await browser.follow(location, { from: site }),
  }
}

describe('a form as authorization response', () => {
  test('goes on by GET in the same browser, without the code in the URL', async () => {
    await using scene = await start({
      callback_members: { user: '\\{"name":\\{"firstName":"[^"\\\\]*","lastName":"[^"\\\\]*"\\}\\}' },
    })
    const { id, browser, action, fields } = await formOf(scene)
    const user = '{"name":{"firstName":"Ada","lastName":"Lovelace"}}'
    const { posted, location, ended } = await postFrom(PROVIDER, browser, action, {
      ...fields,
      user,
      id_token: 'e'.repeat(8_000),
    })
    expect(posted.status).toBe(303)
    expect(location).not.toContain(fields.code)
    expect(ended.url).toContain(`/connect/${id}`)
    const { body } = await scene.status(id)
    expect(body).toMatchObject({ status: 'completed' })
    expect(body.context.authorization?.extra ?? JSON.stringify(body)).toContain('Lovelace')
    expect(scene.gatepass.logLines.join()).not.toContain(fields.code)
  })

  test('is compared like every other: another browser, another state, an error', async () => {
    await using scene = await start()
    const { id, browser, action, fields } = await formOf(scene)
    const foreign = await postFrom(PROVIDER, new UserAgent(), action, fields)
    expect(foreign.ended.status).toBe(403)
    expect((await scene.status(id)).body.status).toBe('pending')
    const { location } = await postFrom(PROVIDER, new UserAgent(), action, fields)
    const swapped = new URL(location ?? '')
    const other = await formOf(scene, 'another')
    swapped.searchParams.set('state', other.fields.state ?? '')
    await other.browser.get(swapped)
    expect((await scene.status(other.id)).body).toMatchObject({ reason: 'provider_bad_response' })
    expect((await postFrom(PROVIDER, browser, action, { ...fields, state: 'made-up' })).posted.status).toBe(
      400,
    )
    const { code: _, ...rest } = fields
    await postFrom(PROVIDER, browser, action, { ...rest, error: 'user_cancelled_authorize' })
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'provider_refused' })
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('of an earlier click is not taken for the answer to a later one', async () => {
    await using scene = await start()
    const { id, url } = (await authorize(scene.gatepass)).body
    const browser = new UserAgent()
    const click = async () => formIn(await browser.submitForm(await browser.get(url)))
    const first = await click()
    const earlier = await postFrom(PROVIDER, new UserAgent(), first?.action ?? '', { ...first?.fields })
    const swapped = new URL(earlier.location ?? '')
    swapped.searchParams.set('state', (await click())?.fields.state ?? '')
    await browser.get(swapped)
    expect((await scene.status(id)).body).toMatchObject({ reason: 'provider_bad_response' })
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('is not taken twice, nor too long, nor for an entry that does not ask for it', async () => {
    await using scene = await start()
    const { id, browser, action, fields } = await formOf(scene)
    const long = await postFrom(PROVIDER, browser, action, { ...fields, code: 'c'.repeat(7_000) })
    expect(long.posted.status).toBe(400)
    const first = await postFrom(PROVIDER, browser, action, fields)
    await browser.get(first.location ?? '')
    expect(scene.as.tokenRequests()).toHaveLength(1)
    expect((await scene.status(id)).body.status).toBe('completed')
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: { authorize_request: { params: {} } },
    })
    const plain = await scene.approve({ user_id: 'another' })
    const form = Object.fromEntries(plain.callback.searchParams)
    const posted = await plain.browser.post(plain.callback.origin + plain.callback.pathname, form)
    expect(posted.status).toBe(400)
    expect((await scene.status(plain.id)).body.status).toBe('pending')
  })

  test('works in a real browser, from another site', async () => {
    const browser = await openBrowser()
    try {
      await using world = await startHostileWorld('open', { crossSite: true })
      await using person = await newPerson(browser)
      await world.call('PATCH', '/v1/admin/auth_providers/demo', {
        oauth2: { authorize_request: { params: { response_mode: 'form_post' } } },
      })
      const { id, url } = await world.begin('alice')
      await person.page.goto(url)
      await person.page.getByRole('button', { name: /^Continue to/ }).click()
      await person.page.getByRole('heading', { name: 'demo is connected' }).waitFor()
      expect((await world.status(id)).status).toBe('completed')
      expect(world.as.requestsTo('/authorize').at(-1)?.search).toContain('response_mode=form_post')
    } finally {
      await browser.close()
    }
  })
})
