import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createOutgoing,
  type Outgoing,
  OutgoingError,
  type OutgoingOptions,
  type OutgoingStreamRequest,
} from '../../src/egress/outgoing.ts'
import { toFetch } from '../../src/egress/outgoing-fetch.ts'
import { until } from '../until.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function outgoing(options: Partial<OutgoingOptions> = {}): Outgoing {
  const client = createOutgoing({ allowedHosts: ['127.0.0.1'], ...options })
  cleanups.push(() => client.close())
  return client
}

async function refusal(sent: Promise<unknown>): Promise<OutgoingError> {
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OutgoingError)
  return error as OutgoingError
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(body).text()
}

/** Writes as long as the other side takes it, and says how much that was. */
function endless(response: ServerResponse): { written: () => number } {
  const chunk = Buffer.alloc(16_384, 'x')
  let written = 0
  const more = () => {
    while (!response.destroyed) {
      written += chunk.length
      if (!response.write(chunk)) return void response.once('drain', more)
    }
  }
  more()
  return { written: () => written }
}

/** Until the number stays the same for a while. */
async function settled(read: () => number): Promise<number> {
  for (let before = -1; before !== read(); ) {
    before = read()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return read()
}

describe('an answer', () => {
  test('comes piece by piece, the head at once', async () => {
    const { promise: asked, resolve: seen } = Promise.withResolvers<ServerResponse>()
    const url = await serve((request, response) => {
      response.writeHead(201, { 'x-coding': request.headers['accept-encoding'] })
      response.flushHeaders()
      seen(response)
    })
    const { status, headers, body } = await outgoing().stream({ url })
    expect([status, headers['x-coding']]).toEqual([201, 'identity'])
    const response = await asked
    const reader = body.getReader()
    for (const piece of ['one', 'two']) {
      response.write(piece)
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(piece)
    }
    response.end()
    expect((await reader.read()).done).toBe(true)
  })

  test('is handed out with the coding that was asked for', async () => {
    const url = await serve((request, response) =>
      response
        .writeHead(200, { 'content-encoding': String(request.headers['accept-encoding']) })
        .end(gzipSync('{"a":1}')),
    )
    const { headers, body } = await outgoing().stream({ url, acceptEncoding: 'gzip' })
    expect(headers['content-encoding']).toBe('gzip')
    expect(Buffer.from(await new Response(body).arrayBuffer())).toEqual(gzipSync('{"a":1}'))
  })

  test('is not read further than its reader reads', async () => {
    let written = () => 0
    const url = await serve((_, response) => {
      written = endless(response).written
    })
    const { body } = await outgoing().stream({ url })
    const before = await settled(() => written())
    expect(before).toBeLessThan(32 * 2 ** 20) // the sockets' buffers
    const reader = body.getReader()
    for (let read = 0; read < before + 2 ** 20; ) read += (await reader.read()).value?.length ?? 0
    expect(await settled(() => written())).toBeGreaterThan(before)
    await reader.cancel()
  })

  test('in pieces of a byte each is handed on in pieces that are worth it', async () => {
    const pieces = 100_000
    const url = await serve(({ socket }) => {
      const block = '1\r\nx\r\n'.repeat(pieces)
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${block}0\r\n\r\n`)
    })
    const { body } = await outgoing().stream({ url })
    const sizes: number[] = []
    for await (const piece of body) sizes.push(piece.length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(pieces)
    expect(sizes.length).toBeLessThan(pieces / 100)
  })

  test.each<[string, Partial<OutgoingStreamRequest>, RequestListener, string]>([
    ['a redirect', {}, (_, response) => response.writeHead(302, { location: '/' }).end(), 'redirected'],
    ['no head in time', { deadlineMs: 500 }, () => vi.advanceTimersByTime(500), 'timeout'],
    [
      'more announced than is read',
      { maxBytes: 10 },
      (_, response) => response.writeHead(200, { 'content-length': 11 }).write('x'),
      'too_large',
    ],
    ['a connection that breaks', {}, (request) => request.socket.destroy(), 'unreachable'],
  ])('%s is an error', async (_, request, listener, kind) => {
    // the deadline passes when the server says so, however long the machine takes to send the request
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const client = outgoing({ maxConnectionsPerHost: 1, maxWaitingPerHost: 0 })
    const url = await serve((asked, response) =>
      asked.url === '/well' ? response.end('well') : listener(asked, response),
    )
    expect(await refusal(client.stream({ url, ...request }))).toMatchObject({ kind, requestSent: true })
    // and its turn is over
    await new Promise(setImmediate)
    expect(await textOf((await client.stream({ url: `${url}/well` })).body)).toBe('well')
  })

  test('a redirect may be an answer; it is followed in no case', async () => {
    const seen: unknown[] = []
    const url = await serve((request, response) => {
      seen.push(request.url)
      response.writeHead(307, { location: '/elsewhere' }).end('moved')
    })
    const { status, headers, body } = await outgoing().stream({ url, redirects: 'answer' })
    expect([status, headers.location, await textOf(body)]).toEqual([307, '/elsewhere', 'moved'])
    expect(seen).toEqual(['/'])
  })

  test.each<[string, Partial<OutgoingStreamRequest>, (response: ServerResponse) => void, string]>([
    ['grows over its limit', { maxBytes: 100_000 }, (response) => void endless(response), 'too_large'],
    ['falls silent', { idleMs: 50 }, (response) => void response.write('x'), 'timeout'],
    ['breaks off', {}, (response) => void response.write('x', () => response.destroy()), 'unreachable'],
  ])('a body that %s errs', async (_, request, answer, kind) => {
    const url = await serve((_, response) => answer(response.writeHead(200)))
    const { body } = await outgoing().stream({ url, ...request })
    expect(await refusal(textOf(body))).toMatchObject({ kind })
  })

  test('framing that is broken errs, and its text stays out of the error', async () => {
    const server = createTcpServer((socket: Socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nSECRET\r\n'),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const { body } = await outgoing().stream({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    })
    const error = await refusal(textOf(body))
    expect(error.kind).toBe('unreachable')
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain('SECRET')
  })

  test.each(['cancelled', 'aborted'])('a body that is %s frees socket and turn', async (how) => {
    const closed: Promise<unknown>[] = []
    const url = await serve((request, response) => {
      if (request.url === '/well') return void response.end('well')
      closed.push(once(response, 'close'))
      endless(response.writeHead(200))
    })
    const client = outgoing({ maxConnectionsPerHost: 1, maxWaitingPerHost: 1 })
    const gone = new AbortController()
    const { body } = await client.stream({ url, signal: gone.signal })
    const next = client.stream({ url: `${url}/well` })
    if (how === 'cancelled') await body.cancel()
    else {
      gone.abort()
      expect(await refusal(textOf(body))).toMatchObject({ kind: 'timeout' })
    }
    await closed[0]
    expect(await textOf((await next).body)).toBe('well')
  })
})

test('streams that stay open keep no other request waiting', async () => {
  const url = await serve((request, response) => {
    response.write('x')
    if (request.url === '/token') response.end()
  })
  const client = outgoing({ maxConnectionsPerHost: 1, maxWaitingPerHost: 0 })
  const { body } = await client.stream({ url })
  expect((await client.send({ url: `${url}/token` })).status).toBe(200)
  await body.cancel()
})

test('streams of a pool of its own wait for no other stream', async () => {
  const url = await serve((_, response) => response.write('x'))
  const client = outgoing({ maxConnectionsPerHost: 1, maxWaitingPerHost: 0 })
  await client.stream({ url })
  await client.stream({ url, pool: 'webhooks' })
  for (const pool of [{}, { pool: 'webhooks' }])
    expect(await refusal(client.stream({ url, ...pool }))).toMatchObject({ kind: 'busy' })
})

test('a path is sent byte for byte where it is given as such', async () => {
  const url = await serve((request, response) => response.end(request.url))
  const path = `/a//b/../c%2Fd|e"?q='x'&r=<>`
  const { body } = await outgoing().stream({ url: `${url}/else?where`, path })
  expect(await textOf(body)).toBe(path)
})

describe('a request', () => {
  function digesting(request: IncomingMessage, response: ServerResponse) {
    const hash = createHash('sha256')
    let length = 0
    request
      .on('data', (chunk: Buffer) => {
        hash.update(chunk)
        length += chunk.length
      })
      .on('end', () => response.end(`${length} ${hash.digest('hex')}`))
  }

  async function* pieces(count: number) {
    for (let made = 0; made < count; made++) yield Buffer.alloc(65_536, String(made % 10))
  }

  function streamOf(made: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await made.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    })
  }

  test.each([
    ['an iterable', () => pieces(50)],
    ['a stream', () => streamOf(pieces(50))],
  ])('is sent as it is made, from %s', async (_, body) => {
    const url = await serve(digesting)
    const expected = createHash('sha256')
    for await (const piece of pieces(50)) expected.update(piece)
    const answer = await outgoing().stream({ url, method: 'POST', body: body() })
    expect(await textOf(answer.body)).toBe(`${50 * 65_536} ${expected.digest('hex')}`)
  })

  test('is not made faster than the other side reads', async () => {
    let reading: IncomingMessage | undefined
    const url = await serve((request, response) => {
      reading = request.pause()
      request.on('end', () => response.end('whole'))
    })
    let made = 0
    async function* counted() {
      for await (const piece of pieces(1000)) {
        made++
        yield piece
      }
    }
    const sent = outgoing().stream({ url, method: 'PUT', body: counted() })
    expect(await settled(() => made)).toBeLessThan(500)
    reading?.resume()
    expect(await textOf((await sent).body)).toBe('whole')
  })

  test('a body that takes its time meets no deadline while it moves', async () => {
    let received = 0
    const url = await serve((request, response) =>
      request.on('data', () => received++).on('end', () => response.end('whole')),
    )
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    async function* slow() {
      for (let made = 0; made < 8; made++) {
        await until(() => received === made)
        vi.advanceTimersByTime(900)
        yield Buffer.from('x')
      }
    }
    try {
      const sent = outgoing().stream({ url, method: 'POST', body: slow(), deadlineMs: 1_000 })
      expect(await textOf((await sent).body)).toBe('whole')
    } finally {
      vi.useRealTimers()
    }
    expect(received).toBe(8)
  })

  test('what its body throws is thrown, and the other side sees no whole request', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>()
    const url = await serve((request) => void request.on('error', resolve).resume())
    async function* broken() {
      yield Buffer.from('half')
      throw new RangeError('too long')
    }
    const sent = outgoing().stream({ url, method: 'POST', body: broken() })
    await expect(sent).rejects.toThrow(new RangeError('too long'))
    expect(await ended).toMatchObject({ code: 'ECONNRESET' })
  })

  test('an answer that does not wait for the body is read, and the body let go', async () => {
    const url = await serve((_, response) => response.writeHead(413).end('too much'))
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel() {
        cancelled = true
      },
    })
    const answer = await outgoing().stream({ url, method: 'POST', body })
    expect([answer.status, await textOf(answer.body)]).toEqual([413, 'too much'])
    await expect.poll(() => cancelled).toBe(true)
  })

  test('a body is let go when the request cannot be sent', async () => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true
      },
    })
    const client = outgoing()
    const url = await serve(() => {})
    const sent = client.stream({ url, method: 'POST', body, signal: AbortSignal.abort() })
    expect(await refusal(sent)).toMatchObject({ kind: 'timeout', requestSent: false })
    await expect.poll(() => cancelled).toBe(true)
  })
})

