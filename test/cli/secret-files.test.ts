import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { MASTER_KEY } from '../served.ts'
import { install, runHere } from './gatepass.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatepass-secret-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe('secrets as files', () => {
  test('a server and its commands read the database URL and the first API key from files', async () => {
    await using gatepass = await install()
    const database = file('database-url', `file:${join(folder, 'named-by-a-file.db')}\n`)
    const env = {
      GATEPASS_DATABASE_URL: '',
      GATEPASS_DATABASE_URL_FILE: database,
      GATEPASS_API_KEY_FILE: file('api-key', 'a-key-that-is-long-enough\n'),
      GATEPASS_PROVIDER_GITHUB_CLIENT_ID: 'an-id',
      GATEPASS_PROVIDER_GITHUB_CLIENT_SECRET_FILE: file('github', 'a-secret'),
    }
    const server = gatepass.startWith({ env }, 'dev', '--json')
    await server.prints(/"url"/)
    const answer = await fetch(`${gatepass.url}/v1/connections`, {
      headers: { authorization: 'Bearer a-key-that-is-long-enough' },
    })
    expect(answer.status).toBe(200)
    await server.stop()
    const backup = await runHere(env, 'backup', '--to', join(folder, 'backup.db'))
    expect(backup.stderr).toBe('')
    expect(backup.code).toBe(0)
  })

  test.each([
    ['is missing', () => join(folder, 'absent'), {}, /_FILE names a file that cannot be read: .*absent/],
    ['is empty', () => file('empty', '\n'), {}, /_FILE names a file that is empty: /],
    [
      'is named beside the value',
      () => file('twice', 'file:a.db'),
      { GATEPASS_DATABASE_URL: 'file:b.db' },
      /GATEPASS_DATABASE_URL_FILE and GATEPASS_DATABASE_URL are both set/,
    ],
  ])('a file that %s stops the command', async (_, path, more, message) => {
    const env = { GATEPASS_DATABASE_URL_FILE: path(), ...more }
    const { code, stderr } = await runHere(env, 'backup', '--to', join(folder, 'never.db'))
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  test.each([
    ['its group', 0o440, 'warning'],
    ['every user', 0o444, 'failed'],
    ['its owner alone', 0o400, 'ok'],
  ])('doctor judges a master key that %s can read', async (_, mode, status) => {
    const key = file(`key-${mode}`, MASTER_KEY)
    chmodSync(key, mode)
    const env = {
      GATEPASS_DATABASE_URL: `file:${join(folder, `judged-${mode}.db`)}`,
      GATEPASS_MASTER_KEY: `file:${key}`,
    }
    expect((await runHere(env, 'migrate')).code).toBe(0)
    const { stdout } = await runHere(env, 'doctor', '--json')
    const { checks }: { readonly checks: readonly { name: string; status: string; message: string }[] } =
      JSON.parse(stdout)
    expect(checks.find(({ message }) => message.startsWith(key))).toMatchObject({
      name: 'master key',
      status,
    })
  })

  test('a setting that holds no secret has no file, and is named', async () => {
    const { code, stderr } = await runHere({ GATEPASS_PORT_FILE: '/nowhere' }, 'connections')
    expect(stderr).toMatch(/GATEPASS_PORT_FILE is not a setting\./)
    expect(code).toBe(2)
  })
})
