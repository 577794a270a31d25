import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createOutgoing, OutgoingError, type OutgoingOptions } from '../../src/egress/outgoing.ts'
import { until } from '../until.ts'

const DEADLINE_MS = 1_000
const CAP_BYTES = 256 * 1024
const MIB = 1024 * 1024

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A TCP server that answers a request with any bytes, and counts its open connections. */
async function raw(answer: (socket: Socket, request: string) => unknown) {
  const open = new Set<Socket>()
  const state = { port: 0, open, requests: [] as string[], written: 0, accepted: 0 }
  const server = createServer((socket) => {
    state.accepted++
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    socket.on('data', (bytes) => {
      const request = bytes.toString('latin1')
      state.requests.push(request)
      answer(socket, request)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  state.port = (server.address() as AddressInfo).port // a TCP server that listens has one
  cleanups.push(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return state
}

function client(options: Partial<OutgoingOptions> = {}) {
  const outgoing = createOutgoing({ allowedHosts: ['127.0.0.1'], ...options })
  cleanups.push(() => outgoing.close())
  return outgoing
}

/** Servers write in real time, also while the deadlines of the client pass by a clock of the test. */
const { setTimeout: later } = globalThis

/** Writes the text again and again, as fast as the other side reads or at intervals, until the socket is closed. */
function pour(socket: Socket, text: string, everyMs?: number): void {
  if (socket.destroyed) return
  if (everyMs !== undefined) socket.write(text, () => later(() => pour(socket, text, everyMs), everyMs))
  else if (socket.write(text)) setImmediate(() => pour(socket, text))
  else socket.once('drain', () => pour(socket, text))
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`

describe('threat 16: slow drip, never answers: the deadline is that of the whole exchange', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  /** Lets the deadline pass in steps, between which a server that drips has the time to write. */
  async function passDeadline(): Promise<void> {
    for (let step = 0; step < 10; step++) {
      await sleep(20)
      vi.advanceTimersByTime(DEADLINE_MS / 10)
    }
  }

  test.each<[string, (socket: Socket) => unknown]>([
    ['says nothing', () => {}],
    [
      'drips the status line',
      (socket) => drip(socket, `HTTP/1.1 200 OK ${'and a very long reason phrase it is '.repeat(5)}`),
    ],
    ['drips headers', (socket) => socket.write('HTTP/1.1 200 OK\r\n', () => pour(socket, 'x: y\r\n', 5))],
    ['begins a header and stops', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-ty')],
    ['sends hints for ever', (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 5)],
    [
      'drips a body of a known length',
      (socket) => socket.write(`${HEAD}content-length: 9999\r\n\r\n`, () => pour(socket, ' ', 5)),
    ],
    ['drips a body without a length', (socket) => socket.write(`${HEAD}\r\n`, () => pour(socket, ' ', 5))],
    ['drips chunks', (socket) => socket.write(CHUNKED, () => pour(socket, '1\r\n \r\n', 5))],
    ['drips one chunk extension', (socket) => socket.write(`${CHUNKED}5;a=`, () => pour(socket, 'a', 5))],
    [
      'pours one chunk extension',
      (socket) => socket.write(`${CHUNKED}5;a=`, () => pour(socket, 'a'.repeat(65_536))),
    ],
    ['drips a chunk size', (socket) => socket.write(CHUNKED, () => pour(socket, '0', 5))],
    [
      'drips trailers',
      (socket) => socket.write(`${CHUNKED}2\r\n{}\r\n0\r\n`, () => pour(socket, 'x: y\r\n', 5)),
    ],
    ['never ends the last chunk', (socket) => socket.write(`${CHUNKED}2\r\n{}\r\n0\r\n`)],
    ['has a body that is one byte short', (socket) => socket.write(`${HEAD}content-length: 3\r\n\r\n{}`)],
  ])('a server that %s', async (_, answer) => {
    const server = await raw(answer)
    const before = process.memoryUsage().rss
    const sent = client()
      .send({ url: `http://127.0.0.1:${server.port}/`, deadlineMs: DEADLINE_MS })
      .catch((thrown: unknown) => thrown)
    await until(() => server.requests.length > 0)
    await passDeadline()
    const error = await sent
    expect(error).toBeInstanceOf(OutgoingError)
    expect(error).toMatchObject({ requestSent: true })
    expect(['timeout', 'too_large', 'unreachable']).toContain((error as OutgoingError).kind)
    await expect.poll(() => server.open.size, { interval: 5 }).toBe(0)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB)
  })

  test('a TLS handshake that never ends, with nothing sent', async () => {
    const server = await raw(() => {})
    const sent = client()
      .send({ url: `https://127.0.0.1:${server.port}/`, deadlineMs: DEADLINE_MS })
      .catch((thrown: unknown) => thrown)
    await until(() => server.requests.length > 0) // the first message of the handshake
    vi.advanceTimersByTime(DEADLINE_MS)
    expect(await sent).toMatchObject({ kind: 'timeout', requestSent: false })
    expect(server.requests.join()).not.toContain('HTTP')
  })

  test('a connection that is never accepted', async () => {
    const sent = client({ lookup: () => vi.advanceTimersByTime(DEADLINE_MS) }).send({
      url: 'https://public.example/',
      deadlineMs: DEADLINE_MS,
    })
    await expect(sent).rejects.toMatchObject({ kind: 'timeout', requestSent: false })
  })
})

function drip(socket: Socket, text: string): void {
  if (text === '' || socket.destroyed) return
  socket.write(text.slice(0, 1), () => later(() => drip(socket, text.slice(1)), 10))
}

const ZEROS = Buffer.alloc(32 * MIB)

function compressed(encoding: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${HEAD}content-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ])
}

