import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtInIds } from '../../src/providers/catalogue/registry.ts'
import { install, runHere } from './gatepass.ts'

// A fresh clone: no database, no master key, no server. The definitions are in files.

let folder: string
let environment: Readonly<Record<string, string>>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatepass-catalogue-'))
  const providers = join(folder, 'providers')
  mkdirSync(providers)
  const oauth2 = {
    authorize_request: { endpoint: 'http://localhost:9999/authorize' },
    token_request: { endpoint: 'http://localhost:9999/token' },
  }
  const erp = { id: 'erp', name: 'House ERP', category: 'other', oauth2 }
  writeFileSync(join(providers, 'erp.json'), JSON.stringify(erp))
  environment = {
    GATEPASS_DATABASE_URL: `file:${join(folder, 'none.db')}`,
    GATEPASS_PROVIDERS: providers,
    GATEPASS_ALLOWED_HOSTS: 'localhost',
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the catalogue is listed from files alone, with the operator’s definitions', async () => {
  const all = await runHere(environment, 'providers', 'list', '--catalogue', '--json')
  expect(all).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(all.stdout).items).toHaveLength(builtInIds().length + 1)
  const found = await runHere(environment, 'providers', 'list', '--catalogue', 'House ERP', '--json')
  expect(JSON.parse(found.stdout).items).toMatchObject([{ id: 'erp', name: 'House ERP' }])
  expect(existsSync(join(folder, 'none.db'))).toBe(false)
})

test('a definition is shown from files alone, until there is a database', async () => {
  for (const id of ['github', 'erp']) {
    const { code, stdout } = await runHere(environment, 'providers', 'show', id, '--json')
    expect([code, JSON.parse(stdout).id]).toEqual([0, id])
  }
  const unknown = await runHere(environment, 'providers', 'show', 'githb')
  expect(unknown).toMatchObject({ code: 3, stdout: '' })
  expect(unknown.stderr).toContain('github')
  expect(existsSync(join(folder, 'none.db'))).toBe(false)
})

test('providers add --with-key takes the second way, under the id that tools name', async () => {
  await using gatepass = await install()
  const add = (...args: readonly string[]) => gatepass.runHere('providers', 'add', ...args, '--json')
  const added = await add('github', '--with-key')
  expect(added.code, added.stderr).toBe(0)
  expect(JSON.parse(added.stdout)).toMatchObject({
    id: 'github',
    provider_id: 'github-api-key',
    type: 'credentials',
    credentials: { place: { bearer: '{{personal_access_token}}' } },
  })
  // a service that has nothing but keys needs no option
  for (const args of [['freshdesk'], ['freshdesk', '--with-key', '--catalogue', 'freshdesk']]) {
    const only = await add(...args)
    expect([only.code, JSON.parse(only.stdout).type], only.stderr).toEqual([0, 'credentials'])
    await gatepass.runHere('providers', 'delete', 'freshdesk')
  }
  const none = await add('spotify', '--with-key')
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('knows no API keys of Spotify') })
  const withClient = await add('notion', '--with-key', '--client-id', 'x')
  expect(withClient).toMatchObject({ code: 2, stderr: expect.stringContaining('has no client') })
})
