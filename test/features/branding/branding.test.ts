import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  BACKGROUNDS,
  contrast,
  isReadable,
  nearestReadable,
  textOn,
} from '../../../src/features/branding/contrast.ts'
import { type Scene, startScene } from '../../flows/fixtures.ts'
import { UserAgent } from '../../user-agent.ts'

// How the pages of a project look, and what cannot be changed of them.

const PATH = '/v1/admin/projects/default/branding'
const image = (bytes: readonly number[], type = 'png', size = 64) =>
  `data:image/${type};base64,${Buffer.concat([Buffer.from(bytes), Buffer.alloc(size)]).toString('base64')}`
const bytes16 = (value: number) => [value >> 8, value & 255]
const pngOf = (width: number, height: number) => [
  ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  ...[0, 0, 0, 13, ...Buffer.from('IHDR'), 0, 0, ...bytes16(width), 0, 0, ...bytes16(height)],
]
/** An application segment, fill bytes and a table come before the frame. */
const jpegOf = (width: number, height: number, frame = 0xc2) => [
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0xff, 0xc0, 0xff, 0xff, 0xff, 0xc4, 0, 3, 9],
  ...[0xff, frame, 0, 11, 8, ...bytes16(height), ...bytes16(width)],
]
const riff = (...chunk: readonly number[]) => [
  ...Buffer.from('RIFF'),
  1,
  2,
  3,
  4,
  ...Buffer.from('WEBP'),
  ...chunk,
]
const little = (value: number, count: number) =>
  Array.from({ length: count }, (_, i) => (value >> (8 * i)) & 255)
