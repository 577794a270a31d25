import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { startGatepass } from '../gatepass.ts'
import { runSql, startPostgres } from '../postgres.ts'
import { type Installation, install } from './gatepass.ts'

let gatepass: Installation
beforeEach(async () => {
  gatepass = await install()
})
afterEach(() => gatepass[Symbol.asyncDispose]())

const PRODUCTION = {
  GATEPASS_MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
  GATEPASS_USER_VERIFIER: 'https://app.example.com/verify',
  GATEPASS_PUBLIC_URL: 'https://gatepass.example.com',
}

/** Settings that a start reads only when it opens the files or the database. */
const REFUSED: readonly [string, (folder: string) => Record<string, string>, string][] = [
  [
    'a definition with a misspelled member',
    (folder) => {
      mkdirSync(join(folder, 'providers'))
      writeFileSync(
        join(folder, 'providers/acme.json'),
        JSON.stringify({ id: 'acme', name: 'Acme', oauth2: { token_endpont: 'https://acme.example' } }),
      )
      return { GATEPASS_PROVIDERS: join(folder, 'providers') }
    },
    'oauth2.token_endpont is not a known member',
  ],
  [
    'a folder of definitions that is not there',
    (folder) => ({ GATEPASS_PROVIDERS: join(folder, 'none') }),
    'GATEPASS_PROVIDERS names ',
  ],
  [
    'a module without tools',
    (folder) => {
      writeFileSync(join(folder, 'empty.mjs'), 'export const nothing = 1\n')
      return { GATEPASS_TOOLS: join(folder, 'empty.mjs') }
    },
    'GATEPASS_TOOLS names ',
  ],
  [
    'a misspelled name of a provider',
    () => ({ GATEPASS_PROVIDER_GITHUBB_CLIENT_ID: 'x', GATEPASS_PROVIDER_GITHUBB_CLIENT_SECRET: 'y' }),
    'GATEPASS_PROVIDER_GITHUBB_… names no provider',
  ],
  [
    'a project of MCP clients that does not exist',
    () => ({ GATEPASS_MCP_PROJECT: 'none' }),
    'GATEPASS_MCP_PROJECT names the project "none"',
  ],
]

describe.each(['new', 'existing'])(
  'what serve refuses of the %s database, the doctor refuses too',
  (kind) => {
    test.each(REFUSED)('%s', async (_, prepare, fault) => {
      if (kind === 'existing') await gatepass.runHereWith({ env: PRODUCTION }, 'migrate')
      const env = { ...PRODUCTION, ...prepare(gatepass.directory) }
      const { code, stdout } = await gatepass.runHereWith({ env }, 'doctor', '--production', '--json')
      expect(code).toBe(1)
      const { checks } = JSON.parse(stdout)
      expect(checks).toContainEqual(
        expect.objectContaining({ status: 'failed', message: expect.stringContaining(fault) }),
      )
      // last, because a start that is refused has made the database
      const served = await gatepass.runWith({ env }, 'serve')
      expect(served).toMatchObject({ code: 2, stderr: expect.stringContaining(fault) })
    })
  },
)

test('with settings that serve accepts, a new database is a warning and nothing is made', async () => {
  const { code, stdout } = await gatepass.runHereWith({ env: PRODUCTION }, 'doctor', '--production', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'database', status: 'warning' }),
  )
  expect((await gatepass.runHereWith({ env: PRODUCTION }, 'keys', 'list')).code).toBe(3)
})

test('a synchronous standby that commits do not wait for is a warning, here and from a server', async () => {
  await using primary = await startPostgres()
  await using _ = await primary.startStandby()
  await (await openPostgresStore(primary.url)).close()
  await primary.waitForStandby()
  const GATEPASS_PUBLIC_URL = 'http://127.0.0.1:9' // where no server answers
  const env = { ...PRODUCTION, GATEPASS_PUBLIC_URL, GATEPASS_DATABASE_URL: primary.url }
  const warning = (setting: string) =>
    expect.objectContaining({
      name: 'database',
      status: 'warning',
      message: expect.stringContaining(setting),
    })
  const checks = async (setting: string) => {
    await runSql(primary.url, `alter database postgres set synchronous_commit = ${setting}`)
    const { code, stdout } = await gatepass.runHereWith({ env }, 'doctor', '--production', '--json')
    expect(code).toBe(0)
    return JSON.parse(stdout).checks
  }
  for (const setting of ['local', 'remote_write'])
    expect(await checks(setting)).toContainEqual(warning(`synchronous_commit ${setting}`))
  const { GATEPASS_MASTER_KEY, GATEPASS_DATABASE_URL } = env
  await using server = await startGatepass({ environment: { GATEPASS_MASTER_KEY, GATEPASS_DATABASE_URL } })
  const { body } = await server.call('GET', '/v1/admin/diagnosis')
  expect(body.checks).toContainEqual(warning('synchronous_commit remote_write'))
  expect(await checks('on')).not.toContainEqual(warning('synchronous_commit'))
})
