import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { freePort } from '../ports.ts'

// The link that `gatepass dev` prints, and who else could use it: other users of the machine, pages of other sites, a page
// whose name was rebound to the loopback address, previews of links, and readers of an old terminal.

const clock = testClock()
const printed: string[] = []
let gatepass: Gatepass
let link: URL

const startDev = (options: GatepassOptions = {}) =>
  startGatepass({ mode: 'development', now: clock, printLink: (url) => void printed.push(url), ...options })

beforeAll(async () => {
  gatepass = await startDev()
})
afterAll(() => gatepass?.close())
beforeEach(() => {
  link = new URL(gatepass.makeLink?.() ?? '')
})

type Headers = Readonly<Record<string, string>>
interface Sent {
  readonly status: number | undefined
  readonly cookies: readonly string[]
  readonly location: string | undefined
  readonly body: string
}

/** Sends a request with any `Host`, which `fetch` does not allow. */
function send(method: string, path: string, headers: Headers = {}, body = ''): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(gatepass.url)
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, async (answer) => {
      let text = ''
      for await (const piece of answer.setEncoding('utf8')) text += piece
      const { location, 'set-cookie': cookies = [] } = answer.headers
      resolve({ status: answer.statusCode, cookies, location, body: text })
    })
    sent.once('error', reject).end(body)
  })
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const OWN = { ...FORM, 'sec-fetch-site': 'same-origin' }
const open = (headers?: Headers) => send('GET', `${link.pathname}${link.search}`, headers)
const press = (headers: Headers = OWN, ticket = link.searchParams.get('ticket') ?? '') =>
  send('POST', '/dashboard/enter', headers, new URLSearchParams({ ticket }).toString())
const sessions = ({ cookies }: Sent) =>
  cookies.filter((cookie) => /^gatepass-console=[\w-]{43};/.test(cookie))

describe('the link of development', () => {
  test('threat 56: logs in once, by the button of its page: a preview that opens it spends nothing', async () => {
    expect(link.searchParams.get('ticket')).toMatch(/^[\w-]{43}$/)
    for (const site of ['none', 'cross-site', 'same-site']) {
      const shown = await open({ 'sec-fetch-site': site, purpose: 'prefetch' })
      expect([shown.status, sessions(shown)]).toEqual([200, []])
    }
    const [first, second] = await Promise.all([press(), press()])
    expect([first.status, second.status].sort()).toEqual([303, 410])
    const entered = first.status === 303 ? first : second
    expect([entered.location, sessions(entered)]).toEqual(['/dashboard', [expect.stringMatching(/HttpOnly/)]])
    const cookie = entered.cookies[0]?.split(';')[0] ?? ''
    expect(await send('GET', '/dashboard/keys', { cookie })).toMatchObject({ status: 200 })
    expect(await press()).toMatchObject({ status: 410, cookies: [] })
    expect(await open()).toMatchObject({ status: 410 })
    const { body } = await gatepass.call('GET', '/v1/admin/audit?action=console.logged_in')
    expect(body.items[0]).toMatchObject({ actor: { kind: 'api_key' }, purpose: 'POST /dashboard/enter' })
    expect(JSON.stringify(body) + gatepass.logLines.join()).not.toContain(link.searchParams.get('ticket'))
  })

  test.each<[string, Headers]>([
    ['another site', { ...FORM, 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { ...FORM, 'sec-fetch-site': 'same-site' }],
    ['another origin, in an old browser', { ...FORM, origin: 'http://evil.test' }],
    ['a program that sends neither header', FORM],
    ['a page that was rebound to this address', { ...OWN, host: 'rebound.evil.test' }],
    [
      'a rebound page at this port',
      { ...OWN, host: 'rebound.evil.test:8400', origin: 'http://rebound.evil.test:8400' },
    ],
    ['a name that only looks like localhost', { ...OWN, host: 'localhost.evil.test' }],
    ['an address of the network', { ...OWN, host: '192.0.2.7:8400' }],
  ])('threat 56: is refused from %s, and stays valid', async (_, headers) => {
    const refused = await press(headers)
    expect([refused.status, sessions(refused)]).toEqual([403, []])
    const wish = await send('POST', '/dashboard/link', headers, '')
    expect([wish.status, printed]).toEqual([403, []])
    if (headers.host !== undefined) {
      const shown = await open({ host: headers.host })
      expect(shown.status).toBe(403)
      expect(shown.body).not.toContain('action="/dashboard/link"')
    }
    expect(await press()).toMatchObject({ status: 303 })
  })

  test('threat 56: is valid for ten minutes, and until there is a newer one', async () => {
    clock.advance(599)
    expect(await open()).toMatchObject({ status: 200 })
    clock.advance(1)
    expect(await open()).toMatchObject({ status: 410 })
    expect(await press()).toMatchObject({ status: 410, cookies: [] })
    const older = new URL(gatepass.makeLink?.() ?? '').searchParams.get('ticket') ?? ''
    const newer = new URL(gatepass.makeLink?.() ?? '').searchParams.get('ticket') ?? ''
    expect(await press(OWN, older)).toMatchObject({ status: 410 })
    expect(await press(OWN, newer)).toMatchObject({ status: 303 })
  })

  test('threat 56: a page gets no link: the terminal alone shows the one that it asks for, a few at a time', async () => {
    const answers = []
    for (let i = 0; i < 7; i++) answers.push(await send('POST', '/dashboard/link', OWN, 'next=%2Fruns'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(printed).toHaveLength(5)
    const newest = new URL(printed.at(-1) ?? '')
    for (const { body } of answers) for (const url of printed) expect(body).not.toContain(new URL(url).search)
    expect(await press()).toMatchObject({ status: 410 })
    const ticket = newest.searchParams.get('ticket') ?? ''
    const form = new URLSearchParams({ ticket, next: newest.searchParams.get('next') ?? '' }).toString()
    expect(await send('POST', '/dashboard/enter', OWN, form)).toMatchObject({
      status: 303,
      location: '/dashboard/runs',
    })
    printed.length = 0
  })

  test('threat 56: is of its process: another one, or the next start, does not know it', async () => {
    await using other = await startDev()
    const answer = await fetch(`${other.url}${link.pathname}${link.search}`)
    expect(answer.status).toBe(410)
  })

  test.each<[string, GatepassOptions]>([
    ['outside of development', { mode: 'serve' }],
    ['where other machines reach the port', { environment: { GATEPASS_HOST: '0.0.0.0' } }],
    ['behind a public name', { environment: { GATEPASS_PUBLIC_URL: 'https://gatepass.example' } }],
    ['without the console', { environment: { GATEPASS_DASHBOARD: 'off' } }],
    ['for a program that prints none', { printLink: undefined as never }],
  ])('threat 56: there is none %s', async (_, options) => {
    await using other = await startDev({ port: await freePort(), ...options })
    expect(other.makeLink).toBeUndefined()
    const form = { method: 'POST', headers: OWN, body: 'ticket=', redirect: 'manual' } as const
    for (const path of ['/dashboard/enter', '/dashboard/link']) {
      const answer = await fetch(`${other.url}${path}`, form)
      expect([answer.status, answer.headers.get('location')]).not.toEqual([303, '/dashboard'])
      expect(printed).toEqual([])
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
  })
})
