import { createHash, randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, test } from 'vitest'
import { findAlteredRows } from '../../src/flows/altered-rows.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { startWorld, type World } from '../http/world.ts'

// Somebody who can write the database, and has not the master key.

let world: World
afterEach(() => world[Symbol.asyncDispose]())

/** Writes into the database, and starts another process on it. */
async function tamper(sql: string, ...values: unknown[]): Promise<Gatepass> {
  const database = new Database(world.gatepass.databasePath)
  expect(database.prepare(sql).run(...values).changes).toBeGreaterThan(0)
  database.close()
  return startGatepass({ databasePath: world.gatepass.databasePath })
}

const alteredIn = async ({ broker }: Gatepass) =>
  (await findAlteredRows(broker)).map(({ table, id }) => `${table} ${id}`)

describe('a row that gives power, and that was written by hand,', () => {
  test('is no API key', async () => {
    world = await startWorld()
    const forged = `gp_${randomBytes(24).toString('base64url')}`
    const hash = createHash('sha256').update(forged).digest('base64url')
    await using after = await tamper(
      "insert into api_keys (id, project_id, name, role, hash, created_at) select 'key_forged', id, 'forged', 'admin', ?, 1 from projects where name = 'default'",
      hash,
    )
    expect((await after.call('GET', '/v1/workers', undefined, { key: forged })).status).toBe(401)
    expect((await after.call('GET', '/v1/workers')).status).toBe(200)
    expect(await alteredIn(after)).toEqual(['api_keys key_forged'])
    expect(after.logLines.join()).toContain('key_forged')
    expect((await after.call('GET', '/metrics')).body).toMatch(
      /gatepass_altered_rows_total\{table="api_keys"\} [1-9]/,
    )
  })

  test.each([
    ['of another role', "update api_keys set role = 'admin' where role = 'caller'"],
    ['that lives longer', "update api_keys set expires_at = 9999999999 where role = 'caller'"],
    ['that was revoked', "update api_keys set revoked_at = null where role = 'caller'"],
  ])('is no API key %s', async (what, sql) => {
    world = await startWorld()
    const key = await world.gatepass.makeKey('caller')
    if (what === 'that was revoked') {
      const { store } = world.gatepass.broker
      const project = await store.projects.findByName('default')
      const known = (await store.apiKeys.list(project?.id ?? '')).find(({ role }) => role === 'caller')
      await store.apiKeys.revoke(project?.id ?? '', known?.id ?? '', 5)
    }
    await using after = await tamper(sql)
    expect((await after.call('GET', '/v1/workers', undefined, { key })).status).toBe(401)
  })

  test('is no provider, so that no token goes to an endpoint of its own', async () => {
    world = await startWorld()
    await world.connect('ada')
    await using after = await tamper(
      "update providers set provider = replace(provider, '/token', '/evil') where id = 'demo'",
    )
    const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
    const refused = await after.call('POST', '/v1/auth/authorize', need)
    expect([refused.status, refused.body.name]).toEqual([400, 'provider_not_found'])
    expect(await alteredIn(after)).toEqual(['providers demo'])
  })

  test('is no worker, so that no secret and no token goes to an address of its own', async () => {
    world = await startWorld()
    await using after = await tamper("update workers set uri = 'https://evil.example'")
    expect((await after.call('GET', '/v1/workers/demo')).status).toBe(404)
    expect(await alteredIn(after)).toEqual(['workers demo'])
  })

  test('is no policy that lets anything through: its project releases nothing until it is set anew', async () => {
    world = await startWorld()
    const rule = { id: 'no-bob', effect: 'deny', match: { users: ['bob'] } }
    await world.connect('ada')
    expect((await world.call('POST', '/v1/admin/policies', rule)).status).toBe(201)
    await using after = await tamper('update policies set enabled = 0')
    const { items } = (await after.call('GET', '/v1/connections?user_id=ada')).body
    const fetchToken = () => after.call('POST', `/v1/connections/${items[0].id}/token`)
    const refused = await fetchToken()
    expect([refused.status, refused.body.name]).toEqual([503, 'store_unavailable'])
    expect(refused.body.message).toContain('"no-bob"')
    expect(await alteredIn(after)).toEqual(['policies no-bob'])
    expect((await after.call('PATCH', '/v1/admin/policies/no-bob', { enabled: true })).status).toBe(200)
    expect((await fetchToken()).status).toBe(200)
  })
})

test('what Gatepass itself changes is believed, after a restart and after a key was rotated or a provider patched', async () => {
  world = await startWorld()
  const token = await world.connect('ada')
  const { body } = await world.call('POST', '/v1/admin/keys', { name: 'one', role: 'caller' })
  const rotated = await world.call('POST', `/v1/admin/keys/${body.id}/rotate`, {})
  expect(rotated.status, JSON.stringify(rotated.body)).toBeLessThan(300)
  await world.call('PATCH', '/v1/admin/auth_providers/demo', { description: 'Another.' })
  await world.call('PATCH', '/v1/workers/demo', { http: { retry: 1 } })
  await using after = await tamper('update projects set name = name')
  expect(await alteredIn(after)).toEqual([])
  for (const key of [body.key, rotated.body.key])
    expect((await after.call('GET', '/v1/tools', undefined, { key })).status).toBe(200)
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  expect((await after.call('POST', '/v1/auth/authorize', need)).body.context.token).toBe(token)
})

test('rows of a release without MACs are signed once, on record; one that comes later is not believed', async () => {
  world = await startWorld()
  const { broker } = world.gatepass
  // as that release left it: its key under its former name, and no MACs
  const { factPlace } = await import('../../src/store/sealed-columns.ts')
  const sealed = (await broker.store.facts.get('installation_key')) ?? ''
  const older = broker.sealer.seal(
    broker.sealer.open(sealed as never, factPlace('installation_key')),
    factPlace('audit_key'),
  )
  await broker.store.facts.put('audit_key', older)
  await broker.store.facts.delete('installation_key')
  await using after = await tamper('update providers set mac = null')
  expect(await alteredIn(after)).toEqual([])
  const { items } = (await after.call('GET', '/v1/admin/audit?action=installation.rows_signed')).body
  expect(items).toHaveLength(1)
  const database = new Database(world.gatepass.databasePath)
  database.exec('update workers set mac = null')
  database.close()
  await using last = await startGatepass({ databasePath: world.gatepass.databasePath })
  expect(await alteredIn(last)).toEqual(['workers demo'])
})
