import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config-error.ts'
import { readProviderFiles } from '../../src/settings/provider-files.ts'
import { runHere } from '../cli/gatepass.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { authorize, click } from '../flows/fixtures.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'

// The operator's own definitions: the files of the folder `GATEPASS_PROVIDERS`.

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function folderOf(files: Readonly<Record<string, string | object>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatepass-definitions-'))
  folders.push(folder)
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  return folder
}

const erp = (more: object = {}, id = 'my-erp') => ({
  id,
  name: 'My ERP',
  oauth2: {
    authorize_request: { endpoint: 'https://erp.example/authorize' },
    token_request: { endpoint: 'https://erp.example/token' },
    ...more,
  },
})

/** A definition with what a catalogue says of a provider. */
const zendeskLike = () => ({
  ...erp({}, 'desk'),
  $schema: 'https://gatepass.example/schemas/provider.json',
  name: 'The Desk',
  category: 'support',
  oauth2: {
    variables: { subdomain: { label: 'Subdomain', pattern: '[a-z]+', example: 'acme' } },
    authorize_request: { endpoint: 'https://{{subdomain}}.desk.example/authorize' },
    token_request: { endpoint: 'https://{{subdomain}}.desk.example/token' },
  },
  offline_access: { params: { prompt: 'consent' }, scopes: ['offline_access'] },
  registration: { url: 'https://desk.example/apps' },
  scopes: { read: 'Read your tickets' },
  sources: ['https://desk.example/docs'],
  checked: '2026-11-22',
  verified: true,
  logo: 'zendesk',
})

