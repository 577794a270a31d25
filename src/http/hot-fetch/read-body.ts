import type { IncomingMessage } from 'node:http'

const NOTHING = Buffer.alloc(0)

/**
 * Reads the body of a request whose headers have arrived in this tick. Calls `done` with the body, or with `undefined`
 * when the connection closes before the body is complete.
 */
export function readBody(incoming: IncomingMessage, done: (body: Buffer | undefined) => void): void {
  // a small body arrives with the headers, so in the next tick it can be read without listeners
  process.nextTick(() => {
    if (incoming.complete) done(incoming.read() ?? NOTHING)
    else readParts(incoming, done)
  })
}

function readParts(incoming: IncomingMessage, done: (body: Buffer | undefined) => void): void {
  const parts: Buffer[] = []
  let isDone = false
  const finish = (body: Buffer | undefined) => {
    if (isDone) return
    isDone = true
    done(body)
  }
  if (incoming.destroyed) finish(undefined)
  else {
    incoming.on('data', (part) => parts.push(part))
    incoming.once('end', () => finish(Buffer.concat(parts)))
    incoming.once('close', () => finish(undefined))
  }
}
