import { createConnection, type Socket } from 'node:net'

/** An answer, as far as a load generator looks at it. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** One keep-alive HTTP/1.1 connection with at most one request under way. */
export interface RawConnection {
  send(request: Buffer): Promise<RawAnswer>
  close(): void
}

/**
 * A client on bare sockets, so that the load generator costs less than what it measures; it reads only answers that
 * carry a `content-length` or, undecoded, chunked ones.
 */
export async function connect(port: number): Promise<RawConnection> {
  const socket: Socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received: Buffer | undefined
  let waiting: { resolve: (answer: RawAnswer) => void; reject: (error: Error) => void } | undefined

  socket.on('data', (chunk: Buffer) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk])
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = received.toString('latin1', 0, headEnd)
    const chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    if (chunked && !received.subarray(-5).equals(LAST_CHUNK)) return
    const length = chunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
    if (Number.isNaN(length)) return void socket.destroy(new Error(`an answer without a length: ${head}`))
    if (received.length < headEnd + 4 + length) return
    const body = received.subarray(headEnd + 4)
    received = undefined
    const answered = waiting
    waiting = undefined
    answered?.resolve({ status: Number(head.slice(9, 12)), head, body })
  })
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')))

  return {
    send(request) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request)
      })
    },
    close() {
      waiting = undefined
      socket.destroy()
    },
  }
}

export async function connectMany(port: number, count: number): Promise<RawConnection[]> {
  const connections: RawConnection[] = []
  // in batches that fit the listen backlog
  while (connections.length < count)
    connections.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(200, count - connections.length) }, () => connect(port)),
      )),
    )
  return connections
}

export interface RawRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
}

export function rawRequest(port: number, { method, path, headers = {}, body }: RawRequest): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'accept: application/json',
    'user-agent: gatepass-bench',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`)
}