describe('definitions in JSON, YAML and TypeScript', () => {
  let as: FakeAuthorizationServer
  let gatepass: Gatepass

  beforeAll(async () => {
    as = await startFakeAuthorizationServer()
    const { host } = new URL(as.url)
    const at = (path: string) => `http://{{host}}${path}`
    const GATEPASS_PROVIDERS = folderOf({
      'my-erp.json': {
        ...erp({
          variables: { host: { label: 'Host', pattern: '[a-z0-9.:-]+', example: host } },
          authorize_request: { endpoint: at('/authorize') },
          token_request: { endpoint: at('/token') },
          refresh_request: { endpoint: at('/token') },
          user_info_request: { endpoint: at('/userinfo'), triggers: { on_token_grant: true } },
        }),
        offline_access: { params: { access_type: 'offline' } },
      },
      'shop.yaml': `id: shop
name: The Shop
checked: 2026-11-22 # a date is text here
oauth2:
  default_scopes: [orders]
  authorize_request: {endpoint: ${as.authorizationUrl}}
  token_request: {endpoint: ${as.tokenUrl}}
`,
      'github.ts': `interface Definition { readonly id: string }
const at = (path: string) => '${as.url}' + path
const definition: Definition & Record<string, unknown> = {
  id: 'github', name: 'GitHub Enterprise',
  oauth2: { authorize_request: { endpoint: at('/authorize') }, token_request: { endpoint: at('/token') } },
}
export default definition
`,
      'README.md': '# not a definition',
      'types.d.ts': 'export interface Nothing {}',
    })
    const client = { GATEPASS_PROVIDER_SHOP_CLIENT_ID: as.clientId }
    const secret = { GATEPASS_PROVIDER_SHOP_CLIENT_SECRET: as.clientSecret }
    gatepass = await startGatepass({ environment: { GATEPASS_PROVIDERS, ...client, ...secret } })
  })
  afterAll(async () => {
    await gatepass.close()
    await as.close()
  })

  const cli = (...args: readonly string[]) =>
    runHere({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }, ...args)

  test('are added by their name, with what they say, and run the whole consent', async () => {
    const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      provider_id: 'My-ERP',
      oauth2: {
        client_id: as.clientId,
        client_secret: as.clientSecret,
        variables: { host: { value: new URL(as.url).host } },
      },
    })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    expect(added.body.provider_id).toBe('my-erp')
    expect(added.body.oauth2.authorize_request.params.access_type).toBe('offline')
    const { id, url } = (await authorize(gatepass)).body
    expect((await click(url)).body).toContain('My ERP')
    expect((await gatepass.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('completed')
  })

  test('are taken by the API too, and by the command, as they are in the file', async () => {
    const yaml = `id: x
name: The Desk
category: support
oauth2:
  variables: {subdomain: {label: Subdomain, pattern: "[a-z]+", example: acme}}
  authorize_request: {endpoint: "https://{{subdomain}}.desk.example/authorize"}
  token_request: {endpoint: "https://{{subdomain}}.desk.example/token"}
`
    const folder = folderOf({ 'file.yaml': yaml, 'no.yaml': 'id: [', 'star.yaml': 'id: *.x' })
    const client = ['--client-id', 'x', '--public']
    const add = (name: string, ...more: readonly string[]) =>
      cli('providers', 'add', 'from-file', '--file', join(folder, name), ...client, ...more)
    expect(await add('no.yaml')).toMatchObject({ code: 2, stderr: expect.stringContaining('is not YAML') })
    expect(await add('star.yaml')).toMatchObject({ code: 2, stderr: expect.stringContaining('in quotes') })
    const lacking = await add('file.yaml')
    expect(lacking).toMatchObject({ code: 2, stderr: expect.stringContaining('--variable subdomain=…') })
    const told = await add('file.yaml', '--variable', 'subdomain=acme', '--json')
    expect(told).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(told.stdout)).toMatchObject({ id: 'from-file', oauth2: { client_id: 'x' } })
    const { id, oauth2, ...rest } = zendeskLike()
    const body = {
      ...rest,
      id,
      oauth2: {
        ...oauth2,
        client_id: 'x',
        variables: { subdomain: { ...oauth2.variables.subdomain, value: 'acme' } },
      },
    }
    const added = await gatepass.call('POST', '/v1/admin/auth_providers', body)
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    expect(added.body.oauth2.authorize_request.params).toMatchObject({
      prompt: 'consent',
      scope: '{{scopes}} {{existing_scopes}} offline_access',
    })
    const { url } = (await authorize(gatepass, { provider: id })).body
    expect((await fetch(url)).status).toBe(200)
    expect(await (await fetch(url)).text()).toContain('The Desk')
    const wrong = { ...body, id: 'wrong', offline_access: { params: { prompt: '{{nonsense}}' } } }
    const refused = await gatepass.call('POST', '/v1/admin/auth_providers', wrong)
    expect(refused.body.errors).toMatchObject([{ path: 'offline_access.params.prompt' }])
  })

  test('a variable without a value is asked of the operator', async () => {
    const refused = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'other',
      provider_id: 'my-erp',
      oauth2: { client_id: 'x' },
    })
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toEqual([
      {
        path: 'oauth2.variables.host.value',
        code: 'missing',
        message: expect.stringMatching(/is required: Host, such as 127\.0\.0\.1:\d+\.$/),
        label: expect.stringMatching(/^Host, such as 127\.0\.0\.1:\d+$/),
      },
    ])
    const told = await cli('providers', 'add', 'my-erp', '--client-id', 'x', '--public')
    expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining('--variable host=…') })
    const args = ['--client-id', 'x', '--public', '--variable', 'host=127.0.0.1:9', '--json'] as const
    const added = await cli('providers', 'add', 'my-erp', ...args)
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(added.stdout).oauth2.variables).toEqual({
      host: { label: 'Host', pattern: '[a-z0-9.:-]+', example: new URL(as.url).host, value: '127.0.0.1:9' },
    })
  })

  test("the operator's client goes to a definition's own hosts, and to no host that a variable leaves open", async () => {
    const shop = await gatepass.call('POST', '/v1/admin/auth_providers', { id: 'shop', provider_id: 'shop' })
    expect(shop.body).toMatchObject({ status: 'active', oauth2: { default_scopes: ['orders'] } })

    const folder = folderOf({
      'open.json': erp(
        {
          variables: {
            subdomain: { pattern: '[a-z]+', example: 'acme' },
            region: { one_of: ['com', 'example'], value: 'example' },
          },
          authorize_request: { endpoint: 'https://{{subdomain}}.erp.example/authorize' },
          token_request: { endpoint: 'https://{{subdomain}}.erp.example/token' },
        },
        'open',
      ),
      'region.json': erp(
        {
          variables: {
            region: { one_of: ['com', 'example'], example: 'com' },
            tenant: { pattern: '\\w+', example: 'x' },
          },
          authorize_request: { endpoint: 'https://erp.{{region}}/{{tenant}}/authorize' },
          token_request: { endpoint: 'https://erp.{{region}}/{{tenant}}/token' },
        },
        'region',
      ),
    })
    const clients = {
      GATEPASS_PROVIDER_OPEN_CLIENT_ID: 'x',
      GATEPASS_PROVIDER_OPEN_CLIENT_SECRET: 'x',
      GATEPASS_PROVIDER_REGION_CLIENT_ID: 'x',
      GATEPASS_PROVIDER_REGION_CLIENT_SECRET: 'x',
    }
    await using other = await startGatepass({ environment: { GATEPASS_PROVIDERS: folder, ...clients } })
    const add = (id: string, variables: object) =>
      other.call('POST', '/v1/admin/auth_providers', { id, provider_id: id, oauth2: { variables } })
    const open = await add('open', { subdomain: { value: 'acme' } })
    expect(open.body).toMatchObject({ status: 'missing', missing: ['client_id', 'client_secret'] })
    const region = await add('region', { region: { value: 'com' }, tenant: { value: 'acme' } })
    expect(region.body.status).toBe('active')
    const oauth2 = { environment_client: true }
    const confirmed = await other.call('PATCH', '/v1/admin/auth_providers/open', { oauth2 })
    expect(confirmed.body.status).toBe('active')
  })

  test("the operator's client goes to hosts that a connection decides only as far as the definition lists them", async () => {
    const from = 'authorization_response'
    const definition = (id: string, more: object, host = 'https://desk.example') => ({
      ...erp({ ...more, authorize_request: { endpoint: `${host}/authorize` } }, id),
    })
    const listed = { from, one_of: ['https://eu.desk.example', 'https://us.desk.example'] }
    const told = { token_request: { endpoint: '{{point}}/token' } }
    const user = { example: 'acme', ask: 'user' }
    const subdomains = 'https://{{subdomain}}.desk.example'
    const asked = { token_request: { endpoint: `${subdomains}/token` } }
    const definitions = {
      listed: definition('listed', { kept_values: { point: listed }, ...told }),
      open: definition('open', {
        kept_values: {
          point: { from, pattern: 'https://[a-z]+\\.desk\\.example', example: 'https://eu.desk.example' },
        },
        ...told,
      }),
      asked: definition(
        'asked',
        { variables: { subdomain: { ...user, pattern: '[a-z]+' } }, ...asked },
        subdomains,
      ),
      chosen: definition(
        'chosen',
        { variables: { subdomain: { ...user, one_of: ['acme', 'beta'] } }, ...asked },
        subdomains,
      ),
    }
    const environment: Record<string, string> = {
      GATEPASS_PROVIDERS: folderOf(
        Object.fromEntries(Object.entries(definitions).map(([id, one]) => [`${id}.json`, one])),
      ),
    }
    for (const id of Object.keys(definitions))
      for (const what of ['ID', 'SECRET'])
        environment[`GATEPASS_PROVIDER_${id.toUpperCase()}_CLIENT_${what}`] = 'x'
    await using other = await startGatepass({ environment })
    const statuses = await Promise.all(
      Object.keys(definitions).map(async (id) => {
        const { body } = await other.call('POST', '/v1/admin/auth_providers', { id, provider_id: id })
        return [id, body.status]
      }),
    )
    expect(Object.fromEntries(statuses)).toEqual({
      listed: 'active',
      open: 'missing',
      asked: 'missing',
      chosen: 'active',
    })
    // the endpoint is still the first of the list, and the callback could now name another host
    const oauth2 = {
      kept_values: { point: { ...listed, one_of: [...listed.one_of, 'https://evil.example'] } },
    }
    const widened = await other.call('PATCH', '/v1/admin/auth_providers/listed', { oauth2 })
    expect(widened.body).toMatchObject({ status: 'missing', missing: ['client_id', 'client_secret'] })
    const confirmed = { oauth2: { environment_client: true } }
    const after = await other.call('PATCH', '/v1/admin/auth_providers/listed', confirmed)
    expect(after.body.status).toBe('active')
  })

  test('their JSON Schema is served to editors, without a key', async () => {
    const { status, headers, body } = await gatepass.call('GET', '/schemas/provider.json', undefined, {
      key: null,
    })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/schema+json')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toMatchObject({
      $id: `${gatepass.url}/schemas/provider.json`,
      required: ['id', 'name'],
      oneOf: [{ required: ['oauth2'] }, { required: ['oauth1'] }, { required: ['credentials'] }],
      additionalProperties: false,
    })
  })

  test('a file may take the place of a built-in definition, which the log says', async () => {
    const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'github',
      provider_id: 'github',
      oauth2: { client_id: 'x' },
    })
    expect(added.body.oauth2.token_request.endpoint).toBe(as.tokenUrl)
    const lines = gatepass.logLines.map((line) => JSON.parse(line))
    expect(lines.find(({ provider }) => provider === 'github')).toMatchObject({
      message: expect.stringContaining('replaces the built-in one'),
      file: expect.stringContaining('github.ts'),
    })
    expect(lines.find(({ provider }) => provider === 'my-erp').message).toContain('was read')
  })
})

