import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gatepass as Client } from '../../src/sdk/client/gatepass.ts'
import { runHere } from '../cli/gatepass.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'

// The providers that Gatepass knows, over HTTP, by the client library and by the commands.

const folder = mkdtempSync(join(tmpdir(), 'gatepass-catalogue-'))
let gatepass: Gatepass
beforeAll(async () => {
  const own = { id: 'my-erp', name: 'My ERP', category: 'finance', oauth2: endpointsAt('erp.example') }
  writeFileSync(join(folder, 'erp.json'), JSON.stringify(own))
  gatepass = await startGatepass({ environment: { GATEPASS_PROVIDERS: folder } })
})
afterAll(async () => {
  await gatepass.close()
  rmSync(folder, { recursive: true })
})

const endpointsAt = (host: string) => ({
  authorize_request: { endpoint: `https://${host}/authorize` },
  token_request: { endpoint: `https://${host}/token` },
})
const get = (path: string) => gatepass.call('GET', `/v1/admin/provider_catalogue${path}`)
const idsOf = async (query: string) => (await get(query)).body.items.map(({ id }: { id: string }) => id)
const run = (...args: readonly string[]) =>
  runHere({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }, ...args)

describe('the catalogue over HTTP', () => {
  test.each([
    ['?search=zendesk-sell', 'the exact name comes first', ['zendesk-sell', 'zendesk-sell-api-key']],
    ['?search=GMAIL', 'other names are searched, in any case', ['google']],
    ['?search=entra-id&verified=true', 'and verified ones alone', ['microsoft']],
    ['?search=my-erp', "the operator's own are among them", ['my-erp']],
    ['?search=nothing-is-called-so', 'nothing fits', []],
  ])('%s: %s', async (query, _, ids) => {
    expect(await idsOf(query)).toEqual(ids)
  })

  test('comes in pages, by category and by whether it is verified', async () => {
    const all = (await get('?limit=1')).body.total_count
    expect(all).toBeGreaterThan(300)
    const [yes, no] = [await get('?verified=true'), await get('?verified=false')]
    expect(yes.body.total_count + no.body.total_count).toBe(all)
    expect(no.body.items.every((one: { verified: boolean }) => !one.verified)).toBe(true)
    const crm = await get('?category=crm&limit=2&offset=1')
    expect(crm.body).toMatchObject({ offset: 1, page_count: 2 })
    expect(crm.body.items.every((one: { category: string }) => one.category === 'crm')).toBe(true)
    const { status, body } = await get('?category=crn')
    expect([status, body.message]).toEqual([400, expect.stringContaining('Did you mean "crm"?')])
  })

  test('says what a new provider has to be given', async () => {
    const [zendesk] = (await get('?search=zendesk')).body.items
    expect(zendesk).toMatchObject({ id: 'zendesk', variables: ['subdomain'], verified: true })
  })

  test('has each definition whole', async () => {
    const { body } = await get('/zendesk')
    expect(body).toMatchObject({
      id: 'zendesk',
      oauth2: { variables: { subdomain: { label: 'Subdomain' } } },
      registration: { fields: { client_id: 'Unique identifier' } },
      scopes: { 'tickets:read': { text: 'Read tickets', level: 'read' } },
    })
    expect((await get('/my-erp')).body).toMatchObject({ id: 'my-erp', oauth2: endpointsAt('erp.example') })
    const missing = await get('/zendsk')
    expect(missing.status).toBe(404)
    expect(missing.body.message).toContain('Did you mean "zendesk"?')
  })

  test('is read by the client library', async () => {
    const { catalogue } = new Client({ baseUrl: gatepass.url, apiKey: gatepass.apiKey }).admin.providers
    const found: string[] = []
    for await (const { id } of catalogue.list({ search: 'zendesk', verified: true })) found.push(id)
    expect(found[0]).toBe('zendesk')
    expect(await catalogue.get('zendesk')).toMatchObject({ id: 'zendesk' })
  })
})

describe('gatepass providers', () => {
  test('lists what can be added', async () => {
    const { stdout } = await run('providers', 'list', '--catalogue', 'zendesk')
    expect(stdout).toMatch(/zendesk +Zendesk +support +consent +verified +subdomain/)
    expect((await run('providers', 'list', '--catalogue', 'no-such')).stdout).toContain('no provider like')
  })

  test('shows a definition that was not added, and the nearest names of one that is unknown', async () => {
    const { stdout } = await run('providers', 'show', 'asana')
    expect(stdout).toContain('known, not added')
    expect(stdout).toContain('https://app.asana.com/-/oauth_token')
    expect(stdout).toMatch(/clients are registered +https:\/\/app\.asana\.com\//)
    const unknown = await run('providers', 'show', 'assana')
    expect(unknown.code).not.toBe(0)
    expect(unknown.stderr).toContain('Did you mean "asana"?')
  })

  test('add says where the client is registered, and what is typed there', async () => {
    const given = ['--client-id', 'c', '--public', '--variable', 'subdomain=acme']
    const { code, stderr, stdout } = await run('providers', 'add', 'zendesk', ...given)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/Subdomain +acme/) })
    const redirectUri = /redirect URI\S* +(\S+)/.exec(stdout)?.[1]
    expect(stderr).toContain('Register a client of Zendesk: https://support.zendesk.com')
    expect(stderr).toContain(`Redirect URLs: ${redirectUri}`)
    expect(stderr).not.toContain('unverified')
  })

  test('add wants what the definition leaves open, and knows the nearest name', async () => {
    const { stderr } = await run('providers', 'add', 'shopify', '--client-id', 'c', '--public')
    expect(stderr).toContain('--variable shop=')
    expect((await run('providers', 'add', 'shopfy', '--client-id', 'c', '--public')).stderr).toContain(
      'Did you mean "shopify"?',
    )
  })

  test.each([
    ['shopify', 'Did you mean "shop"? It has shop.'],
    ['asana', 'It has none.'],
  ])('add of %s refuses a variable that the definition does not declare', async (id, hint) => {
    const given = ['--client-id', 'c', '--public', '--variable', 'shopp=acme']
    const { code, stderr } = await run('providers', 'add', id, ...given)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`"shopp".`) })
    expect(stderr).toContain(hint)
  })

  test('add says of unverified endpoints that they are', async () => {
    const { code, stderr } = await run('providers', 'add', 'untappd', '--client-id', 'c', '--public')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('unverified') })
  })
})
