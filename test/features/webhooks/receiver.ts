import type { IncomingMessage, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { AnyJson } from '../../any-json.ts'
import { type Loopback, listen, record } from '../../loopback.ts'

/** An event that a receiver was sent, with its verified body. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly data: AnyJson
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** When it arrived, in milliseconds. */
  readonly at: number
}

export interface Receiver extends Loopback {
  /** The events that were answered 2xx, in the order of their arrival. */
  readonly taken: readonly ReceivedEvent[]
  /** All events, also the refused ones. */
  readonly asked: readonly ReceivedEvent[]
  /** The bodies of requests with a wrong signature. */
  readonly forged: readonly string[]
  secret: string
  /** The status of the answer to an event; default: 204. Without an end of its promise the request hangs. */
  answer: (event: ReceivedEvent) => number | Promise<number>
  /** Headers of its answers. */
  headers: Readonly<Record<string, string>>
  /** How many seconds its clock is ahead of the machine's, when a test has moved the clock of the sender. */
  ahead: () => number
}

/** A receiver of webhooks that verifies each request with the package `standardwebhooks`. */
export async function startReceiver(): Promise<Receiver> {
  const [taken, asked, forged] = [[], [], []] as [ReceivedEvent[], ReceivedEvent[], string[]]
  const loopback = await listen(async (req, res) => {
    const { headers, body } = await record(req)
    const event = verified(headers, body)
    if (event === undefined) {
      forged.push(body)
      return void res.writeHead(400).end()
    }
    asked.push(event)
    const status = await receiver.answer(event)
    if (status >= 200 && status <= 299) taken.push(event)
    reply(res, status)
  })

  /** Moves `Date.now`, the only clock of the package, while it verifies. */
  function withClock<T>(verify: () => T): T {
    const { now } = Date
    Date.now = () => now() + receiver.ahead() * 1000
    try {
      return verify()
    } finally {
      Date.now = now
    }
  }

  function verified(headers: IncomingMessage['headers'], body: string): ReceivedEvent | undefined {
    try {
      const webhook = new Webhook(receiver.secret)
      const event = withClock(() => webhook.verify(body, headers as Record<string, string>)) as AnyJson
      const id = String(headers['webhook-id'])
      return { id, type: event.type, data: event.data, headers, body, at: Date.now() }
    } catch {
      return undefined
    }
  }

  function reply(res: ServerResponse, status: number): void {
    res.writeHead(status, receiver.headers).end(status === 204 ? undefined : 'This text is not kept.')
  }

  const receiver: Receiver = {
    ...loopback,
    taken,
    asked,
    forged,
    secret: '',
    answer: () => 204,
    headers: {},
    ahead: () => 0,
  }
  return receiver
}
