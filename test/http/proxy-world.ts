import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AnyJson } from '../any-json.ts'
import { type OAuth2, type Scene, type SceneOptions, startScene } from '../flows/fixtures.ts'

/** A Gatepass whose provider `demo` has its API at `api`, a server whose answers the test sets. */
export interface ProxyWorld extends Scene {
  readonly api: Api
  /** Sends a request, by default for `u1`, with the request line unchanged. */
  send(method: string, path: string, options?: SendOptions): Promise<ProxyAnswer>
  /** As `send`, but does not read the body of the answer. */
  open(method: string, path: string, options?: SendOptions): Promise<IncomingMessage>
}

export interface SendOptions {
  readonly user?: string | null
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer | AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
}

export interface ProxyAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: AnyJson
}

export interface Api {
  readonly url: string
  readonly host: string
  /** The requests so far. */
  readonly seen: readonly SeenRequest[]
  /** Answers the next requests; may be replaced at any time. */
  answer: RequestListener
}

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export async function startProxyWorld(options: SceneOptions = {}): Promise<ProxyWorld> {
  const api = await startApi()
  const oauth2: OAuth2 | false = options.oauth2 !== false && {
    api: { base_url: `${api.url}/base` },
    ...options.oauth2,
  }
  const scene = await startScene({ ...options, oauth2 })

  async function open(method: string, path: string, given: SendOptions = {}): Promise<IncomingMessage> {
    const { user = 'u1', key = scene.gatepass.apiKey, headers = {}, body, signal } = given
    const { hostname, port } = new URL(scene.gatepass.url)
    const sent = request({
      hostname,
      port,
      method,
      path,
      agent: false,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(user !== null && { 'x-gatepass-user': user }),
        ...((typeof body === 'string' || Buffer.isBuffer(body)) && {
          'content-length': Buffer.byteLength(body),
        }),
        ...headers,
      },
      ...(signal && { signal }),
    })
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    sent.on('error', () => {}) // `once` rejects with it
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body)
    else void upload(sent, body).catch(() => undefined) // an answer may come before all is sent
    const [response] = await answered
    return response
  }

  return {
    ...scene,
    api,
    open,
    async send(method, path, given) {
      const response = await open(method, path, given)
      const { statusCode = 0, headers } = response
      const text = await textOf(response)
      const isJson = headers['content-type']?.includes('json') === true
      return { status: statusCode, headers, text, json: isJson && text !== '' ? JSON.parse(text) : undefined }
    },
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]()
      await api.close()
    },
  }
}

async function upload(sent: ReturnType<typeof request>, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of body) if (!sent.write(chunk)) await once(sent, 'drain')
  sent.end()
}

export async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** An API that answers the method, the URL and the body of a request, until the test replaces `answer`. */
export async function startApi(): Promise<Api & { close(): Promise<void> }> {
  const seen: SeenRequest[] = []
  const server = createServer((asked, response) => {
    const { method = '', url = '', headers } = asked
    seen.push({ method, url, headers })
    api.answer(asked, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const api = {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    seen,
    answer: ((asked, response) => {
      textOf(asked).then((body) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ method: asked.method, url: asked.url, body }))
      })
    }) as RequestListener,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return api
}
