import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutgoing, type Outgoing } from '../../src/egress/outgoing.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { type Loopback, listen } from '../loopback.ts'
import { CALLERS } from './callers.ts'
import { PRIVATE_HOSTS, PRIVATE_NAMES, resolverOf, startTrap, type Trap, UNREADABLE_HOSTS } from './hosts.ts'

// Every spelling of a private host, in every URL that a caller or a provider can give. A trap counts the connections.

let trap: Trap
let gatepass: Gatepass

beforeAll(async () => {
  trap = await startTrap()
  // no local host is allowed, in contrast to the other tests
  gatepass = await startGatepass({ environment: { GATEPASS_ALLOWED_HOSTS: 'allowed.example' } })
})

afterAll(async () => {
  await gatepass?.close()
  await trap?.[Symbol.asyncDispose]()
})

const ROWS = Object.entries(PRIVATE_HOSTS).flatMap(([row, hosts]) =>
  hosts.map((host) => [row, host] as const),
)

test.each(Object.keys(CALLERS))('a request of the %s succeeds when its host is allowed', async (what) => {
  const url = /^(token|keys|user info).* of a login/.test(what)
    ? `https://issuer.example/${{ token: 'token', keys: 'keys', user: 'userinfo' }[what.split(' ')[0] ?? '']}`
    : 'https://public.example'
  const everything = {
    access_token: 'at',
    token_type: 'bearer',
    scope: 'read',
    sub: 'ada',
    status: 'ok',
    success: true,
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
  }
  const outgoing: Outgoing = {
    async send(request) {
      const isList = new URL(request.url).pathname === '/worker/tools'
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(isList ? [] : everything)) }
    },
    async stream(request) {
      const { body, ...head } = await outgoing.send({ ...request, body: '' })
      return { ...head, body: new Response(Buffer.from(body)).body ?? new ReadableStream() }
    },
    allows: () => true,
    lookUpTxt: async () => ({ outcome: 'found', values: [] }),
    close: async () => {},
  }
  expect(await CALLERS[what]?.(outgoing, url)).toBeUndefined()
})

describe('refused at the dial, and the host gets no connection', () => {
  test.each(ROWS)('threat %s: %s', async (_, host) => {
    const lookup = resolverOf({ 'public.example': ['127.0.0.1'], localhost: ['127.0.0.1', '::1'] })
    const outgoing = createOutgoing({ allowedHosts: ['allowed.example'], lookup })
    for (const scheme of ['https', 'http'])
      for (const [what, call] of Object.entries(CALLERS)) {
        const refusal = await call(outgoing, `${scheme}://${host}:${trap.port}/x`)
        expect(refusal, `${scheme} ${what}`).toBeDefined()
        expect(JSON.stringify(refusal) + String(refusal), what).not.toContain('SECRET')
      }
    await outgoing.close()
    expect(trap.seen).toEqual({ connections: 0, bytes: 0 })
  })

  test.each(Object.keys(PRIVATE_NAMES))('threat 14c: the name %s, for what it resolves to', async (host) => {
    const lookup = resolverOf(PRIVATE_NAMES)
    const outgoing = createOutgoing({ allowedHosts: [], lookup })
    for (const [what, call] of Object.entries(CALLERS)) {
      const before = lookup.asked.length
      expect(await call(outgoing, `https://${host}:${trap.port}/x`), what).toBeDefined()
      // simultaneous dials share a look-up; a revocation is two requests, and metadata may be at two places
      expect(lookup.asked.length - before, what).toBeGreaterThanOrEqual(1)
      expect(lookup.asked.length - before, what).toBeLessThanOrEqual(2)
    }
    await outgoing.close()
    expect(trap.seen).toEqual({ connections: 0, bytes: 0 })
  })

  test('threat 14c: DNS rebinding: a name is looked up again for every dial, and that answer is dialled', async () => {
    let [dials, asked] = [0, 0]
    const good = await listen((_, res) => {
      dials++
      res.writeHead(200, { connection: 'close' }).end('{}')
    })
    const port = Number(new URL(good.url).port)
    const outgoing = createOutgoing({
      allowedHosts: ['127.0.0.1/32'], // in the place of a public address
      lookup: (_, options, callback) => {
        const address = asked++ === 0 ? '127.0.0.1' : '127.0.0.2'
        if (options.all) callback(null, [{ address, family: 4 }])
        else callback(null, address, 4)
      },
    })
    await outgoing.send({ url: `http://rebind.example:${port}/` })
    await expect(outgoing.send({ url: `http://rebind.example:${port}/` })).rejects.toMatchObject({
      kind: 'host_not_allowed',
      requestSent: false,
    })
    expect([dials, asked]).toEqual([1, 2])
    await outgoing.close()
    await good.close()
  })
})

