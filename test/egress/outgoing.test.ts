import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createOutgoing,
  type Outgoing,
  OutgoingError,
  type OutgoingOptions,
  type OutgoingRequest,
  parseAllowedHost,
} from '../../src/egress/outgoing.ts'
import { isPublicAddress } from '../../src/egress/public-address.ts'
import { gate } from '../gate.ts'
import { freePort } from '../ports.ts'
import { until } from '../until.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function serve(
  listener: RequestListener,
  host = '127.0.0.1',
): Promise<{ port: number; server: Server }> {
  const server = createServer(listener).listen(0, host)
  await once(server, 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, server }
}

function outgoing(
  allowedHosts: readonly string[] = [],
  options: Omit<OutgoingOptions, 'allowedHosts'> = {},
): Outgoing {
  const client = createOutgoing({ allowedHosts, ...options })
  cleanups.push(() => client.close())
  return client
}

const HERE = { address: '127.0.0.1', family: 4 }

/** A resolver that answers every name with these addresses, and counts. */
function resolver(...addresses: string[]): LookupFunction & { calls: string[] } {
  const calls: string[] = []
  const lookup: LookupFunction = (hostname, options, callback) => {
    calls.push(hostname)
    const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family)
  }
  return Object.assign(lookup, { calls })
}

async function refusal(sent: Promise<unknown>): Promise<OutgoingError> {
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OutgoingError)
  return error as OutgoingError
}

