import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { digest } from './digest.ts'
import { answer, answerJson, bearerOf, listen, type RecordedRequest, record } from './loopback.ts'

export interface FakeOpenApiOptions {
  /** The security scheme of the operations that need a token; default: `{ name: 'demo', scopes: ['read'] }`. */
  readonly scheme?: { readonly name: string; readonly scopes: readonly string[] }
  /** Whether it accepts a token; default: any. May be changed at any time. */
  accepts?: (token: string) => boolean
  /** The server that the document names; default: this one. */
  readonly serverUrl?: string
  readonly title?: string
}

export interface FakeOpenApiService extends AsyncDisposable {
  readonly url: string
  readonly host: string
  readonly document: Readonly<Record<string, unknown>>
  /** Where it serves the document itself, as JSON and as YAML. */
  readonly documentUrl: string
  readonly yamlUrl: string
  /** Requests of operations, not those of the document. */
  readonly calls: readonly RecordedRequest[]
  /** How often a caller closed its connection before the answer. */
  readonly cutOff: number
  /** What requests for the document are answered in place of it. */
  documentAnswer: { readonly status: number; readonly body: string } | undefined
  accepts: (token: string) => boolean
  close(): Promise<void>
}

/** An HTTP API that describes itself by OpenAPI 3.1. It answers the digest of a token; only `Leak` answers the token. */
export async function startFakeOpenApiService(options: FakeOpenApiOptions = {}): Promise<FakeOpenApiService> {
  const calls: RecordedRequest[] = []
  const attempts = new Map<string, number>()
  let cutOff = 0
  let document: Record<string, unknown> = {}
  let accepts = options.accepts ?? (() => true)

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = await record(req)
    const { documentAnswer: other } = service
    if (other !== undefined && request.path.startsWith('/openapi.'))
      return answer(res, other.status, 'text/plain', other.body)
    if (request.path === '/openapi.json') return answerJson(res, 200, document)
    if (request.path === '/openapi.yaml') return answer(res, 200, 'application/yaml', stringify(document))
    if (request.method === 'HEAD') return void res.writeHead(404).end()
    calls.push(request)
    const token = bearerOf(request.headers)
    const needsToken = !/^\/(open|keyed|optional)/.test(request.path)
    if ((needsToken && token === undefined) || (token !== undefined && !accepts(token)))
      return answerJson(
        res,
        401,
        { error: 'invalid_token', message: 'The token is not taken.' },
        { 'www-authenticate': 'Bearer error="invalid_token"' },
      )
    await operation(request, token, res)
  }

  async function operation(request: RecordedRequest, token: string | undefined, res: ServerResponse) {
    const { method, path, query, headers, json, form, search, body } = request
    const [, first = '', second = ''] = path.split('/')
    const digests = {
      ...(token !== undefined && { token_digest: digest(token) }),
      ...(headers['x-other-token'] !== undefined && {
        other_digest: digest(String(headers['x-other-token'])),
      }),
    }
    const seen = { method, path, search, ...digests }
    switch (`${method} ${first}`) {
      case 'GET whoami':
      case 'GET both':
      case 'GET optional':
        return answerJson(res, 200, { ...digests, is_anonymous: token === undefined })
      case 'GET items':
        return answerJson(res, 200, {
          ...seen,
          trace: headers['x-trace'] ?? null,
          version: headers['x-version'] ?? null,
        })
      case 'DELETE items':
        return void res.writeHead(204).end()
      case 'PUT items':
      case 'POST notes':
      case 'PATCH notes':
        return answerJson(res, 201, { ...seen, type: headers['content-type'] ?? null, sent: json ?? body })
      case 'POST form':
        return answerJson(res, 200, { ...seen, form, sent: body })
      case 'GET slow':
        res.on('close', () => {
          if (!res.writableEnded) cutOff++
        })
        await sleep(Number(query.ms), undefined, { ref: false })
        return answerJson(res, 200, { waited: Number(query.ms) })
      case 'GET status': {
        const said = { error: { message: `It said ${second}.` }, trace: 'x'.repeat(2000) }
        return answerJson(
          res,
          Number(second),
          said,
          query.wait === undefined ? {} : { 'retry-after': query.wait },
        )
      }
      case 'GET flaky':
      case 'POST flaky': {
        const attempt = (attempts.get(second) ?? 0) + 1
        attempts.set(second, attempt)
        return attempt < 3 ? answerJson(res, 503, {}) : answerJson(res, 200, { attempt })
      }
      case 'GET text':
        return answer(res, 200, 'text/plain; charset=iso-8859-1', Buffer.from('Grüße', 'latin1'))
      case 'GET image':
        return answer(res, 200, 'image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47]))
      case 'GET wrong':
        return answerJson(res, 200, { token_digest: 12 })
      case 'GET broken':
        return answer(res, 200, 'application/json', '{"half": ')
      case 'GET redirect':
        return void res.writeHead(302, { location: `${server.url}/whoami` }).end()
      case 'GET keyed':
        return answerJson(res, 200, {
          header_digest: digest(String(headers['x-api-key'] ?? '')),
          query_digest: digest(query.api_key ?? ''),
          basic_digest: digest(headers.authorization ?? ''),
        })
      case 'GET leak':
        if (query.in === 'text') return answer(res, 200, 'text/plain', `it is ${token}`)
        if (query.in === 'error') return answerJson(res, 400, { message: `Bearer ${token} is wrong` })
        if (query.in === 'long')
          return answerJson(res, 400, {
            message: `${'x'.repeat(490)} ${token} ${'x'.repeat(Number(query.more ?? 0))}`,
          })
        return answerJson(
          res,
          200,
          { nested: [{ [`${token}`]: `Bearer ${token}` }] },
          { 'x-token': `${token}` },
        )
      default:
        return answerJson(res, 404, { message: 'There is no such path.' })
    }
  }

  const server = await listen(handle)
  document = describeApi(options, options.serverUrl ?? server.url)
  const service: FakeOpenApiService = {
    url: server.url,
    host: new URL(server.url).host,
    document,
    documentUrl: `${server.url}/openapi.json`,
    documentAnswer: undefined,
    yamlUrl: `${server.url}/openapi.yaml`,
    calls,
    get cutOff() {
      return cutOff
    },
    get accepts() {
      return accepts
    },
    set accepts(which) {
      accepts = which
    },
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  }
  return service
}

