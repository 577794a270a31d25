import { OpenAPIHono } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { describe, expect, test } from 'vitest'
import { FAILURE_REASONS, type FailureReason } from '../../src/domain/authorization.ts'
import { type Brand, NO_BRAND } from '../../src/domain/brand.ts'
import { assetHref, assets } from '../../src/http/pages/assets.ts'
import { type ConnectView, connectPage as connectPageIn } from '../../src/http/pages/connect-page.ts'
import { ENDING_KINDS, type EndingKind } from '../../src/http/pages/ending-kinds.ts'
import { type EndingView, endingPage as endingPageIn, endingWords } from '../../src/http/pages/ending-page.ts'
import { landingPage } from '../../src/http/pages/landing-page.ts'
import type { Html } from '../../src/http/pages/layout.ts'
import { wordsOf } from '../../src/http/pages/texts/words.ts'
import { docsPages } from '../../src/http/reference/docs-page.ts'
import type { OpenApiDocument } from '../../src/http/reference/document.ts'
import type { Example } from '../../src/http/reference/example.ts'

function connectView(view: Partial<ConnectView> = {}): ConnectView {
  return {
    requester: 'Calendar helper',
    providerName: 'Google',
    userId: 'alice@example.com',
    scopes: [{ scope: 'calendar.read' }],
    step: 0,
    steps: [{ providerName: 'Google', done: false }],
    expiresAt: 1600,
    now: 1000,
    authorizationId: 'auth_1',
    action: '/connect/auth_1',
    cancelAction: '/connect/auth_1/cancel',
    opens: 'accounts.google.com',
    ownPage: new URL('https://gatepass.example/me'),
    ...view,
  }
}

function endingView(view: Partial<EndingView> = {}): EndingView {
  return { kind: 'failed', reason: 'access_denied', ...view }
}

const english = wordsOf('en')
const connectPage = (view: ConnectView) => connectPageIn(view, english)
const endingPage = (view: EndingView) => endingPageIn(view, english)
const endingTitle = (kind: EndingKind, reason?: FailureReason) =>
  endingWords(english.texts, kind, reason).title

