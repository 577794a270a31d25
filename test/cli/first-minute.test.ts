import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Installation, install } from './gatepass.ts'

const run = promisify(execFile)

let gatepass: Installation
beforeAll(async () => {
  gatepass = await install()
})
afterAll(() => gatepass[Symbol.asyncDispose]())

/** Starts `dev`, and returns the commands that it prints for a newcomer to paste. */
async function startDevelopment() {
  const server = gatepass.start('dev', '--commands')
  const [steps] = await server.prints(/^echo '0\.[\s\S]*^echo '5\.[^\n]*\n[^\n]+\n/m)
  return { server, steps }
}

/** Runs the commands in one bash, which stops at the first that fails. */
async function paste(steps: string): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', steps], { cwd: gatepass.directory })
  return stdout
}

describe('the commands that development prints', () => {
  test('do the whole main job as they stand, at the first start and at every later one', async () => {
    const first = await startDevelopment()
    const firstOutput = await paste(first.steps)
    expect(firstOutput).toMatch(/^\{"items":\[\{"name":"Sandbox_Profile".*"result":"created"/m)
    expect(firstOutput).toContain('"requires_authorization":{')
    expect(firstOutput).toMatch(/"status":"completed"/)
    expect(firstOutput.trim().split('\n').at(-1)).toContain('"message":"Hello Ada Lovelace"')
    const document = await fetch(`${gatepass.url}/openapi.json`, { headers: { 'accept-encoding': 'br' } })
    expect(document.headers.get('content-encoding')).toBe('br')
    expect(await document.json()).toHaveProperty('openapi')
    const { stderr } = await first.server.stop()
    expect(stderr).toMatch(/^GET {4}\/openapi\.json {2}200 ok {2}[\d.]+ ms$/m)
    expect(stderr).toMatch(/^POST {3}\/v1\/tools\/import {2}200 1 created {2}[\d.]+ ms$/m)
    expect(stderr).toMatch(/^POST {3}\/v1\/tools\/execute {2}200 requires_authorization {2}[\d.]+ ms$/m)
    expect(stderr).toMatch(/^GET {4}\/v1\/auth\/status {2}200 completed {2}[\d.]+ ms$/m)
    expect(stderr).toMatch(/^POST {3}\/v1\/tools\/execute {2}200 value {2}[\d.]+ ms$/m)
    expect(stderr).not.toMatch(/state=|code=|eyJ|gp_/)

    const second = await startDevelopment()
    expect(second.steps).toBe(first.steps)
    const secondOutput = await paste(second.steps)
    expect(secondOutput.trim().split('\n').at(-1)).toContain('"message":"Hello Ada Lovelace"')
    await second.server.stop()
  })

  test('need nothing that zsh or bash refuses at its prompt', async () => {
    const { server, steps } = await startDevelopment()
    await server.stop()
    for (const line of steps.split('\n')) expect(line).not.toMatch(/^\s*#|\s#\s|<[^>]+>/)
    // zsh takes a `?` or `*` outside of quotes for a pattern, and fails when no file matches
    expect(steps.replaceAll(/'[^']*'|"[^"]*"/g, '')).not.toMatch(/[?*[\]](?!\))/)
    await run('bash', ['-n', '-c', steps])
  })

  test('hold a key that its file keeps for its owner alone, until it is revoked', async () => {
    const file = join(gatepass.directory, 'x.db.api-key')
    await (await startDevelopment()).server.stop()
    const key = readFileSync(file, 'utf8').trim()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { items } = JSON.parse((await gatepass.run('keys', 'list', '--json')).stdout)
    expect(items).toHaveLength(1)
    await gatepass.run('keys', 'revoke', items[0].id)
    const { server, steps } = await startDevelopment()
    await server.stop()
    expect(steps).toMatch(/^export GATEPASS_URL=http:\S+ GATEPASS_API_KEY='gp_[\w-]{43}'$/m)
    expect(steps).not.toContain(key)
    expect(readFileSync(file, 'utf8').trim()).not.toBe(key)
  })
})

test('dev --json prints a link that a page asks for as JSON too, and no log has it', async () => {
  await using own = await install()
  const server = own.startWith({ env: { GATEPASS_LOG_LEVEL: 'debug' } }, 'dev', '--json')
  await server.prints(/"url"/)
  const headers = { 'sec-fetch-site': 'same-origin' }
  await fetch(`${own.url}/dashboard/link`, { method: 'POST', headers, body: new URLSearchParams() })
  const [line] = await server.prints(/^.*ticket=.*\n/m)
  const { console_url } = JSON.parse(line)
  expect((await fetch(console_url)).status).toBe(200)
  await fetch(new URL('/dashboard/enter', own.url), {
    method: 'POST',
    headers,
    body: new URL(console_url).searchParams,
  })
  const { stdout, stderr } = await server.stop()
  for (const printed of stdout.trim().split('\n')) expect(() => JSON.parse(printed)).not.toThrow()
  expect(stderr).toMatch(/^GET +\/dashboard\/enter {2}200 ok/m)
  expect(stderr).toMatch(/"route":"\/dashboard\/\*".*"status":303/)
  expect(stderr).not.toContain(new URL(console_url).searchParams.get('ticket'))
})
