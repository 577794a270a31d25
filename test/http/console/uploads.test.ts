import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { UserAgent } from '../../user-agent.ts'

// The console's one form with a file: who may send it, and what a hostile one costs.

let gatepass: Gatepass
let admin: UserAgent
let reader: UserAgent
beforeAll(async () => {
  gatepass = await startGatepass()
  ;[admin, reader] = [new UserAgent(), new UserAgent()]
  await admin.submitForm(await admin.follow(`${gatepass.url}/dashboard`), { key: gatepass.apiKey })
  await reader.submitForm(await reader.follow(`${gatepass.url}/dashboard`), {
    key: await gatepass.makeKey('readonly'),
  })
})
afterAll(() => gatepass.close())

const to = () => `${gatepass.url}/dashboard/branding/logo`
const BOUNDARY = `----WebKitFormBoundary${'x'.repeat(16)}`
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
const END = `--${BOUNDARY}--\r\n`
const part = (field: string, value: string, more = '') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"${more}\r\n\r\n${value}\r\n`

async function csrfOf(agent: UserAgent): Promise<string> {
  const { body } = await agent.get(`${gatepass.url}/dashboard`)
  return /name="csrf" value="([\w-]+)"/.exec(body)?.[1] ?? ''
}

const send = (agent: UserAgent, body: string, { type = TYPE, from = to() } = {}) =>
  agent.post(to(), body, { from, headers: { 'content-type': type } })

const logo = async () => (await gatepass.call('GET', '/v1/admin/projects/default/branding')).body.logo_url

describe('an upload', () => {
  const image = part(
    'logo',
    `RIFFxxxxWEBPVP8L9000/\x0f@\x03\x00${'x'.repeat(100)}`,
    '; filename="l.webp"\r\ncontent-type: image/webp',
  )

  test('of an administrator is taken', async () => {
    const page = await send(admin, `${part('csrf', await csrfOf(admin))}${image}${END}`)
    expect([page.status, page.response.headers.get('location')]).toEqual([303, '/dashboard/branding'])
    expect(await logo()).toMatch(/^\/assets\/logo\//)
    await gatepass.call('PATCH', '/v1/admin/projects/default/branding', { logo: null })
  })

  test.each([
    ['a readonly operator', () => reader, () => csrfOf(reader), {}, 403],
    ['without the token of the session', () => admin, async () => '', {}, 403],
    ['another session’s token', () => admin, () => csrfOf(reader), {}, 403],
    ['another site', () => admin, () => csrfOf(admin), { from: 'https://evil.example/' }, 303],
    ['without a session', () => new UserAgent(), async () => 'x', {}, 303],
    ['a form of another type', () => admin, () => csrfOf(admin), { type: 'text/plain' }, 400],
    ['a form without a boundary', () => admin, () => csrfOf(admin), { type: 'multipart/form-data;' }, 400],
  ])('by %s changes nothing', async (_, agent, token, options, status) => {
    const page = await send(agent(), `${part('csrf', await token())}${image}${END}`, options)
    expect(page.status).toBe(status)
    expect(await logo()).toBeUndefined()
  })

  test('of very many parts without a file is refused', async () => {
    const many = part('a', '').repeat(700)
    const page = await send(admin, `${part('csrf', await csrfOf(admin))}${many}${END}`)
    expect([page.status, page.body]).toEqual([400, expect.stringContaining('Choose a file first')])
    expect(page.body).toMatch(/name="logo"[^>]* aria-describedby="f-logo-fault">.* id="f-logo-fault"/s)
  })

  test.each([
    ['of 70 kB', 'x'.repeat(70_000), 400, 'larger than 64 KiB'],
    [
      'of an SVG',
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      400,
      'not those of a PNG, JPEG, or WebP image',
    ],
  ])('%s is refused on a page that says so', async (_, text, status, said) => {
    const file = part('logo', text, '; filename="l.jpg"\r\ncontent-type: image/jpeg')
    const page = await send(admin, `${part('csrf', await csrfOf(admin))}${file}${END}`)
    expect([page.status, page.body]).toEqual([status, expect.stringContaining(said)])
    expect(page.body).toContain('role="alert"')
    expect(await logo()).toBeUndefined()
  })

  test('that is larger is not kept, and the page says what to do', async () => {
    const page = await send(admin, `${part('csrf', await csrfOf(admin))}${image}${'x'.repeat(2_000_000)}`)
    expect([page.status, page.body]).toEqual([413, expect.stringContaining('larger than 64 KiB')])
    const refused = await send(admin, Buffer.alloc(9 * 1024 * 1024, 'x').toString()).catch(() => undefined)
    expect([413, undefined]).toContain(refused?.status)
  })
})

test('the style sheet of the preview has no text of its query but colours', async () => {
  const at = (query: string) => admin.get(`${gatepass.url}/dashboard/branding/colours.css?${query}`)
  expect((await at('light=aa0000')).body).toContain('--own: #aa0000; --on-own: #ffffff;')
  const hostile = await at(`light=${encodeURIComponent('fff;} body{background:url(//evil.example)}')}`)
  expect(hostile.body).not.toContain('evil')
  expect(hostile.response.headers.get('content-type')).toBe('text/css; charset=utf-8')
})