const document: OpenApiDocument = {
  info: { title: 'Pets', version: '1.0.0', description: 'All about `pets`.' },
  tags: [{ name: 'Pets', description: 'The animals.' }],
  paths: {
    '/pets/{id}': {
      get: {
        summary: 'One pet',
        tags: ['Pets'],
        parameters: [
          { name: 'id', in: 'path', required: true, description: 'Its id.', schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'The pet.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
          },
          404: { description: 'No such pet.' },
        },
      },
    },
    '/pets': {
      post: {
        description: 'Adds one.',
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string', maxLength: 40, description: 'What it is called.' } },
              },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Pet: {
        type: 'object',
        properties: {
          kind: { enum: ['cat', 'dog'] },
          parents: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
          tags: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    },
  },
}

const examples: Record<string, Example> = {
  'get-pets-id': { path: '/pets/7', status: 200, mediaType: 'application/json', answer: { name: 'Rex' } },
  'post-pets': { path: '/pets', body: { name: "Rex's" }, status: 204, sdk: 'await pets.add()' },
}

function pagesOf(of: OpenApiDocument, { development = false } = {}) {
  return docsPages(of, { development, examples })
}

function brand(text: string): Brand {
  return { ...NO_BRAND, appName: text, note: () => ({ text, language: text }) }
}

async function render(html: Html): Promise<string> {
  return String(await html)
}

/** All pages of the API reference, one after the other. */
function together(pages: ReadonlyMap<string, Html>): Html {
  return html`${[...pages.values()]}`
}

describe('what others wrote is escaped', () => {
  const hostile = [`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' autofocus onfocus='x`]
  const places: [string, (text: string) => Html][] = [
    ['the requester', (text) => connectPage(connectView({ requester: text }))],
    ['the provider', (text) => connectPage(connectView({ providerName: text }))],
    ['the user', (text) => connectPage(connectView({ userId: text }))],
    ['the name of the user', (text) => connectPage(connectView({ userDisplay: text }))],
    ['a scope', (text) => connectPage(connectView({ scopes: [{ scope: 'read' }, { scope: text }] }))],
    [
      'what a scope means',
      (text) => connectPage(connectView({ scopes: [{ scope: 'read', sentence: { text, language: text } }] })),
    ],
    ['the application', (text) => connectPage(connectView({ brand: brand(text) }))],
    ['the action', (text) => connectPage(connectView({ action: text }))],
    ['the login', (text) => connectPage(connectView({ loginAt: text }))],
    [
      'a step',
      (text) =>
        connectPage(
          connectView({
            steps: [
              { providerName: text, done: true },
              { providerName: text, done: false },
            ],
          }),
        ),
    ],
    [`the application at the end`, (text) => endingPage(endingView({ brand: brand(text) }))],
    ...(['providerName', 'requester', 'userId', 'account', 'message'] as const).map(
      (member): [string, (text: string) => Html] => [
        `an ending's ${member}`,
        (text) => endingPage(endingView({ [member]: text })),
      ],
    ),
    [`the next URI's path`, (text) => endingPage(endingView({ nextUri: `https://app.test/?q=${text}` }))],
    [
      'the landing page',
      (text) =>
        landingPage({
          words: english,
          version: text,
          development: true,
          publicUrl: text,
          ownPage: text,
        }),
    ],
    [
      'the document',
      (text) =>
        together(
          docsPages(
            {
              info: { title: text, version: text, description: `${text}\n\n\`${text}\`` },
              tags: [{ name: text, description: text }],
              paths: {
                [text]: {
                  get: {
                    summary: text,
                    description: text,
                    tags: [text],
                    parameters: [
                      { name: text, in: text, schema: { enum: [text], pattern: text, default: text } },
                    ],
                    operationId: text,
                    requestBody: { content: { [text]: { schema: { const: text } } } },
                    responses: { [text]: { description: text, content: { [text]: {} } } },
                  },
                },
              },
              components: {
                schemas: { [text]: { properties: { [text]: { $ref: text }, b: { description: text } } } },
              },
            },
            { development: true, examples: { [text]: { path: text, body: text, status: 200, sdk: text } } },
          ),
        ),
    ],
  ]

  test.each(places)('%s', async (_place, show) => {
    const tags = (page: string) => page.match(/<[a-z!/][^\s>]*|\son[a-z]+=/gi)
    const expected = tags(await render(show('harmless')))
    for (const text of hostile) {
      const shown = await render(show(text))
      expect(shown).not.toContain(text)
      expect(shown).not.toMatch(/<script>|<img src=x|["'] autofocus/)
      expect(tags(shown)?.filter((tag) => !/^\son/i.test(tag))).toEqual(expected)
    }
  })

  test('a next URI that is not of the web is no link', async () => {
    for (const nextUri of ['javascript:alert(1)', 'data:text/html,x', '//app.test', 'nonsense'])
      expect(await render(endingPage(endingView({ nextUri })))).not.toContain('Back to')
  })
})

test('no page carries a script, an inline style or anything from elsewhere', async () => {
  const pages = [
    connectPage(connectView()),
    ...ENDING_KINDS.map((kind) => endingPage(endingView({ kind }))),
    landingPage({ words: english, version: '1', development: true, publicUrl: 'http://localhost:8400' }),
  ]
  for (const html of pages) {
    const shown = await render(html)
    expect(shown).toMatch(/^<!DOCTYPE html>\n<html lang="en" dir="ltr">/)
    expect(shown).toMatch(/<title>[^<]+ · Gatepass<\/title>/)
    expect(shown.match(/<h1/g)).toHaveLength(1)
    expect(shown).not.toMatch(/<script|<style|\sstyle=|\son\w+=|(src|href)="(?!\/|#)/)
    expect(shown).not.toMatch(/undefined|\[object|NaN/)
  }
})

describe('the connect page', () => {
  test('says who asks, for whom, for what, and what happens next', async () => {
    const scopes = [
      { scope: 'https://x.test/a?b=c' },
      { scope: 'User.Read', sentence: { text: 'See you', language: 'en' } },
    ]
    const shown = await render(connectPage(connectView({ scopes })))
    expect(shown).toContain('<h1><bdi>Calendar helper</bdi> wants to use your <bdi>Google</bdi> account</h1>')
    expect(shown).toMatch(/You are <strong><bdi>alice@example.com<\/bdi><\/strong>. Not you\? Cancel\./)
    expect(shown).toContain('<bdi>Calendar helper</bdi> will be able to:')
    expect(shown).toContain(
      'Use <code><bdi>https://x.test/a?b=c</bdi></code>, as <bdi>Google</bdi> describes it',
    )
    expect(shown).toContain('<li><span lang="en"><bdi>See you</bdi></span>')
    expect(shown).toContain(
      'Continue only if you just started this in your application. If someone sent you this link, cancel.',
    )
    expect(shown).toMatch(
      /Next, <strong><bdi>accounts.google.com<\/bdi><\/strong> opens\. Enter your password only there\. You can end access at any time at <a href="\/me"><bdi>gatepass.example\/me/,
    )
    expect(shown).toContain('<form method="post" action="/connect/auth_1">')
    expect(shown).toContain('<form id="cancel" method="post" action="/connect/auth_1/cancel">')
    expect(shown.match(/<details.*<\/details>/s)?.[0]).toContain('<code><bdi>User.Read</bdi></code>')
  })

  test('says for which tool the application asks, and to whom the user is known there', async () => {
    const view = connectView({ brand: brand('Acme'), userDisplay: 'Ada L.', userId: 'u-81f3' })
    const shown = await render(connectPage(view))
    expect(shown).toContain('<h1><bdi>Acme</bdi> wants to use your')
    expect(shown).toContain('for <bdi>Calendar helper</bdi>')
    expect(shown).toContain('You are <strong><bdi>Ada L.</bdi></strong> at <bdi>Acme</bdi>.')
    expect(shown).toContain('Continue only if you just started this in <bdi>Acme</bdi>.')
    expect(shown).toMatch(/<title>[^<]+ · Acme<\/title>/)
  })

  test('an id that is no name is among the technical details alone', async () => {
    const shown = await render(connectPage(connectView({ userId: 'u-81f3' })))
    expect(shown).toContain('This link was made for one specific user of your application. Not you?')
    expect(shown.match(/u-81f3/g)).toHaveLength(1)
    expect(shown.match(/<details.*<\/details>/s)?.[0]).toContain('u-81f3')
  })

  test('marks what is new, what is allowed already, and what is sensitive', async () => {
    const scopes = [
      { scope: 'a', isAllowed: true },
      { scope: 'b', isAllowed: false, sensitive: true, level: 'admin' as const },
    ]
    const shown = await render(connectPage(connectView({ scopes })))
    for (const mark of ['already allowed', 'new', 'sensitive', 'full control'])
      expect(shown.match(new RegExp(`>${mark}</span>`, 'g')), mark).toHaveLength(1)
  })

  test('names the application when it is not told who asks', async () => {
    const { requester: _, ...view } = connectView()
    expect(await render(connectPage(view))).toContain('<h1>Your application wants to use')
  })

  test('says so when no scopes are asked for', async () => {
    expect(await render(connectPage(connectView({ scopes: [] })))).toContain('gives every application')
  })

  test('shows how far it is when there are several providers', async () => {
    const steps = ['Google', 'GitHub', 'Notion'].map((providerName, index) => ({
      providerName,
      done: index === 0,
    }))
    const shown = await render(connectPage(connectView({ providerName: 'GitHub', step: 1, steps })))
    expect(shown).toContain('Step 2 of 3')
    expect(shown).toContain('<li aria-current="step"><bdi>GitHub</bdi></li>')
    expect(await render(connectPage(connectView()))).not.toContain('Step 1')
  })

  test.each([
    [600, 'expires in 10 minutes.'],
    [119, 'expires in 1 minute.'],
    [59, 'less than a minute'],
    [-5, 'less than a minute'],
  ])('with %i seconds left: %s', async (seconds, words) => {
    expect(await render(connectPage(connectView({ expiresAt: 1000 + seconds })))).toContain(words)
  })

  test('cuts a name that would fill the page with words of its own', async () => {
    const shown = await render(connectPage(connectView({ requester: 'x'.repeat(5000) })))
    expect(shown).toContain(`${'x'.repeat(80)}…`)
    expect(shown).not.toContain('x'.repeat(81))
  })
})

describe('an ending', () => {
  test.each(FAILURE_REASONS)('%s has a page of its own that says what to do', async (reason) => {
    const shown = await render(endingPage(endingView({ reason })))
    expect(shown).toContain(endingTitle('failed', reason))
    expect(shown).toMatch(/<p class="muted">.{30,}<\/p>/)
    expect(shown).toContain(`Reason: <code>${reason}</code>`)
  })

  test('has one button, and folds what the operator reads', async () => {
    const shown = await render(
      endingPage(endingView({ reason: 'invalid_client', authorizationId: 'auth_1' })),
    )
    const [before = '', details = ''] = shown.split('<details')
    expect(before).not.toMatch(/auth_1|invalid_client/)
    expect(details).toMatch(/gatepass explain auth_1.*invalid_client/s)
    const both = await render(
      endingPage(endingView({ reason: 'access_denied', again: '/again', nextUri: 'https://app.test/' })),
    )
    expect(both.match(/class="button"|<button type/g)).toEqual(['class="button"'])
  })

  test('a cancel by the user is no alarm', async () => {
    expect(await render(endingPage(endingView({ reason: 'access_denied' })))).toContain(
      'class="sign neutral"',
    )
    expect(await render(endingPage(endingView({ reason: 'invalid_client' })))).toContain('class="sign bad"')
  })

  test('leads back to the application of the project where the request names no address', async () => {
    const brand = { ...NO_BRAND, appName: 'Acme', appUrl: 'https://acme.test/app' }
    const back = async (more: object) => {
      const { href, text } =
        /class="button" href="(?<href>[^"]+)">Back to (?<text>.+?)<\/a>/.exec(
          await render(endingPage(endingView({ reason: 'access_denied', brand, ...more }))),
        )?.groups ?? {}
      return [href, text]
    }
    expect(await back({ nextUri: undefined })).toEqual(['https://acme.test/app', '<bdi>Acme</bdi>'])
    expect(await back({ nextUri: 'https://acme.test/next' })).toEqual([
      'https://acme.test/next',
      '<bdi>Acme</bdi>',
    ])
  })

  test('has a title like no other', () => {
    const titles = [
      ...FAILURE_REASONS.map((reason) => endingTitle('failed', reason)),
      ...ENDING_KINDS.map((kind) => endingTitle(kind)),
    ]
    expect(new Set(titles).size).toBe(titles.length)
  })

  test('completed says what is connected and leads on', async () => {
    const shown = await render(
      endingPage({
        kind: 'completed',
        providerName: 'Google',
        account: 'alice@gmail.com',
        nextUri: 'https://app.test/done?a=1&b=2',
      }),
    )
    expect(shown).toContain('Google is connected')
    expect(shown).toContain('alice@gmail.com')
    expect(shown).not.toContain('close this window')
    expect(shown).toContain('href="https://app.test/done?a=1&amp;b=2">Back to your application</a>')
    expect(shown).not.toContain('Reason:')
  })

  test('that is being finished can be looked at again, and no page reloads itself', async () => {
    for (const kind of ENDING_KINDS)
      expect(await render(endingPage(endingView({ kind })))).not.toContain('http-equiv="refresh"')
    const shown = await render(endingPage({ kind: 'working', lookAgain: '/connect/auth_1' }))
    expect(shown).toContain('<a class="button" href="/connect/auth_1">Check again</a>')
  })

  test('tells what the flow says happened', async () => {
    const shown = await render(endingPage(endingView({ message: 'GitHub said no.' })))
    expect(shown).toContain('<p>GitHub said no.</p>')
  })
})

describe('the API reference', () => {
  test('has a page of each group, with the parameters, body and answers of its operations', async () => {
    const pages = pagesOf(document)
    expect([...pages.keys()]).toEqual(['/docs', '/docs/pets', '/docs/other', '/docs/schemas'])
    const shown = await render(together(pages))
    expect(shown).toContain('<a href="/docs/pets#get-pets-id">GET /pets/{id}</a>')
    expect(shown).toContain('id="get-pets-id"')
    expect(shown).toMatch(/<td><code>id<\/code><\/td><td>path<\/td>/)
    expect(shown).toContain('<code>name</code> <span class="muted">string · <strong>required</strong>')
    expect(shown).toContain('up to 40 characters')
    expect(shown).toContain('All about <code>pets</code>.')
  })

  test('shows what was recorded: the command, the call of the SDK and the answer', async () => {
    const pages = pagesOf(document)
    const pets = await render(pages.get('/docs/pets') ?? html``)
    expect(pets).toContain('<code>curl /pets/7</code>')
    expect(pets).toContain('{ &quot;name&quot;: &quot;Rex&quot; }')
    const other = await render(pages.get('/docs/other') ?? html``)
    // a POSIX shell joins the parts of a quoted quote
    expect(other).toContain("-d '{ &quot;name&quot;: &quot;Rex'\\''s&quot; }'".replaceAll("'", '&#39;'))
    expect(other).toContain('<code>await pets.add()</code>')
    expect(other).toContain('Answer <code>204</code> without a body')
  })

  test('has a form for each operation in development alone, hidden without its script', async () => {
    expect(await render(together(pagesOf(document)))).not.toMatch(/<form|<input(?! id="search")/)
    const shown = await render(together(pagesOf(document, { development: true })))
    expect(shown.match(/<form data-method=/g)).toHaveLength(2)
    expect(shown.match(/<details class="try" hidden data-script>/g)).toHaveLength(2)
    expect(shown).toContain(
      'name="id" data-in="path" autocomplete="off" spellcheck="false" value="7" required>',
    )
  })

  test('links a schema to the page of schemas', async () => {
    const shown = await render(together(pagesOf(document)))
    expect(shown).toContain('array of <a href="/docs/schemas#Pet">Pet</a>')
    expect(shown).toContain('id="Pet"')
    expect(shown).toContain('map of string')
  })

  test.each([false, true])('every link leads somewhere (development: %s)', async (development) => {
    const pages = pagesOf(document, { development })
    for (const [path, page] of pages)
      for (const [, to = '', anchor] of (await render(page)).matchAll(/href="([^"#]*)(?:#([^"]+))?"/g)) {
        if (!to.startsWith('/docs') && to !== '') continue
        const target = await render(pages.get(to || path) ?? html``)
        // the overview links to pages of Gatepass's own document
        if (to === '/docs/api-keys' || anchor === 'ErrorBody') continue
        expect(target, `${path} leads to ${to}`).not.toBe('')
        if (anchor !== undefined) expect(target).toContain(`id="${anchor}"`)
      }
  })

  test('loads its own script and nothing else', async () => {
    const shown = await render(together(pagesOf(document, { development: true })))
    const scripts = shown.match(/<script[^>]*>/g)
    expect(new Set(scripts)).toEqual(new Set([`<script src="${assetHref('docs.js')}" defer>`]))
    expect(shown).not.toMatch(/<style|\sstyle=|\son\w+=|(src|href)="(?!\/|#)/)
    expect(shown).not.toMatch(/undefined|\[object|NaN/)
  })

  test('takes the document that the route definitions give', async () => {
    const made = new OpenAPIHono().getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
    })
    expect(await render(together(pagesOf(made as OpenApiDocument)))).toContain('<h1>T API</h1>')
  })
})

describe('the assets', () => {
  test.each(['console.css', 'gatepass.css', 'icon.svg'] as const)(
    '%s is kept for ever by its hash',
    async (name) => {
      const app = assets()
      const current = await app.request(assetHref(name))
      expect(current.status).toBe(200)
      expect(current.headers.get('content-type')).toMatch(/^(text\/css|image\/svg\+xml)/)
      expect(current.headers.get('cache-control')).toContain('immutable')
      const other = await app.request(`/assets/${name}?v=old`)
      expect(other.headers.get('cache-control')).toBe('no-cache')
    },
  )
})