describe('threat 15: huge body, compressed bomb: limited after decompression, and the connection is freed', () => {
  test.each<[string, (socket: Socket) => unknown]>([
    [
      'a body that never ends',
      (socket) => socket.write(`${HEAD}\r\n`, () => pour(socket, 'x'.repeat(65_536))),
    ],
    [
      'chunks that never end',
      (socket) => socket.write(CHUNKED, () => pour(socket, `400\r\n${'x'.repeat(1024)}\r\n`)),
    ],
    [
      'headers that never end',
      (socket) => socket.write(HEAD, () => pour(socket, `x-${'y'.repeat(50)}: z\r\n`)),
    ],
    [
      'one header that never ends',
      (socket) => socket.write(`${HEAD}x: `, () => pour(socket, 'y'.repeat(1024))),
    ],
    [
      'trailers that never end',
      (socket) => socket.write(`${CHUNKED}0\r\n`, () => pour(socket, 'x: yyyyyyyyyyyyyyyy\r\n')),
    ],
    ['an announced huge body', (socket) => socket.write(`${HEAD}content-length: 4294967296\r\n\r\n{`)],
    [
      'one byte too many',
      (socket) => socket.write(`${HEAD}content-length: ${CAP_BYTES + 1}\r\n\r\n${' '.repeat(CAP_BYTES + 1)}`),
    ],
    ['a gzip bomb', (socket) => socket.write(compressed('gzip', gzipSync(ZEROS)))],
    [
      'a gzip bomb in many members',
      (socket) =>
        socket.write(compressed('x-gzip', Buffer.concat(Array(128).fill(gzipSync(ZEROS.subarray(0, MIB)))))),
    ],
    ['a deflate bomb', (socket) => socket.write(compressed('deflate', deflateSync(ZEROS)))],
    ['a brotli bomb', (socket) => socket.write(compressed('br', brotliCompressSync(ZEROS)))],
    ['a zstd bomb', (socket) => socket.write(compressed('zstd', zstdCompressSync(ZEROS)))],
    ['an encoding in other letters', (socket) => socket.write(compressed(' GZIP', gzipSync(ZEROS)))],
  ])('%s', async (_, answer) => {
    const server = await raw(answer)
    const before = process.memoryUsage().rss
    const error = await client()
      .send({ url: `http://127.0.0.1:${server.port}/`, deadlineMs: 60_000 })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'OutgoingError', kind: 'too_large', requestSent: true })
    // a connection whose answer was read to the end stays open; others are closed
    await expect.poll(() => [...server.open].filter((socket) => socket.writableLength > 0).length).toBe(0)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB)
    expect(server.requests[0]).toMatch(/\r\naccept-encoding: identity\r\n/i)
  })

  test.each<[string, Buffer]>([
    ['gzip, gzip', gzipSync(gzipSync(ZEROS))],
    ['gzip, br', brotliCompressSync(gzipSync(ZEROS))],
    ['deflate', deflateRawSync(ZEROS.subarray(0, 100))],
    ['gzip', gzipSync('{}').subarray(0, 15)],
    ['gzip', Buffer.from('{"access_token":"x"}')],
    ['compress', Buffer.from('{"access_token":"x"}')],
    // claims a window of 128 MiB for one byte
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x88, 0x09, 0, 0, 0x7b])],
  ])('a body that cannot be decompressed is returned as it was received: %s', async (encoding, body) => {
    const server = await raw((socket) => socket.write(compressed(encoding, body)))
    const answer = await client().send({ url: `http://127.0.0.1:${server.port}/` })
    expect(answer.headers['content-encoding']).toBe(encoding)
    expect(Buffer.from(answer.body).equals(body)).toBe(true)
  })

  test.each<[string, Buffer]>([
    ['gzip', gzipSync('{"a":1}')],
    ['deflate', deflateSync('{"a":1}')],
    ['br', brotliCompressSync('{"a":1}')],
    ['zstd', zstdCompressSync('{"a":1}')],
  ])('a small body in %s, which the request did not accept, is read', async (encoding, body) => {
    const server = await raw((socket) => socket.write(compressed(encoding, body)))
    const answer = await client().send({ url: `http://127.0.0.1:${server.port}/` })
    expect(Buffer.from(answer.body).toString()).toBe('{"a":1}')
  })

  test('a body of exactly the cap is read', async () => {
    const server = await raw((socket) =>
      socket.write(`${HEAD}content-length: ${CAP_BYTES}\r\n\r\n${' '.repeat(CAP_BYTES)}`),
    )
    const answer = await client().send({ url: `http://127.0.0.1:${server.port}/` })
    expect(answer.body.length).toBe(CAP_BYTES)
  })
})

