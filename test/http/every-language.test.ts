import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LANGUAGES, type Language } from '../../src/domain/languages.ts'
import { portalTexts } from '../../src/features/portal/page-texts.ts'
import type { Texts } from '../../src/http/pages/texts/generated/texts.ts'
import { wordsOf } from '../../src/http/pages/texts/words.ts'
import {
  type AuthorizationServerWorld,
  startAuthorizationServer,
  toConsent,
} from '../mcp/authorization-server-world.ts'
import { UserAgent } from '../user-agent.ts'

// The pages that belong to no authorization, each in the language of its reader and in the look of its project.

let world: AuthorizationServerWorld
let browser: UserAgent
let paths: Readonly<Record<string, string>>
beforeAll(async () => {
  world = await startAuthorizationServer()
  const { gatepass } = world
  await gatepass.call('PATCH', '/v1/admin/projects/default/branding', { app_name: 'Acme', lang: 'ja' })
  const client = { client_id: 'c', client_secret: 's' }
  const entry = { id: 'github', provider_id: 'github', oauth2: client }
  const { body } = await gatepass.call('POST', '/v1/admin/auth_providers', entry)
  browser = new UserAgent()
  const consent = await toConsent(browser, world.request(await world.newClient()))
  const callback = new URL(body.oauth2.redirect_uri).pathname
  const need = { id: 'github', provider_type: 'oauth2', oauth2: { scopes: ['read:user'] } }
  const begun = await gatepass.call('POST', '/v1/auth/authorize', {
    user_id: 'another',
    auth_requirement: need,
  })
  paths = {
    consent: new URL(consent.url).pathname,
    'an interaction that is over': '/consent/gone',
    'a client that is not known':
      '/authorize?response_type=code&client_id=none&redirect_uri=https://x.example',
    'a login that failed': '/me/clients?login=failed',
    'clients of a user': '/me/clients',
    'a response without a request': `${callback}?state=made-up&code=x`,
    'the link of another user': new URL(begun.body.url).pathname,
    'a login for /me that failed': '/me?login=failed',
    'a response at no provider': '/callback/none?state=made-up&code=x',
    'an unknown link': '/connect/auth_none',
    'a login that was not begun': '/login/callback?state=made-up',
    'no page at all': '/nothing/here',
    'the first page': '/',
  }
})
afterAll(() => world[Symbol.asyncDispose]())

async function open(path: string, language: string | undefined, by = browser) {
  const headers = { accept: 'text/html', ...(language !== undefined && { 'accept-language': language }) }
  const page = await by.get(new URL(path, world.gatepass.url), { headers })
  return { ...page, spoken: page.response.headers.get('content-language') }
}

/** The heading of each page, and whether it has the look of the project. */
const PAGES: readonly [string, (texts: Texts) => string, 'of the project' | 'of Gatepass'][] = [
  ['consent', (t) => t.clients.may, 'of the project'],
  ['an interaction that is over', (t) => t.clients.refusals.session_not_found.title, 'of the project'],
  ['a client that is not known', (t) => t.clients.refusals.invalid_client.title, 'of the project'],
  ['clients of a user', (t) => t.clients.own.applications, 'of the project'],
  ['a response without a request', (t) => t.endings.kinds.unknown_state.title, 'of the project'],
  ['the link of another user', (t) => t.endings.kinds.another_user.title, 'of the project'],
  ['a response at no provider', (t) => t.endings.kinds.unknown_state.title, 'of Gatepass'],
  ['an unknown link', (t) => t.endings.kinds.not_found.title, 'of Gatepass'],
  ['a login that was not begun', (t) => t.endings.kinds.unknown_login.title, 'of Gatepass'],
  ['no page at all', (t) => t.endings.kinds.not_found.title, 'of Gatepass'],
  ['the first page', (t) => t.start.heading, 'of Gatepass'],
]

describe.each(PAGES)('%s', (page, heading, look) => {
  test('is in the language of its reader, and in the right look', async () => {
    const texts = new Set<string>()
    for (const language of LANGUAGES) {
      const { body, spoken } = await open(paths[page] ?? '', `${language}, en;q=0.1`)
      expect(spoken).toBe(language)
      expect(body).toContain(`<html lang="${language}"`)
      expect(body).toContain(heading(wordsOf(language).texts))
      expect(/<title>.* · (\S+)<\/title>/s.exec(body)?.[1]).toBe(
        look === 'of the project' ? 'Acme' : 'Gatepass',
      )
      texts.add(heading(wordsOf(language).texts))
    }
    expect(texts.size).toBe(LANGUAGES.length)
  })

  test('is in the language of the project, else in English, for a reader who names none', async () => {
    const fallback: Language = look === 'of the project' ? 'ja' : 'en'
    const { body, spoken } = await open(paths[page] ?? '', undefined)
    expect(spoken).toBe(fallback)
    expect(body).toContain(heading(wordsOf(fallback).texts))
  })
})

test.each(['a login that failed', 'a login for /me that failed'])('%s', async (page) => {
  const { body, spoken } = await open(paths[page] ?? '', 'fr', new UserAgent())
  expect(spoken).toBe('fr')
  expect(body).toContain(wordsOf('fr').texts.endings.kinds.login_failed.title)
  expect(body).toContain('· Acme</title>')
})

test('a login for /me is tried again in the project in which it failed', async () => {
  const { gatepass } = world
  const key = await gatepass.makeKey('admin', 'beta')
  const branded = { app_name: 'Beta' }
  expect((await gatepass.call('PATCH', '/v1/admin/projects/beta/branding', branded, { key })).status).toBe(
    200,
  )
  const reader = new UserAgent()
  world.issuer.behaviour.error = 'access_denied'
  const failed = await reader.follow(new URL('/me?project=beta', gatepass.url))
  world.issuer.behaviour.error = undefined
  expect(failed.body).toContain('login_cancelled')
  expect(failed.body).toContain('· Beta</title>')
  const entered = await reader.submitForm(failed)
  expect(entered.body).toContain('· Beta</title>')
  expect(entered.body).toContain(portalTexts(wordsOf('en')).title)
})