const webpOf = {
  extended: (width: number, height: number) =>
    riff(...Buffer.from('VP8X'), 10, 0, 0, 0, 0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)),
  lossless: (width: number, height: number) =>
    riff(...Buffer.from('VP8L'), 9, 0, 0, 0, 0x2f, ...little((width - 1) | ((height - 1) << 14), 4)),
  lossy: (width: number, height: number) =>
    riff(
      ...Buffer.from('VP8 '),
      9,
      0,
      0,
      0,
      0,
      0,
      0,
      0x9d,
      1,
      0x2a,
      ...little(width, 2),
      ...little(height, 2),
    ),
}
const PNG = pngOf(1024, 1)
const SVG = [...Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>')]

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

const change = (body: object) => scene.call('PATCH', PATH, body)

async function connectPage(headers: Record<string, string> = {}): Promise<string> {
  const { body } = await scene.authorize({ user_id: 'ada', user_display: 'Ada L.' })
  return (await new UserAgent().get(body.url, { headers })).body
}

test('a project sets its name, logo, colours, links, sentences and language, on record', async () => {
  const set = {
    app_name: 'Acme Assistant',
    lang: 'de',
    accent: '#0B57D0',
    accent_dark: '#8ab4f8',
    app_url: 'https://acme.example/app',
    privacy_url: 'https://acme.example/privacy',
    support_url: 'https://acme.example/help',
    texts: { en: { 'connect.note': 'We <b>only</b> read.', 'failed.note': 'Write to us.' } },
  }
  const changed = await change({ ...set, logo: image(PNG) })
  expect([changed.status, changed.body]).toEqual([
    200,
    {
      project_id: expect.stringMatching(/^proj_/),
      ...set,
      accent: '#0b57d0',
      logo_url: expect.stringMatching(/^\/assets\/logo\/proj_\w+-\w{24}$/),
      updated_at: expect.any(String),
    },
  ])
  expect((await scene.call('GET', PATH)).body).toEqual(changed.body)

  const page = await connectPage({ 'accept-language': 'en' })
  expect(page).toContain('<h1><bdi>Acme Assistant</bdi> wants to use your <bdi>demo</bdi> account</h1>')
  expect(page).toContain('You are <strong><bdi>Ada L.</bdi></strong> at <bdi>Acme Assistant</bdi>.')
  expect(page).toContain('<p class="own-note" lang="en" dir="auto">We &lt;b&gt;only&lt;/b&gt; read.</p>')
  expect(page).toContain('href="https://acme.example/privacy" rel="noreferrer">Privacy</a>')
  expect(page).toContain(`<img src="${changed.body.logo_url}"`)
  expect(await connectPage({ 'accept-language': 'nl' })).toContain('möchte Ihr Konto')

  const logo = await fetch(new URL(changed.body.logo_url, scene.gatepass.url))
  expect([logo.status, logo.headers.get('content-type'), logo.headers.get('x-content-type-options')]).toEqual(
    [200, 'image/png', 'nosniff'],
  )
  expect(logo.headers.get('content-security-policy')).toContain('sandbox')
  expect(Buffer.from(await logo.arrayBuffer()).subarray(0, PNG.length)).toEqual(Buffer.from(PNG))
  const [, href = ''] = /href="(\/assets\/brand\/\w+\.css\?v=\d+)"/.exec(page) ?? []
  const css = await fetch(new URL(href, scene.gatepass.url))
  expect(css.headers.get('cache-control')).toContain('immutable')
  const text = await css.text()
  expect(text).toContain('--accent: #0b57d0;')
  expect(text).toMatch(/prefers-color-scheme: dark.*--accent: #8ab4f8;/s)

  const { body } = await scene.call('GET', '/v1/admin/audit?action=branding.set')
  const entry = body.items.find(({ action }: { action: string }) => action === 'branding.set')
  expect(entry.detail).toContain('appName')

  // null removes, absent stays, and an old logo is gone
  const removed = await change({ logo: null, accent: null, accent_dark: null, texts: null, lang: null })
  expect(removed.body).toEqual({
    project_id: changed.body.project_id,
    app_name: 'Acme Assistant',
    app_url: set.app_url,
    privacy_url: set.privacy_url,
    support_url: set.support_url,
    updated_at: expect.any(String),
  })
  expect((await fetch(new URL(changed.body.logo_url, scene.gatepass.url))).status).toBe(404)
  expect((await fetch(new URL(href, scene.gatepass.url))).status).toBe(404)
})

test.each([
  ['jpeg', jpegOf(1024, 1024)],
  ['jpeg', jpegOf(40, 40, 0xc0)],
  ['webp', webpOf.extended(1024, 1024)],
  ['webp', webpOf.lossless(1024, 1024)],
  ['webp', webpOf.lossy(1024, 1024)],
])('a logo may be a %s of up to 1,024 pixels a side', async (type, bytes) => {
  expect((await change({ logo: image(bytes, type) })).status).toBe(200)
})

test.each([
  ['a provider’s name', { app_name: 'GitHub' }, 'app_name'],
  ['a provider’s name in other letters', { app_name: 'g i t-H U B' }, 'app_name'],
  ['a provider’s name with characters that are not seen', { app_name: 'Git\u200bHub\u00b7' }, 'app_name'],
  ['a provider’s name in wide letters', { app_name: 'ＧｉｔＨｕｂ' }, 'app_name'],
  ['a provider’s name with Cyrillic letters', { app_name: 'G\u043e\u043egle' }, 'app_name'],
  ['a provider’s name in Cyrillic letters alone', { app_name: '\u0412\u043e\u0445' }, 'app_name'],
  ['a provider’s name with Greek letters', { app_name: 'S\u03b1lesforce' }, 'app_name'],
  ['a provider’s name with accents', { app_name: 'Gòöglè' }, 'app_name'],
  ['a provider’s name with digits', { app_name: 'G00gIe' }, 'app_name'],
  ['a provider’s name with letters in place of one', { app_name: 'rnicrosoft' }, 'app_name'],
  [
    'a provider’s name with a letter that normalisation makes another',
    { app_name: '\u017facebook' },
    'app_name',
  ],
  ['a provider’s name in small capitals', { app_name: 'ɢɪᴛʜᴜʙ' }, 'app_name'],
  ['a word of two scripts', { app_name: 'Acm\u0435 Assistant' }, 'app_name'],
  ['the name of an own provider', { app_name: 'Demo' }, 'app_name'],
  ['a name that nobody sees', { app_name: '\u200b\u3164' }, 'app_name'],
  ['a name of two lines', { app_name: 'Acme\u2028Assistant' }, 'app_name'],
  ['a name that turns direction', { app_name: 'Acme\u202e' }, 'app_name'],
  ['a blank name', { app_name: '  ' }, 'app_name'],
  ['a name that is too long', { app_name: 'x'.repeat(61) }, 'app_name'],
  ['an SVG', { logo: image(SVG, 'svg+xml') }, 'logo'],
  ['an SVG that is called a PNG', { logo: image(SVG) }, 'logo'],
  ['a PNG that is called a JPEG', { logo: image(PNG, 'jpeg') }, 'logo'],
  ['a logo that is too large', { logo: image(PNG, 'png', 65_536) }, 'logo'],
  ['a PNG of too many pixels', { logo: image(pngOf(1025, 8)) }, 'logo is 1025 by 8 pixels'],
  ['a JPEG of too many pixels', { logo: image(jpegOf(8, 65_535), 'jpeg') }, 'logo is 8 by 65535 pixels'],
  ['a WebP of too many pixels', { logo: image(webpOf.extended(9, 16_384), 'webp') }, '9 by 16384'],
  ['a lossless WebP', { logo: image(webpOf.lossless(16_384, 9), 'webp') }, '16384 by 9'],
  ['a lossy WebP', { logo: image(webpOf.lossy(16_383, 9), 'webp') }, '16383 by 9'],
  ['a PNG without a size', { logo: image(pngOf(0, 8)) }, 'logo is damaged'],
  ['a PNG that ends early', { logo: image(PNG.slice(0, 20), 'png', 0) }, 'logo is damaged'],
  ['a JPEG without a frame', { logo: image([0xff, 0xd8, 0xff, 0xe0], 'jpeg') }, 'logo is damaged'],
  ['a WebP of no known form', { logo: image(riff(), 'webp') }, 'logo is damaged'],
  ['the address of a logo', { logo: 'https://acme.example/logo.png' }, 'logo'],
  ['a colour by name', { accent: 'blue' }, 'accent'],
  ['an application without TLS', { app_url: 'http://acme.example/' }, 'app_url'],
  ['an application of another scheme', { app_url: 'javascript:alert(1)' }, 'app_url'],
  ['an address of another scheme', { support_url: 'javascript:alert(1)' }, 'support_url'],
  ['an address with a password', { privacy_url: 'https://a:b@acme.example' }, 'privacy_url'],
  ['a sentence that is too long', { texts: { en: { 'connect.note': 'x'.repeat(301) } } }, 'connect.note'],
  [
    'a sentence in the place of the warning',
    { texts: { en: { 'connect.warning': 'Fine.' } } },
    'connect.warning',
  ],
  ['a language that the pages lack', { texts: { tlh: { 'connect.note': 'x' } } }, 'tlh'],
  ['a member that does not exist', { css: 'body{}' }, 'css'],
])('%s is refused, and changes nothing', async (_, body, member) => {
  const before = (await scene.call('GET', PATH)).body
  const refused = await change({ support_url: 'https://changed.example/', ...body })
  expect([refused.status, refused.body.name]).toEqual([400, 'invalid_request'])
  expect(JSON.stringify(refused.body)).toContain(member)
  expect((await scene.call('GET', PATH)).body).toEqual(before)
})

test.each(['Яндекс Mail', 'Ελλάδα', 'Acme 株式会社', 'Été & Fils', 'GitHub Helper', 'שלום'])(
  '%s may be a name',
  async (app_name) => {
    expect((await change({ app_name })).status).toBe(200)
  },
)

test.each([
  ['accent', '#ffd54f'],
  ['accent', '#ffffff'],
  ['accent_dark', '#0b57d0'],
  // readable on one of the two backgrounds alone
  ['accent', '#767676'],
  ['accent_dark', '#7f7f7f'],
])(
  '%s %s, in which links cannot be read, is refused with the nearest shade that is taken',
  async (member, colour) => {
    const refused = await change({ [member]: colour })
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toMatchObject([{ path: member, code: 'invalid' }])
    expect(refused.body.message).toContain(refused.body.nearest)
    expect((await change({ [member]: refused.body.nearest })).status).toBe(200)
    expect((await change({ [member]: null })).status).toBe(200)
  },
)

test('only an administrator of the project changes it; others do not learn that it exists', async () => {
  const key = async (role: string) =>
    (await scene.call('POST', '/v1/admin/keys', { name: role, role })).body.key
  const readonly = await key('readonly')
  expect((await scene.call('PATCH', PATH, { app_name: 'Mine' }, { key: readonly })).status).toBe(403)
  expect((await scene.call('GET', PATH, undefined, { key: readonly })).status).toBe(200)
  expect((await scene.call('PATCH', '/v1/admin/projects/other/branding', { app_name: 'Mine' })).status).toBe(
    404,
  )
})

describe('contrast', () => {
  test('is that of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })

  test('of the text on any button is at least 4.5, and each refused colour has a readable shade', () => {
    for (let red = 0; red < 256; red += 17)
      for (let green = 0; green < 256; green += 17)
        for (let blue = 0; blue < 256; blue += 51) {
          const colour = `#${[red, green, blue].map((one) => one.toString(16).padStart(2, '0')).join('')}`
          expect(contrast(colour, textOn(colour))).toBeGreaterThanOrEqual(4.5)
          for (const scheme of ['light', 'dark'] as const) {
            const shade = nearestReadable(colour, scheme)
            expect(isReadable(shade, scheme), `${colour} ${scheme}`).toBe(true)
            for (const background of BACKGROUNDS[scheme])
              expect(contrast(shade, background)).toBeGreaterThanOrEqual(3)
          }
        }
  })
})
