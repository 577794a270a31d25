import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { accessSecrets, userName } from './people.ts'

// Workers of four kinds, and an API for the proxy, in one process. Each answers with 4 MB that are as costly as possible
// to parse and to search for the user's token, in one shape after the other.
const [port = '0'] = process.argv.slice(2)
const MAX_BYTES = 4 * 1024 * 1024 - 2_000
const TOKEN = accessSecrets(userName(0)).accessToken

const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
const escaped = (text: string) =>
  [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** JSON of `MAX_BYTES` at most: as many items as fit, between `open` and `close`. */
function filled(open: string, close: string, item: (i: number) => string): string {
  const items: string[] = []
  let size = open.length + close.length
  for (let i = 0; ; i++) {
    const next = item(i)
    size += Buffer.byteLength(next) + 1
    if (size > MAX_BYTES) break
    items.push(next)
  }
  return open + items.join(',') + close
}

const inAllForms = JSON.stringify([
  TOKEN,
  percent(TOKEN),
  escaped(TOKEN),
  Buffer.from(TOKEN).toString('base64'),
])
const VALUES: readonly string[] = [
  // keys that spell the token in many ways, and are all equal once it is removed
  filled('{', '}', (i) => {
    const spelled = [...TOKEN].map((c, bit) => ((i >> bit) & 1 ? percent(c) : c))
    return `"${spelled.join('')}":${i}`
  }),
  // text that is not ASCII, with the token in four forms
  filled(`{"forms":${inAllForms},"text":["`, '"]}', () => 'é€🔑'.repeat(1_000)),
  // harmless keys
  filled(`{"token":"${TOKEN}",`, '}', (i) => `"k${i.toString(36)}":0`),
  // as many values as fit
  filled(`{"token":"${TOKEN}","list":[`, ']}', () => '[]'),
  // the beginning of the token, escaped
  filled(`{"token":"${TOKEN}","text":"`, '"}', () => percent(TOKEN.slice(0, 200))),
]
let next = 0
const value = () => VALUES[next++ % VALUES.length] as string // an index within

const needs = { id: 'bench', provider_type: 'oauth2', oauth2: { scopes: ['repo'] } }
const schema = { type: 'object', properties: {} }
const ARCADE_TOOL = {
  name: 'Hostile',
  fully_qualified_name: 'Arcade.Hostile',
  description: 'Answers much.',
  toolkit: { name: 'Arcade', version: '1.0.0' },
  input: { parameters: [] },
  output: { value_schema: { val_type: 'json' } },
  requirements: { authorization: needs },
}
const OXP_TOOL = {
  id: 'Oxp.Hostile@1.0.0',
  name: 'Hostile',
  description: 'Answers much.',
  version: '1.0.0',
  input_schema: schema,
  output_schema: {},
  requirements: { authorization: [{ id: 'bench', oauth2: { scopes: ['repo'] } }] },
}
const MCP_TOOL = {
  name: 'Hostile',
  description: 'Answers much.',
  inputSchema: schema,
  _meta: {
    securitySchemes: { bench: { type: 'oauth2' } },
    securityRequirements: [{ bench: ['repo'] }],
  },
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  switch (pathname) {
    case '/health':
    case '/worker/health':
    case '/oxp/health':
      return answer(response, '{"status":"ok"}')
    case '/worker/tools':
      return answer(response, JSON.stringify([ARCADE_TOOL]))
    case '/worker/tools/invoke':
      return answer(response, `{"success":true,"output":{"value":${value()}}}`)
    case '/oxp/tools':
      return answer(response, JSON.stringify({ items: [OXP_TOOL] }))
    case '/oxp/tools/call':
      return answer(response, `{"result":{"success":true,"value":${value()}}}`)
    case '/mcp':
      return answerMcp(JSON.parse((await textOf(request)) || '{}'), response)
    default:
      if (request.headers.authorization === undefined) return response.writeHead(401).end()
      return answer(response, value())
  }
})
server.listen(Number(port), '127.0.0.1')

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string }
}

function answerMcp({ id, method, params }: Message, response: ServerResponse): unknown {
  const result = (text: string) =>
    answer(response, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`)
  switch (method) {
    case 'initialize':
      return result(
        JSON.stringify({
          protocolVersion: params?.protocolVersion ?? '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'hostile', version: '1.0.0' },
        }),
      )
    case 'tools/list':
      return result(JSON.stringify({ tools: [MCP_TOOL] }))
    case 'tools/call':
      return result(`{"content":[],"structuredContent":${value()}}`)
    default:
      if (id === undefined) return response.writeHead(202).end()
      return answer(
        response,
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"not known"}}`,
      )
  }
}

function answer(response: ServerResponse, text: string): unknown {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  return response.end(text)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