describe('hosts', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '①②⑦.0.0.1',
    '127.0.0.1.',
    // addresses only once their dots are gone
    '127.0.0.1..',
    '127.1..',
    '0x7f.1..',
    '2130706433..',
    '0177.0.0.1...',
    '①②⑦.1..',
    '%30x7f.1..',
    '0..',
    '1.2.3.4.5..',
    '.',
    '0.0.0.0',
    '10.0.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:53aa::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    'localhost',
    'localhost.',
    'api.localhost',
    'a@127.0.0.1',
    'a:b@example.com',
    'a@example.com',
  ])('refuses %s, and nothing there sees a byte', async (host) => {
    let connections = 0
    const { port, server } = await serve((_, response) => response.end(), '::')
    server.on('connection', () => connections++)
    const client = outgoing()
    for (const scheme of ['http', 'https']) {
      const url = new URL(`${scheme}://${host}:${port}/token?code=SECRET`)
      expect(client.allows(url)).toBe(false)
      const error = await refusal(client.send({ url, method: 'POST', body: 'code=SECRET' }))
      expect(error).toMatchObject({ kind: 'host_not_allowed', requestSent: false })
      expect(error.message).not.toContain('SECRET')
    }
    expect(connections).toBe(0)
  })

  test.each([
    'http://example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:,x',
    'not a url',
  ])('refuses the scheme of %s', async (url) => {
    const lookup = resolver('93.184.216.34')
    const error = await refusal(outgoing([], { lookup }).send({ url }))
    expect(error).toMatchObject({ kind: 'host_not_allowed', requestSent: false })
    expect(lookup.calls).toEqual([])
  })

  test.each([
    ['loopback', ['127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['a metadata service', ['169.254.169.254']],
    ['one public and one private address', ['93.184.216.34', '127.0.0.1']],
    ['a scoped address', ['fe80::1%lo']],
    ['nothing', []],
  ])('refuses a name that resolves to %s', async (_, addresses) => {
    let connections = 0
    const { port, server } = await serve((_, response) => response.end(), '::')
    server.on('connection', () => connections++)
    const client = outgoing([], { lookup: resolver(...addresses) })
    const url = new URL(`https://rebind.example:${port}/`)
    expect(client.allows(url)).toBe(true)
    expect(await refusal(client.send({ url }))).toMatchObject({
      kind: 'host_not_allowed',
      requestSent: false,
    })
    expect(connections).toBe(0)
  })

  test('looks a name up once and dials what was checked', async () => {
    const { port } = await serve((request, response) => response.end(request.headers.host))
    const lookup = resolver('127.0.0.1')
    const client = outgoing(['127.0.0.0/8'], { lookup })
    const answer = await client.send({ url: `http://worker.internal.:${port}/` })
    expect(Buffer.from(answer.body).toString()).toBe(`worker.internal:${port}`)
    expect(lookup.calls).toEqual(['worker.internal'])
  })

  test('connections that are opened at the same time share one look-up, and no later one does', async () => {
    const { port } = await serve((_, response) => response.end())
    const waiting: ((error: Error | null) => void)[] = []
    const client = outgoing(['127.0.0.0/8'], {
      lookup: (_, __, callback) => void waiting.push((error) => callback(error, [HERE])),
    })
    const url = `http://slow.internal:${port}/`
    let failure: Error | null = new Error('no such name')
    const askTwice = async () => {
      const asked = Promise.allSettled([client.send({ url }), client.stream({ url })])
      for (let turn = 0; turn < 10; turn++) await nextTurn()
      const lookups = waiting.splice(0)
      for (const end of lookups) end(failure)
      const answers = await asked
      return { lookups: lookups.length, statuses: answers.map(({ status }) => status) }
    }
    expect(await askTwice()).toEqual({ lookups: 1, statuses: ['rejected', 'rejected'] })
    failure = null
    expect(await askTwice()).toEqual({ lookups: 1, statuses: ['fulfilled', 'fulfilled'] })
  })

  test('a range lets http reach its own addresses only', async () => {
    const client = outgoing(['10.0.0.0/8'], { lookup: resolver('93.184.216.34') })
    expect(client.allows(new URL('http://10.1.2.3:8000/'))).toBe(true)
    expect(client.allows(new URL('http://93.184.216.34/'))).toBe(false)
    expect(await refusal(client.send({ url: 'http://example.com/' }))).toMatchObject({
      kind: 'host_not_allowed',
    })
  })

  test('an allowed host is allowed on the port it was allowed on', async () => {
    const { port } = await serve((_, response) => response.end('here'))
    const client = outgoing([`127.0.0.1:${port}`, 'internal.example', '[::1]:8443'])
    expect((await client.send({ url: `http://127.0.0.1:${port}/` })).status).toBe(200)
    expect(client.allows(new URL(`http://127.0.0.1:${port + 1}/`))).toBe(false)
    expect(client.allows(new URL('http://internal.example:1234/'))).toBe(true)
    expect(client.allows(new URL('http://INTERNAL.example./'))).toBe(true)
    expect(client.allows(new URL('http://a@internal.example/'))).toBe(false)
    expect(client.allows(new URL('http://[::1]:8443/'))).toBe(true)
    expect(client.allows(new URL('http://[::1]:8444/'))).toBe(false)
  })

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  test.each([
    ['localhost', { kind: 'host', hostname: 'localhost' }],
    ['Auth.Example.:8443', { kind: 'host', hostname: 'auth.example', port: 8443 }],
    ['127.1:80', { kind: 'host', hostname: '127.0.0.1', port: 80 }],
    ['::1', { kind: 'host', hostname: '::1' }],
    ['[fd00::5]:80', { kind: 'host', hostname: 'fd00::5', port: 80 }],
    ['10.0.0.0/8', { kind: 'range', family: 'ipv4', network: '10.0.0.0', prefix: 8 }],
    ['fd00::/8', { kind: 'range', family: 'ipv6', network: 'fd00::', prefix: 8 }],
    ['', undefined],
    ['*', undefined],
    ['*.example.com', undefined],
    ['http://localhost', undefined],
    ['localhost/x', undefined],
    ['a@b', undefined],
    ['localhost:0', undefined],
    ['localhost:99999', undefined],
    ['10.0.0.0/33', undefined],
    ['fd00::/129', undefined],
    ['example.com/8', undefined],
  ])('reads the allowed host %j', (text, expected) => {
    expect(parseAllowedHost(text)).toEqual(expected)
  })
})

