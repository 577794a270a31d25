import { afterAll, beforeAll, expect, test } from 'vitest'
import { LANGUAGES } from '../../../src/domain/languages.ts'
import { type FakeKeyService, startFakeKeyService } from '../../fake-key-service.ts'
import { startWorld, type World } from '../../http/world.ts'
import { csrfIn, enteredAs } from './portal-world.ts'

// Connections of the project on users' own page: those with whom they are shared see them, and can do nothing to them.

const KEY = 'key-0123456789abcdef'
const RIGHTS = ['view', 'disconnect', 'connect', 'export', 'erase'] as const

let world: World
let service: FakeKeyService
/** Of the connection that is shared with Ada and Carol, and of the row that holds its key. */
let sharedId: string
let rowId: string

beforeAll(async () => {
  world = await startWorld()
  service = await startFakeKeyService(KEY)
  const made = await world.call('POST', '/v1/admin/auth_providers', {
    id: 'desk',
    name: 'Help Desk',
    type: 'credentials',
    owner: 'either',
    credentials: {
      fields: { api_key: { label: 'API key', secret: true } },
      place: { basic: { username: '{{api_key}}', password: 'X' } },
      test_request: { endpoint: `${service.url}/basic/me` },
      api: { base_url: `${service.url}/basic`, hosts: [service.host] },
    },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  sharedId = await share('Support of Acme', { users: ['ada', 'carol'], agents: ['some-bot'], tools: ['X.*'] })
  await share('For Zoe alone', { users: ['zoe'] })
  const { store } = world.gatepass.broker
  const [project] = await store.projects.list()
  const projectId = project?.id ?? ''
  const found = await store.sharedConnections.find(projectId, sharedId)
  const rows = await store.connections.ofOwner({
    projectId,
    providerUid: found?.providerUid ?? '',
    userId: '',
  })
  rowId = rows.find(({ account }) => account.id.startsWith(sharedId))?.id ?? ''
  expect(rowId).toMatch(/^conn_/)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

async function share(name: string, shared_with: object): Promise<string> {
  const fields = { api_key: KEY }
  const body = { provider_id: 'desk', owner: 'project', name, fields, shared_with }
  const made = await world.call('POST', '/v1/admin/connections', body)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body.id
}

const at = (path: string) => new URL(path, world.gatepass.url).href
const states = async () =>
  (await world.call('GET', '/v1/admin/connections')).body.items.map(
    ({ id, status }: { id: string; status: string }) => [id, status],
  )

test('a user sees those that are shared with them, and whose they are; nobody else does', async () => {
  const page = await (await enteredAs(world, 'ada', RIGHTS)).get(at('/me'))
  expect(page.body).toContain('Support of Acme')
  expect(page.body).toContain('Help Desk')
  expect(page.body).toContain('Belongs to your organization')
  expect(page.body).not.toContain('For Zoe alone')
  const bobs = await (await enteredAs(world, 'bob', RIGHTS)).get(at('/me'))
  expect(bobs.body).not.toMatch(/Support of Acme|Help Desk|organization/)
})

test('no button, link or address lets a user end, replace or renew one', async () => {
  const browser = await enteredAs(world, 'ada', RIGHTS)
  const page = await browser.get(at('/me'))
  const [, section = ''] = /<section[^>]* id="shared">([\s\S]*?)<\/section>/.exec(page.body) ?? []
  expect(section).toContain('Support of Acme')
  expect(section).not.toMatch(/<(form|button|a|input)\b/)
  const before = await states()
  for (const id of [sharedId, rowId]) {
    expect(page.body).not.toContain(`/me/connections/${id}`)
    const asked = await browser.get(at(`/me/connections/${id}/disconnect`))
    expect(asked.status).toBe(303)
    for (const verb of ['disconnect', 'default', 'reconnect', 'another']) {
      const csrf = csrfIn((await browser.get(at('/me'))).body)
      const done = await browser.post(at(`/me/connections/${id}/${verb}`), { csrf })
      expect([done.status, done.body]).toEqual([303, ''])
    }
  }
  expect(await states()).toEqual(before)
  expect(before).toContainEqual([sharedId, 'active'])
})

test('erasing a user leaves it, and the page says so before', async () => {
  const browser = await enteredAs(world, 'carol', RIGHTS)
  const asked = await browser.get(at('/me/erase'))
  expect(asked.body).toContain('Accounts that belong to your organization stay.')
  const csrf = csrfIn(asked.body)
  const erased = await browser.post(at('/me/erase'), { csrf, understood: 'yes', connections: '0' })
  expect(erased.body).toContain('Everything was deleted')
  expect(erased.body).not.toContain('Help Desk')
  expect(await states()).toContainEqual([sharedId, 'active'])
  expect((await world.call('POST', `/v1/admin/connections/${sharedId}/test`)).status).toBe(200)

  const dans = await (await enteredAs(world, 'dan', RIGHTS)).get(at('/me/erase'))
  expect(dans.body).not.toContain('organization')
})

test('an entry whose connections are users’ again, or that is gone, is not shown', async () => {
  const shown = async () => (await (await enteredAs(world, 'ada')).get(at('/me'))).body
  await world.call('PATCH', '/v1/admin/auth_providers/desk', { owner: 'user' })
  expect(await shown()).not.toContain('Support of Acme')
  await world.call('PATCH', '/v1/admin/auth_providers/desk', { owner: 'either' })
  expect(await shown()).toContain('Support of Acme')
})

test('a key of the user’s own is shown as theirs, with what it can do', async () => {
  const typed = { user_id: 'eve', provider_id: 'desk', fields: { api_key: KEY } }
  expect((await world.call('POST', '/v1/connections', typed)).status).toBe(201)
  const page = await (await enteredAs(world, 'eve', RIGHTS)).get(at('/me'))
  expect(page.body).toContain('Everything that the key or password allows')
  expect(page.body).toMatch(/\/me\/connections\/conn_\w+\/disconnect/)
  expect(page.body).not.toContain('Belongs to your organization')
})

test.each(LANGUAGES)('the section is in %s', async (lang) => {
  const page = await (await enteredAs(world, 'ada', RIGHTS, { lang })).get(at('/me'))
  expect(page.body).toContain(`<html lang="${lang}"`)
  const titles = {
    de: 'Mit Ihnen geteilt',
    en: 'Shared with you',
    es: 'Compartidas contigo',
    fr: 'Partagés avec vous',
    ja: '共有されているアカウント',
    pt: 'Compartilhadas com você',
    zh: '与您共享的账号',
  }
  expect(page.body).toContain(titles[lang])
})
