import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TxtResult } from '../../../src/egress/txt-records.ts'
import { addProvider, authorize, type Scene } from '../../flows/fixtures.ts'
import { startLyingScene, upToLoginCallback } from '../../flows/login-fixtures.ts'
import { UserAgent } from '../../user-agent.ts'

// Logins at an issuer that go by the domain of a project. Its administrator may run the host, and so can read every
// cookie and every code that comes there: what is got there has to be of no use elsewhere.

const HOST = 'auth.other.localhost'
const zone = new Map<string, TxtResult>()

let scene: Scene
let otherKey: string

beforeAll(async () => {
  const lookUpTxt = async (name: string): Promise<TxtResult> =>
    zone.get(name) ?? { outcome: 'found', values: [] }
  scene = await startLyingScene({ claims: { sub: 'ada' } }, { gatepass: { lookUpTxt } })
  otherKey = await scene.gatepass.makeKey('admin', 'other')
  await addProvider(other(), scene.as)
})
afterAll(() => scene[Symbol.asyncDispose]())

const other = () => ({
  ...scene.gatepass,
  call: (method: string, path: string, body?: unknown) => scene.call(method, path, body, { key: otherKey }),
})
const port = () => new URL(scene.gatepass.url).port
const at = (path: string, host = HOST) => `http://${host}:${port()}${path}`

async function prove(project: string, name: string, key?: string): Promise<void> {
  const path = `/v1/admin/projects/${project}/branding`
  const { body } = await scene.call('PATCH', path, { domain: name }, key === undefined ? {} : { key })
  zone.set(body.domain.challenge.name, { outcome: 'found', values: [body.domain.challenge.value] })
  const proved = await scene.call(
    'POST',
    `${path}/domain/verify`,
    undefined,
    key === undefined ? {} : { key },
  )
  expect(proved.status).toBe(200)
}

/** The session that the answer sets. */
const sessionIn = (response: Response) =>
  /gatepass-session=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1]

test.each([
  ['the domain', {}],
  ['a request that says it is at the public URL', { host: '127.0.0.1' }],
])('a session that began at a project’s domain, by %s, is of no use at another host', async (_, says) => {
  await prove('other', HOST, otherKey)
  const browser = new UserAgent()
  const { body } = await authorize(other(), { user_id: 'ada' })
  const callback = await upToLoginCallback(browser, await browser.get(body.url))
  expect(callback.hostname).toBe(HOST)
  const own = Object.entries(browser.cookies(callback)).map(([name, value]) => `${name}=${value}`)
  const cookie = [...own, 'gatepass-session=anything'].join('; ')
  const { response } = await new UserAgent().get(callback, { headers: { cookie, ...says } })
  const session = sessionIn(response)
  expect(session).toBeDefined()

  const withSession = { headers: { cookie: `gatepass-session=${session}` } }
  const clients = await new UserAgent().get(`${scene.gatepass.url}/me/clients`, withSession)
  expect([clients.status, clients.body]).toEqual([303, ''])
  const link = (await scene.authorize({ user_id: 'eve' })).body
  expect((await new UserAgent().get(link.url, withSession)).status).toBe(200)
  // where it began it is the session of that user, whom the link of another one does not concern
  const theirs = (await authorize(other(), { user_id: 'eve' })).body
  expect((await new UserAgent().get(theirs.url, withSession)).status).toBe(403)
})

test('the MCP clients of a user are at the public URL, to which the domain of their own project leads', async () => {
  await prove('other', HOST, otherKey)
  expect((await new UserAgent().get(at('/me/clients'))).status).toBe(404)
  expect((await new UserAgent().post(at('/me/clients'), { decision: 'disconnect' })).status).toBe(404)
  await prove('default', 'auth.own.localhost')
  const page = await new UserAgent().follow(at('/me/clients', 'auth.own.localhost'))
  expect([page.status, page.url]).toEqual([200, `${scene.gatepass.url}/me/clients`])
  await scene.call('PATCH', '/v1/admin/projects/default/branding', { domain: null })
})
