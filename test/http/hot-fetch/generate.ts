import type { RawExchange } from './raw-exchange.ts'

// Requests for tokens: plain ones, and ones that differ from a plain one in up to three places.

/** Numbers that depend on the seed only. */
export interface Random {
  below(count: number): number
  pick<T>(all: readonly T[]): T
  chance(part: number): boolean
}

/** The mulberry32 generator. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    // an index below the length
    pick: <T>(all: readonly T[]) => all[below(all.length)] as T,
    chance: (part) => next() < part,
  }
}

/** The names that requests are made of. */
export interface Known {
  readonly keys: readonly string[]
  /** Keys that are refused as unknown; each address may send only a few a minute. */
  readonly unknownKeys: readonly string[]
  /** May send two requests a second. */
  readonly limitedKey: string
  readonly users: readonly string[]
  readonly providers: readonly string[]
  readonly accounts: readonly string[]
  readonly connections: readonly string[]
}

interface Draft {
  method: string
  path: string
  version: string
  headers: [name: string, value: string][]
  body: Buffer
  /** Sends the body in chunks. */
  chunked: boolean
  /** Claims more bytes than are sent, and cuts the connection. */
  cut: boolean
}

type Json = Record<string, unknown>

export function createGenerator(random: Random, known: Known) {
  let guesses = 60

  function keyOf(): string {
    if (!random.chance(0.03) || guesses === 0) return random.pick(known.keys)
    guesses--
    return random.pick(known.unknownKeys)
  }

  function authorizeBody(): Json {
    const scopes = random.pick([['read'], ['write', 'read'], ['read', 'admin'], []])
    const provider = random.pick(known.providers)
    return {
      auth_requirement: {
        ...(random.chance(0.6) ? { provider_id: provider } : { id: provider }),
        ...(random.chance(0.5) && { provider_type: 'oauth2' }),
        ...(random.chance(0.8) && { oauth2: { scopes } }),
      },
      user_id: random.pick(known.users),
      ...(random.chance(0.1) && { account: random.pick(known.accounts) }),
      ...(random.chance(0.1) && {
        next_uri: random.pick(['https://app.example.test/done', 'javascript:1', '']),
      }),
    }
  }

  /** A value in place of another: of the wrong type, at a bound, beyond it, or of strange characters. */
  function strange(): unknown {
    const bound = random.pick([199, 200, 201, 499, 500, 501, 999, 1000, 1001, 2000, 2001])
    return random.pick<unknown>([
      null,
      true,
      false,
      1,
      -0.5,
      '',
      ' ',
      '\u3000',
      [],
      {},
      ['read'],
      [['read']],
      { scopes: ['read'] },
      'a'.repeat(bound),
      'ada\u0000',
      'ada\u0085',
      'ada\ud800',
      'ada\ufffd',
      'Ada',
      'ada ',
      'ädä 😀',
      'a b',
      'new',
      Array.from({ length: random.pick([200, 201]) }, (_, i) => `s${i}`),
    ])
  }

  /** Changes one member, at any depth, adds one, or takes one away. */
  function altered(value: Json): Json {
    const names = Object.keys(value)
    const name = random.pick([
      ...names,
      ...names,
      'lang',
      'user_display',
      'install_id',
      'variables',
      'force_refresh',
      'account',
      'next_uri',
      'unknown',
      'constructor',
    ])
    const old = value[name]
    if (typeof old === 'object' && old !== null && !Array.isArray(old) && random.chance(0.7))
      return { ...value, [name]: altered(old as Json) }
    if (random.chance(0.2)) {
      const { [name]: _, ...rest } = value
      return rest
    }
    return { ...value, [name]: strange() }
  }

  /** The JSON as other writers write it, and what is no JSON. */
  function written(body: Json): Buffer {
    const json = JSON.stringify(body)
    if (!random.chance(0.15)) return Buffer.from(json)
    return random.pick<() => Buffer>([
      () => Buffer.from(JSON.stringify(body, null, 2)),
      () => Buffer.from(` \r\n\t${json}\n`),
      () => Buffer.from(`\ufeff${json}`),
      () => Buffer.from(json.replace(/[a-z]/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)),
      () => Buffer.from(json.replace(/}$/, ',"user_id":"bob"}')),
      () => Buffer.from(json.replace(/}$/, ',"__proto__":{"user_id":"bob"}}')),
      () => Buffer.from(json.replace(/}$/, ',}')),
      () => Buffer.from(json.slice(0, -1)),
      () => Buffer.from(`${json}${json}`),
      () => Buffer.from(`[${json}]`),
      () => Buffer.from(json.replace(/"user_id":"/, '"user_id":"\\ud800')),
      () => Buffer.from(`{"a":${'['.repeat(70)}${']'.repeat(70)},${json.slice(1)}`),
      () => Buffer.from(`${json.slice(0, -1)},"unknown":"${'x'.repeat(17_000)}"}`),
      () => Buffer.concat([Buffer.from(json.slice(0, -2)), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]),
      () =>
        Buffer.concat([Buffer.from(json.slice(0, -2)), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
      () => Buffer.from(json, 'utf16le'),
      () => Buffer.from('null'),
      () => Buffer.from('"ada"'),
      () => Buffer.from('NaN'),
      () => Buffer.alloc(0),
    ])()
  }

  function plain(): Draft {
    const isAuthorize = random.chance(0.65)
    const key = keyOf()
    const spelling = random.pick([`Bearer ${key}`, `Bearer ${key}`, key])
    let json: Json = isAuthorize
      ? authorizeBody()
      : random.pick<Json>([{}, { force_refresh: false }, { force_refresh: true }])
    if (random.chance(0.25)) json = altered(json)
    const isEmpty = !isAuthorize && random.chance(0.5)
    return {
      method: 'POST',
      path: isAuthorize ? '/v1/auth/authorize' : `/v1/connections/${random.pick(known.connections)}/token`,
      version: '1.1',
      headers: [
        ['host', '127.0.0.1:8400'],
        ['authorization', spelling],
        ...(random.chance(0.15) ? ARCADE : []),
        ...(isEmpty ? [] : [['content-type', 'application/json'] satisfies [string, string]]),
      ],
      body: isEmpty ? Buffer.alloc(0) : written(json),
      chunked: false,
      cut: false,
    }
  }

  function set(draft: Draft, name: string, ...values: readonly string[]): void {
    draft.headers = draft.headers.filter(([known]) => known !== name)
    for (const value of values) draft.headers.push([name, value])
  }

  /** One thing that is unusual about the request line, the headers or the framing. */
  function disturb(draft: Draft): void {
    const key = known.keys[0] ?? ''
    const { path } = draft
    const add = (name: string, value: string) => () => void draft.headers.push([name, value])
    random.pick<() => void>([
      () => (draft.method = random.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])),
      () =>
        (draft.path = random.pick([
          `${path}?`,
          `${path}?user_id=bob`,
          `${path}/`,
          `/${path}`,
          `${path}#part`,
          path.replace('v1', 'V1'),
          path.replace('/v1/', '/v1/./'),
          path.replace('/v1/', '/v1/x/../'),
          path.replace('/v1/a', '/v1/%61'),
          path.replace('/token', '%2Ftoken'),
          path.replace('/token', '%20/token'),
          path.replace('/v1/', '/v1/orgs/o/projects/default/'),
          `http://127.0.0.1:8400${path}`,
          `\\${path}`,
        ])),
      () => (draft.version = '1.0'),
      () =>
        set(
          draft,
          'host',
          random.pick(['127.0.0.1', 'EXAMPLE.test', 'a b', '[::1]:80', 'x:y', 'a:99999', '']),
        ),
      () => set(draft, 'host', 'a', 'b'),
      () => set(draft, 'host'),
      () => set(draft, 'authorization', random.pick([`bearer   ${key}`, `BEARER\t${key} `, 'Bearer', ''])),
      () => set(draft, 'authorization', `Bearer ${key}`, `Bearer ${key}`),
      () => set(draft, 'authorization'),
      () => set(draft, 'content-type'),
      () =>
        set(
          draft,
          'content-type',
          random.pick([
            'application/json; charset=utf-8',
            'APPLICATION/JSON',
            'application/vnd.api+json',
            'application/jsonx',
            'application/json-x',
            'text/plain',
            'application/x-www-form-urlencoded',
            '',
          ]),
        ),
      () => set(draft, 'content-type', 'application/json', 'application/json'),
      () => (draft.chunked = true),
      () => (draft.cut = true),
      add('x-stainless-lang', 'js'),
      add('idempotency-key', random.pick(['k1', '', 'k'.repeat(300)])),
      add('x-gatepass-user', 'bob'),
      add('X-Gatepass-Scopes', 'read'),
      add('content-encoding', random.pick(['gzip', 'identity'])),
      add('expect', random.pick(['100-continue', 'something'])),
      add('x-request-id', random.pick(['mine-1', 'not sane', 'x'.repeat(65), ''])),
      add('traceparent', random.pick([`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, 'nonsense'])),
      add('x-forwarded-for', '203.0.113.7, 127.0.0.1'),
      add('origin', 'https://app.example.test'),
      add('accept', random.pick(['text/html', '*/*', 'application/json'])),
      add('accept-encoding', 'gzip, br'),
      add('connection', random.pick(['close', 'keep-alive', 'te'])),
      add('upgrade', 'websocket'),
      add('cookie', 'a=b'),
      add('trailer', 'x-end'),
      add('x-http-method-override', 'GET'),
      add('__proto__', 'x'),
      add('x-api-key', key),
      add('user-agent', 'arcadejs/1.9.0'),
    ])()
  }

  function bytesOf({ method, path, version, headers, body, chunked, cut }: Draft): Buffer {
    const framed: [string, string][] = chunked
      ? [...headers, ['transfer-encoding', 'chunked']]
      : body.length === 0 && random.chance(0.3)
        ? headers
        : [...headers, ['content-length', String(body.length + (cut ? 5 : 0))]]
    const lines = framed.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const head = Buffer.from(`${method} ${path} HTTP/${version}\r\n${lines}\r\n`, 'latin1')
    if (!chunked) return Buffer.concat([head, body])
    const half = body.length >> 1
    const chunks = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0)
    const parts = chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, CRLF])
    return Buffer.concat([head, ...parts, Buffer.from('0\r\n\r\n')])
  }

  /** Cuts the bytes into pieces, which arrive in turns of their own. */
  function split(bytes: Buffer): readonly Buffer[] {
    const pieces: Buffer[] = []
    let from = 0
    while (random.chance(0.7) && from < bytes.length - 1) {
      const to = from + 1 + random.below(bytes.length - from - 1)
      pieces.push(bytes.subarray(from, to))
      from = to
    }
    return [...pieces, bytes.subarray(from)]
  }

  return (): RawExchange => {
    if (random.chance(0.05)) {
      const several = Array.from({ length: 2 + random.below(3) }, () => bytesOf(plain()))
      const bytes = Buffer.concat(several)
      return { pieces: random.chance(0.5) ? [bytes] : split(bytes), answers: several.length }
    }
    const draft = plain()
    const isPlain = random.chance(0.35)
    for (let changes = isPlain ? 0 : 1 + random.below(3); changes > 0; changes--) disturb(draft)
    // a body that never ends is cut off; one in chunks has no length to claim
    const cut = draft.cut && !draft.chunked
    const bytes = bytesOf({ ...draft, cut })
    return { pieces: random.chance(0.2) ? split(bytes) : [bytes], answers: cut ? 0 : 1 }
  }
}

/** What Arcade's SDKs send. */
const ARCADE: readonly [string, string][] = [
  ['x-stainless-lang', 'js'],
  ['idempotency-key', 'stainless-node-retry-1'],
]
const CRLF = Buffer.from('\r\n')
