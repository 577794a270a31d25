import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Bytes that are written to a connection, and what is expected of it. */
export interface RawExchange {
  /** Written one after the other, each in a turn of its own. */
  readonly pieces: readonly Buffer[]
  /** How many answers are read, at most. 0: the client ends the connection as soon as all is written. */
  readonly answers: number
  /** Whether the answers have no body, as those to HEAD. */
  readonly isHead?: boolean
}

export interface RawResponse {
  /** The first line. */
  readonly status: string
  /** In lower case and sorted; without `date`. */
  readonly headers: readonly string[]
  readonly body: string
}

/** Sends the bytes on a connection of its own. Returns fewer answers than expected if the server closes it. */
export async function exchange(
  port: number,
  { pieces, answers, isHead = false }: RawExchange,
): Promise<readonly RawResponse[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {}) // the server may close while the rest of a request is written
  let received: Buffer = Buffer.alloc(0)
  const found: RawResponse[] = []
  const enough = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      for (let next = readOne(received, isHead); next !== undefined; next = readOne(received, isHead)) {
        received = received.subarray(next.length)
        if (!/ 1\d\d /.test(next.response.status)) found.push(next.response)
      }
      if (answers > 0 && found.length >= answers) resolve()
    })
  })
  await once(socket, 'connect').catch(() => {})
  for (const piece of pieces) {
    socket.write(piece)
    await nextTurn()
  }
  if (answers === 0) socket.end()
  await Promise.race([enough, closed])
  socket.destroy()
  await closed
  if (received.length > 0) found.push(...untilClosed(received))
  return found
}

function readOne(bytes: Buffer, isHead: boolean): { response: RawResponse; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [status = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = lines.map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()))
  const kept = headers.filter((line) => !line.startsWith('date:')).sort()
  const start = end + 4
  const isEmpty = isHead || / (1\d\d|204|304) /.test(status)
  const done = (length: number, body: string) => ({
    response: { status, headers: kept, body },
    length: start + length,
  })
  if (isEmpty) return done(0, '')
  const length = headers.find((line) => line.startsWith('content-length:'))?.split(':')[1]
  if (length !== undefined) {
    const size = Number(length)
    if (bytes.length < start + size) return undefined
    return done(size, bytes.subarray(start, start + size).toString())
  }
  if (headers.includes('transfer-encoding: chunked')) {
    const last = bytes.indexOf('0\r\n\r\n', start)
    if (last === -1) return undefined
    return done(last + 5 - start, bytes.subarray(start, last).toString())
  }
  return undefined
}

/** An answer without a length, which ends with the connection. */
function untilClosed(bytes: Buffer): readonly RawResponse[] {
  const [head = '', ...rest] = bytes.toString('latin1').split('\r\n\r\n')
  const [status = '', ...headers] = head.toLowerCase().split('\r\n')
  const kept = headers.filter((line) => !line.startsWith('date:')).sort()
  return [{ status, headers: kept, body: rest.join('\r\n\r\n') }]
}
