import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runHere } from './gatepass.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatepass-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const environment = {
  GATEPASS_DATABASE_URL: `file:${join(folder, 'x.db')}`,
  GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
}

const run = (...args: readonly string[]) => runHere(environment, ...args)

async function keys(...args: readonly string[]) {
  const { code, stdout, stderr } = await run('keys', ...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const create = (...args: readonly string[]) => keys('create', '--role', 'caller', ...args)
const find = async (id: string) =>
  (await keys('list')).items.find((one: { readonly id: string }) => one.id === id)

describe('threat 29: keys', () => {
  test('may end and be limited, and the list shows all there is to say of one', async () => {
    const made = await create('--name', 'the status page', '--expires', '90d', '--rate-limit', '20')
    expect(made).toMatchObject({ rate_limit: 20, expires_at: expect.any(String) })
    const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(89.9)
    expect(days).toBeLessThan(90.1)
    expect(await find(made.id)).toEqual({
      id: made.id,
      name: 'the status page',
      project: 'default',
      role: 'caller',
      status: 'active',
      created_at: expect.any(String),
      expires_at: made.expires_at,
      rate_limit: 20,
    })
    const { stdout } = await run('keys', 'list')
    expect(stdout).toMatch(/id +project +role +status +created +last used +limit +name/i)
    expect(stdout).toContain(`until ${made.expires_at.slice(0, 10)}`)
    expect(stdout).toContain('20/s')
    expect(stdout).not.toContain(made.key)
  })

  test('may be of one user, who is shown and stays when the key is rotated', async () => {
    const made = await create('--user', 'ada')
    expect(made).toMatchObject({ role: 'caller', user_id: 'ada' })
    expect((await run('keys', 'list')).stdout).toMatch(/default +caller +ada +active/)
    expect(await keys('rotate', made.id)).toMatchObject({ user_id: 'ada' })
    expect((await run('keys', 'create', '--role', 'admin', '--user', 'ada')).stderr).toContain(
      'cannot administer',
    )
  })

  test('are rotated: a new one of the same kind, and a grace for the old one', async () => {
    const old = await create('--name', 'agent', '--rate-limit', '7')
    const fresh = await keys('rotate', old.id, '--grace', '2h')
    expect(fresh).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^gp_[\w-]{43}$/),
      project: 'default',
      role: 'caller',
      rate_limit: 7,
      replaces: { id: old.id, expires_at: expect.any(String) },
    })
    expect(fresh.key).not.toBe(old.key)
    const hours = (Date.parse(fresh.replaces.expires_at) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(1.9)
    expect(hours).toBeLessThan(2.1)
    expect(await find(fresh.id)).toMatchObject({ name: 'agent', role: 'caller', rate_limit: 7 })
    expect(await find(old.id)).toMatchObject({
      expires_at: fresh.replaces.expires_at,
      replaced_by: fresh.id,
    })
    const again = await run('keys', 'rotate', old.id)
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(fresh.id) })
  })

  test('a grace of nothing ends the old one now; what has ended or was revoked is not rotated', async () => {
    const { id } = await create()
    await keys('rotate', id, '--grace', '0s')
    expect((await run('keys', 'list')).stdout).toContain('expired')
    const { id: revoked } = await create()
    await keys('revoke', revoked)
    for (const one of [id, revoked, 'key_nobody'])
      expect(await run('keys', 'rotate', one)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('There is no live API key'),
      })
  })

  test('an end is not put off by a rotation', async () => {
    const old = await create('--expires', '1h')
    const fresh = await keys('rotate', old.id, '--grace', '7d')
    expect(fresh.replaces.expires_at).toBe(old.expires_at)
    expect(Date.parse(fresh.expires_at)).toBeGreaterThanOrEqual(Date.parse(old.expires_at))
  })

  test.each([
    ['--expires', 'tomorrow'],
    ['--expires', '90'],
    ['--expires', '-1d'],
    ['--expires', '999999999w'],
    ['--rate-limit', 'many'],
    ['--rate-limit', '-1'],
    ['--rate-limit', '1.5'],
    ['--name', 'x'.repeat(201)],
  ])('%s %s is refused with what it takes', async (option, value) => {
    const { code, stderr } = await run('keys', 'create', '--role', 'caller', `${option}=${value}`)
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain('Give a')
  })

  test('a name that would break lines is refused, and no key is made', async () => {
    const { code, stderr } = await run('keys', 'create', '--role', 'caller', '--name', 'two\nlines')
    expect(code).toBe(2)
    expect(stderr).toContain('name has control characters')
    expect((await keys('list')).items.map((one: { readonly name: string }) => one.name)).not.toContain(
      'two\nlines',
    )
  })
})