describe('threat 16: connections are bounded and freed', () => {
  test('a host has 64 at once, a thousand requests wait for them, and one more is refused as busy', async () => {
    const server = await raw(() => {}) // never answers
    const outgoing = client({})
    const url = `http://127.0.0.1:${server.port}/`
    const ended = Array.from({ length: 64 + 1024 }, () => outgoing.send({ url }).catch(() => {}))
    await expect.poll(() => server.open.size).toBe(64)
    await expect(outgoing.send({ url })).rejects.toMatchObject({ kind: 'busy' })
    expect(server.open.size).toBe(64)
    await outgoing.close()
    await Promise.all(ended)
  })

  test('after every kind of broken answer no connection is left open, and the next request is answered', async () => {
    const OK = `${HEAD}content-length: 2\r\n\r\n{}`
    const wrongs: Record<string, (socket: Socket) => unknown> = {
      never: () => {},
      drip: (socket) => socket.write(CHUNKED, () => pour(socket, '1\r\n \r\n', 5)),
      pour: (socket) => socket.write(`${HEAD}\r\n`, () => pour(socket, 'x'.repeat(65_536))),
      redirect: (socket) => socket.write('HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
      reset: (socket) => socket.resetAndDestroy(),
      end: (socket) => socket.end(),
      cut: (socket) => socket.end(`${HEAD}content-length: 20\r\n\r\n{"a":`),
      nonsense: (socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n'),
      upgrade: (socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello'),
      negative: (socket) => socket.write(`${HEAD}content-length: -1\r\n\r\n{}`),
      both: (socket) => socket.write(`${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`),
      headers: (socket) => socket.write(`${HEAD}x: ${'y'.repeat(100_000)}\r\n\r\n`),
      keep: (socket) => socket.write(`${HEAD}keep-alive: timeout=999999\r\ncontent-length: 2\r\n\r\n{}`),
    }
    const server = await raw((socket, request) => {
      const path = /^\w+ \/(\w*)/.exec(request)?.[1] ?? ''
      return (wrongs[path] ?? (() => socket.write(OK)))(socket)
    })
    const outgoing = client({ maxConnectionsPerHost: 4, maxWaitingPerHost: 1000 })
    const url = `http://127.0.0.1:${server.port}`
    const paths = Object.keys(wrongs)
    const all = Array.from({ length: 104 }, (_, i) =>
      outgoing
        .send({ url: `${url}/${paths[i % paths.length]}`, deadlineMs: 100 + (i % 50) })
        .catch((error: unknown) => expect(error).toBeInstanceOf(OutgoingError)),
    )
    let most = 0
    const looking = setInterval(() => {
      most = Math.max(most, server.open.size)
    }, 5)
    await Promise.all(all)
    clearInterval(looking)
    expect(most).toBeLessThanOrEqual(8) // 4, and those just closed
    expect((await outgoing.send({ url, deadlineMs: 60_000 })).status).toBe(200)
    // some may be kept open for the next request, but none with a broken answer
    await expect.poll(() => server.open.size).toBeLessThanOrEqual(4)
    await outgoing.close()
    await expect.poll(() => server.open.size).toBe(0)
  })

  test.each([0, 30])(
    'an answer without a request is not taken as the answer to the next request (%d ms later)',
    async (ms) => {
      const answerWith = (body: string) => `${HEAD}content-length: ${body.length}\r\n\r\n${body}`
      let isSent: Promise<unknown> = Promise.resolve()
      const server = await raw((socket, request) => {
        const mine = /^GET \/(\w+)/.exec(request)?.[1] ?? ''
        if (ms === 0) return socket.write(answerWith(mine) + answerWith('another'))
        isSent = sleep(ms / 2).then(() => socket.write(answerWith('another')))
        return socket.write(answerWith(mine))
      })
      const outgoing = client({ maxConnectionsPerHost: 1 })
      for (const path of ['first', 'second', 'third']) {
        const answer = await outgoing
          .send({ url: `http://127.0.0.1:${server.port}/${path}` })
          .catch(() => undefined)
        if (answer !== undefined) expect(Buffer.from(answer.body).toString()).toBe(path)
        // the next request is not sent before the client could read it
        await isSent
        await sleep(ms)
      }
      expect(server.requests.map((request) => request.split(' ')[1])).toEqual(['/first', '/second', '/third'])
    },
  )
})