describe('the fetch of a library', () => {
  const options = { purpose: 'worker', maxBytes: 1000, deadlineMs: 5000 } as const

  test('sends method, headers and body, and gives a Response', async () => {
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        response.writeHead(202, { 'content-type': 'application/json' })
        response.end(JSON.stringify([request.method, request.headers['x-a'], body]))
      })
    })
    const response = await toFetch(outgoing(), options)(new URL(url), {
      method: 'POST',
      headers: { 'X-A': 'b' },
      body: 'c',
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([202, 'application/json'])
    expect(await response.json()).toEqual(['POST', 'b', 'c'])
  })

  test.each([204, 205, 304])('an answer %d has no body', async (status) => {
    const url = await serve((_, response) => response.writeHead(status).end())
    const fetch = toFetch(outgoing(), options)
    expect(await fetch(url, { redirect: 'manual' })).toMatchObject({ status, body: null })
  })

  test('events come as they are sent', async () => {
    let response: ServerResponse | undefined
    const url = await serve((_, answering) => {
      response = answering.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
    })
    const { body } = await toFetch(outgoing(), options)(url)
    const reader = body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 1\n\n')
    response?.end('data: 2\n\n')
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 2\n\n')
    expect((await reader?.read())?.done).toBe(true)
  })

  test.each([
    ['gzip', gzipSync('plain')],
    ['br', brotliCompressSync('plain')],
    ['unknown', Buffer.from('plain')],
  ])('a body that is compressed unasked by %s is read', async (coding, bytes) => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(bytes),
    )
    expect(await (await toFetch(outgoing(), options)(url)).text()).toBe('plain')
  })

  test('what is too large once it is decompressed errs', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(100_000))),
    )
    const response = await toFetch(outgoing(), options)(url)
    expect(await refusal(response.text())).toMatchObject({ kind: 'too_large' })
  })

  test('its caller who gives up hears the reason', async () => {
    const url = await serve(() => {})
    const gone = new AbortController()
    const asked = toFetch(outgoing(), options)(url, { signal: gone.signal })
    setTimeout(() => gone.abort(new RangeError('enough')), 50)
    await expect(asked).rejects.toThrow(new RangeError('enough'))
  })

  test('a redirect is refused, or answered when the library asks for that', async () => {
    const url = await serve((_, response) => response.writeHead(302, { location: '/x' }).end())
    const fetch = toFetch(outgoing(), options)
    expect(await refusal(fetch(url))).toMatchObject({ kind: 'redirected' })
    expect((await fetch(url, { redirect: 'manual' })).headers.get('location')).toBe('/x')
  })

  test('a status that no Response can have is an error', async () => {
    const server = createTcpServer((socket: Socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 1\r\n\r\nx'))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const asked = toFetch(outgoing(), options)(`http://127.0.0.1:${port}/`)
    expect(await refusal(asked)).toMatchObject({ kind: 'unreachable' })
  })
})