describe('a redirect leads nowhere', () => {
  test.each(
    [301, 302, 303, 307, 308, 300, 304, 399].flatMap((status) =>
      Object.keys(CALLERS).map((what) => [status, what] as const),
    ),
  )('threat 14d and 10: %s from the %s', async (status, what) => {
    const requests: string[] = []
    const redirector: Loopback = await listen((req, res) => {
      requests.push(req.url ?? '')
      res.writeHead(status, { location: `http://127.0.0.1:${trap.port}/` }).end()
    })
    // even when the target of the redirect would be allowed
    const outgoing = createOutgoing({ allowedHosts: ['127.0.0.1'] })
    expect(await CALLERS[what]?.(outgoing, redirector.url)).toBeDefined()
    expect(requests.length).toBeGreaterThanOrEqual(1)
    expect(requests.length).toBeLessThanOrEqual(2)
    expect(trap.seen).toEqual({ connections: 0, bytes: 0 })
    await outgoing.close()
    await redirector.close()
  })
})

/** Every way to register a URL over the API; returns the status and the message. */
const REGISTRATIONS: Readonly<Record<string, (url: string) => Promise<{ status: number; said: string }>>> = {
  ...Object.fromEntries(
    [
      'authorize_request',
      'token_request',
      'refresh_request',
      'user_info_request',
      'token_introspection_request',
      'revocation_request',
    ].map((block) => [
      `${block} of a provider`,
      (url: string) =>
        addProvider({
          [block]: {
            endpoint: url,
            ...(block.startsWith('user_info') || block.startsWith('token_introspection')
              ? { triggers: { on_token_grant: true } }
              : {}),
          },
        }),
    ]),
  ),
  'issuer of a provider': (url) => addProvider({ issuer: url }),
  'token_request of a provider that is changed': async (url) => {
    await gatepass.call('POST', '/v1/admin/auth_providers', providerBody('kept', {}))
    const { status, body } = await gatepass.call('PATCH', '/v1/admin/auth_providers/kept', {
      oauth2: { token_request: { endpoint: url } },
    })
    return { status, said: body.message }
  },
  'authorizationUrl of metadata': (url) => importTool({ authorizationUrl: url }),
  'tokenUrl of metadata': (url) => importTool({ tokenUrl: url }),
  'uri of a worker': async (uri) => {
    const { status, body } = await gatepass.call('POST', '/v1/workers', worker(uri))
    return { status, said: body.message }
  },
  'uri of a worker that is changed': async (uri) => {
    await gatepass.call('POST', '/v1/workers', {
      ...worker('https://public.example'),
      enabled: false,
      id: 'kept',
    })
    const { status, body } = await gatepass.call('PATCH', '/v1/workers/kept', { http: { uri } })
    return { status, said: body.message }
  },
}

function worker(uri: string) {
  return {
    id: 'inside',
    enabled: true,
    http: { uri, secret: 'a-secret-of-the-worker', timeout: 60, retry: 0 },
  }
}

function providerBody(id: string, oauth2: Record<string, unknown>) {
  return {
    id,
    oauth2: {
      client_id: 'id',
      client_secret: 'a-secret',
      authorize_request: { endpoint: 'https://public.example/authorize' },
      token_request: { endpoint: 'https://public.example/token' },
      ...oauth2,
    },
  }
}

async function addProvider(oauth2: Record<string, unknown>) {
  const { status, body } = await gatepass.call(
    'POST',
    '/v1/admin/auth_providers',
    providerBody('inside', oauth2),
  )
  return { status, said: body.message }
}

async function importTool(entry: Record<string, unknown>) {
  const { status, body } = await gatepass.call('POST', '/v1/tools/import', {
    name: 'Inside',
    version: '1.0.0',
    description: 'Leads inside.',
    parameters: { type: 'object', properties: {} },
    oauth: [
      {
        name: 'Inside',
        version: '2.0',
        authorizationUrl: 'https://public.example/authorize',
        tokenUrl: 'https://public.example/token',
        clientId: 'id',
        scopes: [],
        responseType: 'code',
        ...entry,
      },
    ],
  })
  return { status, said: body.items[0].reason }
}

