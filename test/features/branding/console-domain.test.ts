import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TxtResult } from '../../../src/egress/txt-records.ts'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'
import { type Page, UserAgent } from '../../user-agent.ts'

// The project's own domain in the console: what an administrator does, what the overview says of it.

const HOST = 'auth.acme.localhost'
const RECORD = `_gatepass-challenge.${HOST}`
const clock = testClock()
let world: World
let admin: UserAgent
let reader: UserAgent
let csrf: string
/** What DNS answers, and what it was asked. */
let answer: TxtResult
let asked: string[]

beforeAll(async () => {
  const lookUpTxt = async (name: string): Promise<TxtResult> => {
    asked.push(name)
    return answer
  }
  world = await startWorld({ gatepass: { now: clock, lookUpTxt } })
  ;[admin, reader] = [new UserAgent(), new UserAgent()]
  const page = await admin.submitForm(await admin.follow(url()), { key: world.gatepass.apiKey })
  csrf = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
  await reader.submitForm(await reader.follow(url()), { key: await world.gatepass.makeKey('readonly') })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  asked = []
  answer = { outcome: 'found', values: [] }
  await world.call('PATCH', '/v1/admin/projects/default/branding', { domain: null })
})

const url = (path = '') => `${world.gatepass.url}/dashboard${path}`
const send = (path: string, form: Record<string, string> = {}) =>
  admin.post(url(`/branding/domain${path}`), { csrf, ...form })
const domain = async () => (await world.call('GET', '/v1/admin/projects/default/branding')).body.domain
const textOf = ({ body }: Page) => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const branding = (by = admin) => by.get(url('/branding'))

test('a domain is set, its record and redirect URIs can be copied, it is proved and removed', async () => {
  expect(textOf(await branding())).toContain(`your users see the pages at ${world.gatepass.url}`)
  const set = await send('', { domain: HOST })
  expect([set.status, set.response.headers.get('location')]).toEqual([303, '/dashboard/branding#domain'])
  const { challenge, redirect_uris: uris, origin } = await domain()
  const page = await branding()
  for (const text of [challenge.name, challenge.value, uris[0].redirect_uri])
    expect(page.body).toContain(`<code class="copy">${text}</code>`)
  expect(textOf(page)).toMatch(/auth\.acme\.localhost not proved/)

  answer = { outcome: 'found', values: [challenge.value] }
  expect((await send('/verify')).status).toBe(303)
  expect((await domain()).status).toBe('proved')
  const proved = await branding()
  expect(textOf(proved)).toContain(`Users see the pages at ${origin} since`)
  expect(proved.body).toContain(`${new URL(origin).host}/me`) // in the preview

  expect((await send('/remove')).status).toBe(303)
  expect(await domain()).toBeUndefined()
  const { body } = await world.call('GET', '/v1/admin/audit?limit=3')
  expect(body.items.map((one: { action: string; purpose: string }) => [one.action, one.purpose])).toEqual([
    ['branding.domain_removed', 'POST /dashboard/branding/domain/remove'],
    ['branding.domain_proved', 'POST /dashboard/branding/domain/verify'],
    ['branding.domain_set', 'POST /dashboard/branding/domain'],
  ])
})

describe('what is refused says why on a page', () => {
  test.each([
    ['a URL', 'https://auth.acme.example', 'must be a host name alone'],
    ['an address', '192.0.2.1', 'must be a name, not an IP address'],
    ['nothing', '', 'must be a host name such as auth.acme.example'],
  ])('%s as a domain', async (_, typed, said) => {
    const page = await send('', { domain: typed })
    expect([page.status, textOf(page)]).toEqual([400, expect.stringContaining(said)])
    expect(page.body).toContain(`name="domain" type="text" value="${typed}"`)
    expect(await domain()).toBeUndefined()
  })

  test.each([
    ['no record', { outcome: 'found', values: [] }, 400, `There is no TXT record at ${RECORD}`],
    ['another record', { outcome: 'found', values: ['<b>x</b>'] }, 400, '&lt;b&gt;x&lt;/b&gt;'],
    ['no answer', { outcome: 'no answer', why: 'ESERVFAIL' }, 503, 'DNS gave no answer'],
  ] as const)('a proof with %s', async (_, found, status, said) => {
    await send('', { domain: HOST })
    answer = found
    const page = await send('/verify')
    expect([page.status, textOf(page)]).toEqual([status, expect.stringContaining(said)])
    expect(textOf(page)).toContain(RECORD)
    expect((await domain()).status).toBe('unproved')
  })

  test('a proof without a domain', async () => {
    const page = await send('/verify')
    expect([page.status, textOf(page)]).toEqual([404, expect.stringContaining('The project has no domain')])
  })
})

describe('who may', () => {
  const FORMS = [['', { domain: 'evil.example' }], ['/verify'], ['/remove']] as const

  test('a readonly operator sees the state and no form, and is refused, as other sites are', async () => {
    await send('', { domain: HOST })
    const seen = await branding(reader)
    expect(textOf(seen)).toMatch(/auth\.acme\.localhost not proved/)
    expect(seen.body).not.toMatch(/action="[^"]*\/domain|dashboard\/confirm/)
    const { challenge } = await domain()
    answer = { outcome: 'found', values: [challenge.value] }
    const token = /name="csrf" value="([\w-]+)"/.exec(seen.body)?.[1] ?? ''
    for (const [path, form] of FORMS) {
      const to = url(`/branding/domain${path}`)
      expect((await reader.post(to, { ...form, csrf: token })).status).toBe(403)
      expect((await admin.post(to, { ...form })).status).toBe(403)
      await admin.post(to, { ...form, csrf }, { from: 'https://evil.example/' })
    }
    expect(await domain()).toMatchObject({ name: HOST, status: 'unproved', challenge })
  })

  test('an administrator confirms a login that is older than five minutes first, and comes back', async () => {
    await send('', { domain: HOST })
    clock.advance(6 * 60)
    const page = await branding()
    expect(page.body).not.toMatch(/action="[^"]*\/domain/)
    expect(page.body).toContain('/dashboard/confirm?next=%2Fbranding%23domain')
    // the page that answers another form leads there too
    const other = await admin.post(url('/branding'), { csrf, accent: 'blue', do: 'preview' })
    expect(other.body).toContain('/dashboard/confirm?next=%2Fbranding%23domain')
    for (const [path, form] of FORMS) {
      const refused = await send(path, form)
      expect([refused.status, textOf(refused)]).toEqual([403, expect.stringContaining('five minutes')])
    }
    expect((await domain()).name).toBe(HOST)
    const confirm = await admin.get(url('/confirm?next=%2Fbranding%23domain'))
    const back = await admin.submitForm(confirm, { key: world.gatepass.apiKey })
    expect(back.body).toContain('action="/dashboard/branding/domain/verify#domain"')
    csrf = /name="csrf" value="([\w-]+)"/.exec(back.body)?.[1] ?? ''
  })
})

test('the overview names a domain that is not proved, without a look-up', async () => {
  const said = `The domain ${HOST} is set and not proved.`
  expect(textOf(await admin.get(url()))).not.toContain(said)
  await send('', { domain: HOST })
  for (const by of [admin, reader]) {
    const overview = await by.get(url())
    expect(textOf(overview)).toContain(said)
    expect(overview.body).toContain('href="/dashboard/branding#domain"')
  }
  await branding()
  expect(asked).toEqual([])
  answer = { outcome: 'found', values: [(await domain()).challenge.value] }
  await send('/verify')
  expect(textOf(await admin.get(url()))).not.toContain(said)
})