const JSON_OBJECT = {
  200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } },
}
const DIGESTS = {
  200: {
    description: 'ok',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Digests' } } },
  },
}

function parameter(where: 'path' | 'query' | 'header', name: string, schema: object, more: object = {}) {
  return { in: where, name, schema, ...(where === 'path' && { required: true }), ...more }
}

function describeApi(
  { scheme = { name: 'demo', scopes: ['read'] }, title = 'Notes' }: FakeOpenApiOptions,
  url: string,
) {
  const text = { type: 'string' } as const
  return {
    openapi: '3.1.0',
    info: { title, version: '1.2.0' },
    servers: [{ url: `${url}/{base}`, variables: { base: { default: '' } } }],
    security: [{ [scheme.name]: [...scheme.scopes] }],
    paths: {
      '/whoami': {
        get: {
          operationId: 'WhoAmI',
          summary: 'Who am I',
          description: 'Answers which token it was sent, by digest.',
          tags: ['Identity'],
          responses: DIGESTS,
        },
      },
      '/both': {
        get: {
          operationId: 'Both',
          security: [{ [scheme.name]: [...scheme.scopes], other: [] }],
          responses: JSON_OBJECT,
        },
      },
      '/optional': {
        get: { operationId: 'Optional', security: [{}, { [scheme.name]: ['read'] }], responses: JSON_OBJECT },
      },
      '/open': { get: { operationId: 'Open', security: [], responses: JSON_OBJECT } },
      '/items/{item_id}': {
        parameters: [parameter('path', 'item_id', text)],
        get: {
          operationId: 'GetItem',
          parameters: [
            parameter('query', 'tags', { type: 'array', items: text }),
            parameter('query', 'ids', { type: 'array', items: { type: 'integer' } }, { explode: false }),
            parameter('query', 'filter', { type: 'object' }, { style: 'deepObject', explode: true }),
            parameter('query', 'options', { type: 'object' }),
            parameter('header', 'X-Trace', text),
            parameter('header', 'X-Version', text),
            parameter('header', 'Host', text),
            { in: 'cookie', name: 'session', schema: text },
          ],
          responses: JSON_OBJECT,
        },
        delete: { operationId: 'DeleteItem', responses: { 204: { description: 'gone' } } },
        put: {
          operationId: 'SetLabels',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { type: 'array', items: text } } },
          },
          responses: JSON_OBJECT,
        },
      },
      '/notes': {
        post: {
          operationId: 'CreateNote',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
          },
          responses: { 201: { description: 'made', content: { 'application/json': {} } } },
        },
        patch: {
          operationId: 'ChangeNotes',
          requestBody: { content: { 'application/merge-patch+json': { schema: { type: 'object' } } } },
          responses: JSON_OBJECT,
        },
      },
      '/form': {
        post: {
          operationId: 'SendForm',
          requestBody: {
            required: true,
            content: {
              'application/x-www-form-urlencoded': {
                schema: {
                  type: 'object',
                  properties: {
                    text,
                    list: { type: 'array', items: text },
                    deep: { type: 'object' },
                    json: { type: 'object' },
                  },
                  required: ['text'],
                },
                encoding: { deep: { style: 'deepObject', explode: true } },
              },
            },
          },
          responses: JSON_OBJECT,
        },
      },
      '/slow': {
        get: {
          operationId: 'Slow',
          parameters: [parameter('query', 'ms', { type: 'integer' }, { required: true })],
          responses: JSON_OBJECT,
        },
      },
      '/status/{code}': {
        get: {
          operationId: 'Status',
          parameters: [
            parameter('path', 'code', { type: 'integer' }),
            parameter('query', 'wait', { type: 'integer' }),
          ],
          responses: { default: { description: 'the status of the path' } },
        },
      },
      '/flaky/{key}': {
        parameters: [parameter('path', 'key', text)],
        get: { operationId: 'Flaky', responses: JSON_OBJECT },
        post: { operationId: 'FlakyPost', responses: JSON_OBJECT },
      },
      ...Object.fromEntries(
        ['text', 'image', 'broken', 'redirect'].map((name) => [
          `/${name}`,
          { get: { operationId: `Get_${name}`, responses: JSON_OBJECT } },
        ]),
      ),
      '/wrong': { get: { operationId: 'Wrong', responses: DIGESTS } },
      '/keyed/header': {
        get: { operationId: 'KeyInHeader', security: [{ key: [] }], responses: JSON_OBJECT },
      },
      '/keyed/query': {
        get: {
          operationId: 'KeyInQuery',
          security: [{ queryKey: [] }],
          parameters: [
            parameter('query', 'api_key', text),
            parameter('query', 'options', { type: 'object' }),
          ],
          responses: JSON_OBJECT,
        },
      },
      '/keyed/basic': {
        get: { operationId: 'KeyAsPassword', security: [{ password: [] }], responses: JSON_OBJECT },
      },
      '/leak': {
        get: {
          operationId: 'Leak',
          parameters: [
            parameter('query', 'in', { type: 'string', enum: ['value', 'text', 'error', 'long'] }),
            parameter('query', 'more', { type: 'integer' }),
          ],
          responses: { default: { description: 'its token' } },
        },
      },
      '/upload': {
        post: {
          operationId: 'Upload',
          requestBody: { content: { 'multipart/form-data': { schema: { type: 'object' } } } },
          responses: JSON_OBJECT,
        },
      },
    },
    components: {
      schemas: {
        Digests: {
          type: 'object',
          properties: { token_digest: { type: 'string' } },
          required: ['token_digest'],
          additionalProperties: false,
        },
        Note: {
          type: 'object',
          properties: {
            id: { type: 'string', readOnly: true },
            title: { type: 'string', minLength: 1 },
            text: { type: ['string', 'null'] },
            parent: { $ref: '#/components/schemas/Note' },
          },
          required: ['id', 'title'],
        },
      },
      securitySchemes: {
        [scheme.name]: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: 'https://login.example.com/authorize',
              tokenUrl: 'https://login.example.com/token',
              scopes: { read: 'Read' },
            },
          },
        },
        other: { type: 'apiKey', in: 'header', name: 'X-Other-Token', 'x-gatepass-provider': 'other' },
        key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        queryKey: { type: 'apiKey', in: 'query', name: 'api_key' },
        password: { type: 'http', scheme: 'basic' },
      },
    },
  }
}