describe('answers', () => {
  test('gives status, headers and body, and asks for no compression', async () => {
    const { port } = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        response.writeHead(400, { 'X-Two': ['a', 'b'] })
        response.end(
          `${request.method} ${request.headers['accept-encoding']} ${request.headers.host} ${body}`,
        )
      })
    })
    const answer = await outgoing(['127.0.0.1']).send({
      url: `http://127.0.0.1:${port}/`,
      method: 'POST',
      headers: { 'Accept-Encoding': 'gzip', Host: 'other.example' },
      body: 'x=1',
    })
    expect(answer).toMatchObject({ status: 400, headers: { 'x-two': 'a, b' } })
    expect(Buffer.from(answer.body).toString()).toBe(`POST identity 127.0.0.1:${port} x=1`)
  })

  test('never follows a redirect', async () => {
    const seen: unknown[] = []
    const { port } = await serve((request, response) => {
      seen.push(request.url)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const error = await refusal(
      outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/a?b=SECRET`, method: 'POST', body: 'c' }),
    )
    expect(error).toMatchObject({ kind: 'redirected', requestSent: true })
    expect(error.message).not.toContain('SECRET')
    expect(seen).toEqual(['/a?b=SECRET'])
  })

  test.each<[string, RequestListener]>([
    [
      'an announced huge body',
      (_, response) => response.writeHead(200, { 'content-length': 300e6 }).write('x'),
    ],
    [
      'an endless body',
      (_, response) => {
        const chunk = Buffer.alloc(65_536)
        const more = () => {
          if (!response.destroyed) response.write(chunk, () => setImmediate(more))
        }
        more()
      },
    ],
    [
      'a gzip bomb',
      (_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50e6))),
    ],
    ['huge headers', (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end()],
  ])('stops at %s', async (_, listener) => {
    const { port } = await serve(listener)
    const error = await refusal(outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/` }))
    expect(error).toMatchObject({ kind: 'too_large', requestSent: true })
  })

  test('reads a small gzip body that came unasked', async () => {
    const { port } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}')),
    )
    const answer = await outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/` })
    expect(Buffer.from(answer.body).toString()).toBe('{"a":1}')
    expect(answer.headers['content-encoding']).toBeUndefined()
  })
})

describe('time', () => {
  // the deadline passes when the server says so, however long the machine takes to send the request
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  const DEADLINE_MS = 500
  test.each<[string, RequestListener]>([
    ['never answers', () => vi.advanceTimersByTime(DEADLINE_MS)],
    [
      'drips',
      (_, response) => {
        response.writeHead(200)
        const drip = setInterval(() => {
          response.write(' ')
          vi.advanceTimersByTime(DEADLINE_MS / 5)
        }, 20)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('a server that %s meets the total deadline', async (_, listener) => {
    const { port } = await serve(listener)
    const sent = outgoing(['127.0.0.1']).send({
      url: `http://127.0.0.1:${port}/`,
      deadlineMs: DEADLINE_MS,
    })
    expect(await refusal(sent)).toMatchObject({ kind: 'timeout', requestSent: true })
  })

  test('a slow look-up meets it too, with nothing sent', async () => {
    const client = outgoing([], { lookup: () => vi.advanceTimersByTime(50) })
    const error = await refusal(client.send({ url: 'https://example.com/', deadlineMs: 50 }))
    expect(error).toMatchObject({ kind: 'timeout', requestSent: false })
  })

  test('a request that waits for a free connection is not sent after its deadline', async () => {
    const seen: unknown[] = []
    const { opened, open } = gate()
    const { port } = await serve(async (request, response) => {
      seen.push(request.url)
      await opened
      response.end()
    })
    const client = outgoing(['127.0.0.1'], { maxConnectionsPerHost: 1 })
    const first = client.send({ url: `http://127.0.0.1:${port}/1` })
    const second = refusal(client.send({ url: `http://127.0.0.1:${port}/2`, deadlineMs: 50 }))
    await until(() => seen.length === 1)
    vi.advanceTimersByTime(50)
    expect(await second).toMatchObject({ kind: 'timeout', requestSent: false })
    open()
    await first
    await client.send({ url: `http://127.0.0.1:${port}/3` })
    expect(seen).toEqual(['/1', '/3'])
  })

  test('the caller may give up', async () => {
    const gone = new AbortController()
    const { port } = await serve(() => gone.abort())
    const send = (signal: AbortSignal) =>
      outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/`, signal })
    expect(await refusal(send(AbortSignal.abort()))).toMatchObject({ kind: 'timeout', requestSent: false })
    expect(await refusal(send(gone.signal))).toMatchObject({ kind: 'timeout', requestSent: true })
  })
})

describe('connections', () => {
  test('a refused connection is known to have sent nothing', async () => {
    const port = await freePort()
    const error = await refusal(outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/` }))
    expect(error).toMatchObject({ kind: 'unreachable', requestSent: false })
    expect(error.message).toContain('ECONNREFUSED')
  })

  test('a connection that breaks after the request is not', async () => {
    const { port } = await serve((request) => request.socket.destroy())
    const error = await refusal(
      outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/`, method: 'POST', body: 'x' }),
    )
    expect(error).toMatchObject({ kind: 'unreachable', requestSent: true })
  })

  test('what is no HTTP is unreachable, and its text stays out of the error', async () => {
    const server = createTcpServer((socket) => socket.end('SECRET nonsense\r\n\r\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const error = await refusal(outgoing(['127.0.0.1']).send({ url: `http://127.0.0.1:${port}/` }))
    expect(error.kind).toBe('unreachable')
    expect(JSON.stringify({ ...error, message: error.message, cause: error.cause })).not.toContain('SECRET')
  })

  test('are kept alive and bounded per host', async () => {
    const { port, server } = await serve((_, response) => setTimeout(() => response.end(), 5))
    let connections = 0
    server.on('connection', () => connections++)
    const client = outgoing(['127.0.0.1'], { maxConnectionsPerHost: 3 })
    await Promise.all(Array.from({ length: 30 }, () => client.send({ url: `http://127.0.0.1:${port}/` })))
    expect(connections).toBe(3)
  })

  test('only so many requests wait for one host, and others are told at once', async () => {
    const answers: (() => void)[] = []
    const { port } = await serve((_, response) => void answers.push(() => response.end()))
    const client = outgoing(['127.0.0.1'], { maxConnectionsPerHost: 2, maxWaitingPerHost: 3 })
    const send = (host: string, signal?: AbortSignal) =>
      client.send({ url: `http://${host}:${port}/`, ...(signal && { signal }) })
    const givesUp = new AbortController()
    const [first, ...others] = [
      send('127.0.0.1', givesUp.signal),
      ...Array.from({ length: 4 }, () => send('127.0.0.1')),
    ]
    const error = await refusal(send('127.0.0.1'))
    expect(error).toMatchObject({ kind: 'busy', requestSent: false })
    expect(error.message).toBe(`127.0.0.1:${port} has too many requests waiting for it already.`)
    // who gives up makes room, and the next one's turn comes
    await expect.poll(() => answers.length).toBe(2)
    givesUp.abort()
    expect(await refusal(first ?? Promise.resolve())).toMatchObject({ kind: 'timeout', requestSent: true })
    await expect.poll(() => answers.length).toBe(3)
    const last = send('127.0.0.1')
    const serving = setInterval(() => answers.splice(0).forEach((answer) => void answer()), 5)
    cleanups.push(() => clearInterval(serving))
    expect((await Promise.all([...others, last])).map(({ status }) => status)).toEqual(Array(5).fill(200))
  })

  test('a turn ends however its request does', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { port } = await serve((request, response) => {
      if (request.url === '/redirect') response.writeHead(302, { location: '/' }).end()
      else if (request.url === '/break') request.socket.destroy()
      else if (request.url === '/long') response.end('x'.repeat(2000))
      else if (request.url === '/never') vi.advanceTimersByTime(500)
      else response.end()
    })
    const client = outgoing(['127.0.0.1'], { maxConnectionsPerHost: 1, maxWaitingPerHost: 0 })
    const url = `http://127.0.0.1:${port}`
    const ends: [OutgoingRequest, string][] = [
      [{ url: `${url}/redirect` }, 'redirected'],
      [{ url: `${url}/break` }, 'unreachable'],
      [{ url: `${url}/long`, maxBytes: 1000 }, 'too_large'],
      // while its connection is being opened, a request that is given up keeps its turn
      [{ url: `${url}/never`, deadlineMs: 500 }, 'timeout'],
      [{ url, headers: { a: '\r\n' } }, 'unreachable'],
      [{ url, signal: AbortSignal.abort() }, 'timeout'],
    ]
    for (const [request, kind] of [...ends, ...ends]) {
      expect(await refusal(client.send(request))).toMatchObject({ kind })
      await new Promise(setImmediate)
    }
    expect((await client.send({ url })).status).toBe(200)
  })

  test('a header that would inject another is refused', async () => {
    const { port } = await serve((_, response) => response.end())
    const error = await refusal(
      outgoing(['127.0.0.1']).send({
        url: `http://127.0.0.1:${port}/`,
        headers: { authorization: 'Bearer SECRET\r\nX: y' },
      }),
    )
    expect(error).toMatchObject({ kind: 'unreachable', requestSent: false })
    expect(error.message).not.toContain('SECRET')
  })
})

test('a caller that gives up', async () => {
  const { port } = await serve((_, response) => response.end())
  const request = { url: `http://127.0.0.1:${port}/`, signal: AbortSignal.abort() }
  expect(await refusal(outgoing(['127.0.0.1']).send(request))).toMatchObject({ kind: 'timeout' })
})
