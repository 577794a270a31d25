import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MCP_CLIENTS } from '../../../src/http/mcp-setup/setup-steps.ts'
import { runHere } from '../../cli/gatepass.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { metadata } from '../../http/world.ts'

let gatepass: Gatepass
beforeAll(async () => {
  gatepass = await startGatepass({ environment: { GATEPASS_PUBLIC_URL: 'https://gp.example.test' } })
  const tools = ['send', 'search'].map((name) => metadata(name, { tool_set: 'mail', keywords: ['mail'] }))
  await gatepass.call('POST', '/v1/tools/import', tools)
})
afterAll(() => gatepass.close())

const run = (...args: string[]) =>
  runHere({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }, ...args)

async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

test('toolsets are made, shown with the names for MCP clients, changed and deleted', async () => {
  expect((await run('toolsets')).stdout).toContain('No toolsets')
  const made = await run(
    ...['toolsets', 'create', 'post', '--namespace', 'mail', 'none', '--instructions', 'Ask first.'],
  )
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toContain('post is at https://gp.example.test/mcp/post and has 2 tools.')
  expect(made.stdout).toContain('namespaces.1: No tool is in the namespace "none" now.')
  expect((await run('toolsets')).stdout).toMatch(/post +namespace mail, namespace none +prefixed +https:/)

  const shown = await run('toolsets', 'show', 'post')
  expect(shown.stdout).toMatch(/mail_send +mail:send:1\.0\.0 +Does send\./)
  const changes = ['--tool', 'mail_search', '--names', 'bare', '--clear', 'namespaces', 'instructions']
  const changed = await json('toolsets', 'update', 'post', ...changes)
  expect(changed).toMatchObject({ tools: ['mail:search'], names: 'bare', tool_count: 1, warnings: [] })
  for (const gone of ['namespaces', 'instructions']) expect(changed).not.toHaveProperty(gone)
  expect(await json('toolsets', 'show', 'post')).toMatchObject({ shown: [{ name: 'search' }] })
  const both = await run('toolsets', 'update', 'post', '--tool', 'mail_send', '--clear', 'tools')
  expect(both).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('not both') })
  expect(await json('toolsets', 'delete', 'post')).toEqual({ id: 'post', deleted: true })
  const missing = await run('toolsets', 'show', 'post')
  expect([missing.code, missing.stdout]).toEqual([3, ''])
})

describe('mcp', () => {
  test('prints the address for each client, by the public URL, with and without a key', async () => {
    const { url, page, clients } = await json('mcp')
    expect([url, page]).toEqual(['https://gp.example.test/mcp', 'https://gp.example.test/docs/mcp'])
    expect(clients.map(({ id }: { id: string }) => id)).toEqual([
      ...['claude', 'claude-code', 'chatgpt', 'cursor', 'vscode'],
      ...['opencode', 'codex', 'goose', 'inspector'],
    ])
    for (const { name, sign_in, api_key } of clients) {
      expect(JSON.stringify(sign_in), name).toContain(url)
      if (api_key !== undefined) expect(JSON.stringify(api_key), name).toMatch(/GATEPASS_API_KEY|\$\{input:/)
    }
    const { stdout } = await run('mcp')
    expect(stdout).not.toContain(gatepass.apiKey)
    expect(stdout).toContain('    claude mcp add --transport http gatepass https://gp.example.test/mcp\n')
  })

  test('prints that of a toolset for one client, and refuses one that there is not', async () => {
    await json('toolsets', 'create', 'customer-support', '--tag', 'mail')
    const { stdout } = await run('mcp', 'customer-support', '--client', 'codex')
    expect(stdout).toContain('codex mcp add customer --url https://gp.example.test/mcp/customer-support\n')
    expect(stdout).not.toContain('Cursor')
    expect(await run('mcp', 'customer')).toMatchObject({ code: 3, stdout: '' })
    expect(await run('mcp', '--client', 'codec')).toMatchObject({ code: 2, stdout: '' })
  })

  test('has commands that the shell reads, and files that are JSON', async () => {
    const target = { url: 'https://gp.example.test/mcp/mail', name: 'mail' }
    for (const { id, signIn, apiKey } of MCP_CLIENTS)
      for (const { paste = '', link } of [...signIn(target), ...(apiKey?.(target) ?? [])]) {
        if (paste.startsWith('{')) expect(Object.keys(JSON.parse(paste)).length, id).toBeGreaterThan(0)
        else if (id !== 'goose') await promisify(execFile)('bash', ['-n', '-c', paste])
        if (link !== undefined) expect(URL.canParse(link.href), link.href).toBe(true)
      }
    const cursor = MCP_CLIENTS.find(({ id }) => id === 'cursor')?.signIn(target)[0]?.link?.href ?? ''
    const config = new URL(cursor).searchParams.get('config') ?? ''
    expect(JSON.parse(atob(config))).toEqual({ url: target.url })
  })
})