describe('files that cannot be used stop the start', () => {
  const startWith = async (files: Readonly<Record<string, string | object>>) => {
    const folder = folderOf(files)
    const started = startGatepass({ environment: { GATEPASS_PROVIDERS: folder } })
    const error = await started.then(
      async (gatepass) => {
        await gatepass.close()
        throw new Error('it started')
      },
      (error: unknown) => error,
    )
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map((fault) => fault.replaceAll(`${folder}/`, ''))
  }

  test('with all faults of all files at once, each with its file, member and reason', async () => {
    const faults = await startWith({
      'a.json': erp({
        token_request: { endpoint: 'https://erp.example/t', auth_method: 'client_secret_bsic' },
      }),
      'b.yaml': 'id: b\nname: B\noauth2: {authorize_request: {endpoint: "https://b.example/a"}}\nlog: x\n',
      'c.json': '{"id": "c",\n "name" "C"}',
      'd.yml': 'id: [d\nname: D',
      'e.ts': 'throw new Error("out of order")',
      'f.js': 'export const definition = {}',
      'g.json': erp({}, 'twice'),
      'h.json': erp({}, 'twice'),
      'i.ts': 'export default () => ({ id: "i" })',
      'j.js': 'const circle = { id: "j" }\ncircle.of = circle\nexport default circle',
      'k.yaml': 'id: k\nname: K\noauth2:\n  api:\n    hosts:\n      - *.k.example\n',
      'l.yaml': `id: &id l\nname: [${Array(101).fill('*id').join(', ')}]\n`,
    })
    expect(faults).toEqual([
      expect.stringMatching(
        /^GATEPASS_PROVIDERS: a\.json: oauth2\.token_request\.auth_method has to be one of .*; did you mean client_secret_basic\?$/,
      ),
      expect.stringMatching(/^GATEPASS_PROVIDERS: b\.yaml: log is not a known member: did you mean logo\?$/),
      expect.stringMatching(/^GATEPASS_PROVIDERS: c\.json: is no JSON \(line 2, column \d+\)\.$/),
      expect.stringMatching(/^GATEPASS_PROVIDERS: d\.yml: is no YAML \(line \d, column \d+\)\.$/),
      expect.stringMatching(/^GATEPASS_PROVIDERS: e\.ts: cannot be loaded: Error: out of order\.$/),
      'GATEPASS_PROVIDERS: f.js: has no default export: write `export default { … }`.',
      expect.stringMatching(/^GATEPASS_PROVIDERS: i\.ts: has a default export that is not plain data/),
      expect.stringMatching(/^GATEPASS_PROVIDERS: j\.js: has a default export that is not plain data/),
      expect.stringMatching(
        /^GATEPASS_PROVIDERS: k\.yaml: is no YAML: .* Put a text that begins with \* in quotes/,
      ),
      expect.stringMatching(/^GATEPASS_PROVIDERS: l\.yaml: is no YAML: .* aliases that repeat a value/),
      'GATEPASS_PROVIDERS: h.json: id is "twice", which g.json has already.',
    ])
  })

  test('and so does a folder that cannot be read', async () => {
    const file = join(folderOf({ 'a.json': erp() }), 'a.json')
    await expect(readProviderFiles(file, { allowsHttp: () => false })).rejects.toThrow(
      `GATEPASS_PROVIDERS: ${file} cannot be read (ENOTDIR).`,
    )
  })

  test('and so does a folder that is none', async () => {
    await expect(startGatepass({ environment: { GATEPASS_PROVIDERS: '/nowhere' } })).rejects.toThrow(
      /GATEPASS_PROVIDERS names \/nowhere, which is not a readable folder/,
    )
  })
})