describe('refused when it is registered, with the reason', () => {
  test.each([...ROWS, ...UNREADABLE_HOSTS.map((host) => ['14d', host] as const)])(
    'threat %s: %s',
    async (_, host) => {
      for (const [what, register] of Object.entries(REGISTRATIONS))
        for (const scheme of what.includes('authorize_request') ? ['https', 'http'] : ['https']) {
          const { status, said } = await register(`${scheme}://${host}:${trap.port}/x`)
          expect([400, 422], `${scheme} ${what}: ${said}`).toContain(status)
          expect(said, what).toMatch(
            /GATEPASS_ALLOWED_HOSTS|has to be https|user name or password|credentials|fragment|absolute URL|not an https URL|plain http|white space|http\.uri must be/,
          )
        }
      expect(trap.seen).toEqual({ connections: 0, bytes: 0 })
    },
  )

  test('threat 14: no refused provider or worker was stored', async () => {
    const { body: providers } = await gatepass.call('GET', '/v1/admin/auth_providers')
    const { body: workers } = await gatepass.call('GET', '/v1/workers')
    expect(providers.items.map(({ id }: { id: string }) => id)).not.toContain('inside')
    expect(workers.items.map(({ id }: { id: string }) => id)).not.toContain('inside')
    expect(JSON.stringify([providers, workers])).not.toContain(String(trap.port))
  })

  test.each(['http://public.example', 'http://93.184.216.34', 'http://[2606:4700:4700::1111]'])(
    'threat 14: plain http to the public host %s',
    async (url) => {
      for (const [what, register] of Object.entries(REGISTRATIONS))
        expect([400, 422], what).toContain((await register(`${url}/x`)).status)
    },
  )

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://public.example/',
    'blob:https://public.example/x',
    'ws://public.example/',
    'gopher://public.example/',
    '//public.example/',
    '/x',
    'https:',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
  ])('threat 28: the scheme of %j', async (url) => {
    for (const [what, register] of Object.entries(REGISTRATIONS)) {
      const { status, said } = await register(url)
      expect([400, 422], `${what}: ${said}`).toContain(status)
    }
  })

  test.each([
    'https://user@public.example/a',
    'https://user:hunter2@public.example/a',
    'https://public.example/a#b',
    'https://public.example/a#',
  ])('threat 28: user name or fragment in %s', async (url) => {
    for (const [what, register] of Object.entries(REGISTRATIONS)) {
      const { status, said } = await register(url)
      expect([400, 422], `${what}: ${said}`).toContain(status)
      expect(said).not.toContain('hunter2')
    }
  })
})

describe('a URL that only the browser is sent to is never fetched', () => {
  test('threat 14: next_uri and the verifier', async () => {
    const verifier = `http://127.0.0.1:${trap.port}/verify`
    const environment = { GATEPASS_USER_VERIFIER: verifier, GATEPASS_ALLOWED_HOSTS: '' }
    const own = await startGatepass({ environment })
    await own.call('POST', '/v1/admin/auth_providers', providerBody('demo', {}))
    const begin = (next_uri: string) =>
      own.call('POST', '/v1/auth/authorize', { auth_requirement: { id: 'demo' }, user_id: 'u', next_uri })
    expect((await begin(`http://127.0.0.1:${trap.port}/next`)).body).toMatchObject({ status: 'pending' }) // the verifier's origin
    for (const [, host] of ROWS) expect((await begin(`https://${host}/next`)).status, host).toBe(400)
    expect(trap.seen).toEqual({ connections: 0, bytes: 0 })
    await own.close()
  })
})

describe('GATEPASS_ALLOWED_HOSTS allows exactly the hosts and ports that it names', () => {
  const allows = (allowedHosts: string[], url: string) => {
    const outgoing = createOutgoing({ allowedHosts })
    const allowed = outgoing.allows(new URL(url))
    void outgoing.close()
    return allowed
  }

  test.each([
    ['10.0.0.5', 'http://10.0.0.5/', true],
    ['10.0.0.5', 'https://10.0.0.5:8443/', true],
    ['10.0.0.5', 'http://10.0.0.6/', false],
    ['10.0.0.5', 'http://0xa.5/', true], // the same address
    ['10.0.0.5:8443', 'https://10.0.0.5:8443/', true],
    ['10.0.0.5:8443', 'https://10.0.0.5/', false],
    ['10.0.0.5:443', 'https://10.0.0.5/', true],
    ['10.0.0.5:443', 'http://10.0.0.5/', false],
    ['10.0.0.5:80', 'http://10.0.0.5/', true],
    ['localhost', 'http://localhost:1/', true],
    ['localhost', 'http://localhost./', true],
    ['localhost', 'http://api.localhost/', false],
    ['localhost', 'http://127.0.0.1/', false],
    ['127.0.0.1', 'http://localhost/', false],
    ['intranet.example', 'http://intranet.example/', true],
    ['intranet.example', 'http://a.intranet.example/', false],
    ['intranet.example', 'http://intranet.example.evil.example/', false],
    ['intranet.example', 'http://evilintranet.example/', false],
    ['intranet.example', 'http://user@intranet.example/', false],
    ['intranet.example', 'ftp://intranet.example/', false],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['[::1]:8080', 'http://[::1]/', false],
    ['::1', 'http://127.0.0.1/', false],
    ['10.0.0.0/8', 'http://10.255.0.1/', true],
    ['10.0.0.0/8', 'http://11.0.0.1/', false],
    ['10.0.0.0/8', 'https://[::ffff:10.0.0.1]/', false],
    ['10.0.0.4/30', 'http://10.0.0.7/', true],
    ['10.0.0.4/30', 'http://10.0.0.8/', false],
    ['10.0.0.0/8', 'http://93.184.216.34/', false],
    ['10.0.0.0/8', 'https://127.0.0.1/', false],
    ['fd00::/8', 'http://[fd12::1]/', true],
    ['fd00::/8', 'http://[fc00::1]/', false],
    ['fd00::/8', 'http://[::1]/', false],
    ['127.0.0.0/8', 'http://127.0.0.1:0/', false],
  ] as const)('threat 14: %s and %s: %s', (allowed, url, expected) => {
    expect(allows([allowed], url)).toBe(expected)
  })
})
