import { createServer } from 'node:http'
import { digest } from '../digest.ts'
import { startFakeMcpServer } from '../fake-mcp-server.ts'
import { startFakeOxpServer } from '../fake-oxp-server.ts'
import { startFakeWorker } from '../fake-worker.ts'

// Serves one kind of worker in its own process: `node test/kinds/serve.ts <kind>`. Each has the tools `demo`, which
// needs the provider `demo`, and `other`, which needs the provider `other`. Both answer the user they ran for and the
// SHA-256 of the token they received; the argument `leak` makes them answer the token itself at that place.

export const KIND_SECRET = 'secret-of-the-kinds'
export const PROVIDERS = ['demo', 'other'] as const
/** The places into which a tool can leak its token. */
export type Leak = 'value' | 'error' | 'log' | 'header'

const seen = (token: string, user: string | undefined, leak: unknown) => ({
  token_digest: digest(token),
  ...(user !== undefined && { user_id: user }),
  ...(leak === 'value' && {
    token,
    inside: [`Bearer ${token}`, { [token]: Buffer.from(token).toString('base64') }],
  }),
})
const LEAK = { type: 'string', enum: ['value', 'error', 'log', 'header'] }

const KINDS: Readonly<Record<string, () => Promise<{ url: string; document?: unknown }>>> = {
  worker: () =>
    startFakeWorker({
      secret: KIND_SECRET,
      toolkit: { name: 'WorkerKind', version: '1.0.0' },
      tools: PROVIDERS.map((name) => ({
        name,
        description: `Needs ${name}.`,
        parameters: [{ name: 'leak', val_type: 'string' }],
        authorization: { id: name, scopes: ['read'] },
        run: async ({ leak }, { authorization, user_id }) => {
          const token = authorization?.token ?? ''
          if (leak === 'error')
            return {
              error: {
                message: `Bearer ${token} was refused`,
                kind: 'TOOL_RUNTIME_FATAL',
                can_retry: false,
                developer_message: `the token is ${token}`,
                additional_prompt_content: token,
                stacktrace: `at fetch (${token})`,
                extra: { [token]: token },
              },
            }
          if (leak === 'header') {
            const output = { value: seen(token, user_id, leak) }
            const body = {
              execution_id: 'x',
              finished_at: new Date().toISOString(),
              duration: 1,
              success: true,
              output,
            }
            const headers = { 'x-token': token, 'set-cookie': `t=${token}` }
            return { raw: { status: 200, type: 'application/json', body: JSON.stringify(body), headers } }
          }
          const logs = leak === 'log' ? [{ level: 'info', message: `token=${token}`, subtype: token }] : []
          return { value: seen(token, user_id, leak), logs }
        },
      })),
    }),
  oxp: () =>
    startFakeOxpServer({
      auth: { kind: 'api_key', key: KIND_SECRET },
      toolkit: 'OxpKind',
      tools: PROVIDERS.map((name) => ({
        name,
        description: `Needs ${name}.`,
        input_schema: { type: 'object', properties: { leak: LEAK } },
        authorization: [{ id: name, scopes: ['read'] }],
        user_id: true,
        run: async ({ leak }, { authorization = [], user_id }) => {
          const token = authorization.find(({ id }) => id === name)?.token ?? ''
          if (leak === 'error')
            return { error: { message: `Bearer ${token} was refused`, developer_message: token } }
          return { value: seen(token, user_id, leak) }
        },
      })),
    }),
  mcp: () =>
    startFakeMcpServer({
      name: 'mcp-kind',
      tools: PROVIDERS.map((name) => ({
        name,
        description: `Needs ${name}.`,
        inputSchema: { type: 'object', properties: { leak: LEAK } } as const,
        _meta: {
          securitySchemes: { [name]: { type: 'oauth2' } },
          securityRequirements: [{ [name]: ['read'] }],
        },
        run: async ({ leak }, { meta, progress }) => {
          const context = meta.arcade_context as { authorization?: { token?: string }; user_id?: string } // Arcade's
          const token = context?.authorization?.token ?? ''
          if (leak === 'log') await progress(1, 2, `the token is ${token}`)
          if (leak === 'error') throw new Error(`Bearer ${token} was refused`)
          return seen(token, context?.user_id, leak)
        },
      })),
    }),
  openapi: startApi,
}

/** A plain HTTP API with an OpenAPI document. */
async function startApi() {
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.replace(/^Bearer /i, '') ?? ''
    const url = new URL(request.url ?? '/', 'http://localhost')
    const leak = url.searchParams.get('leak')
    if (token === '') return response.writeHead(401).end()
    const body = leak === 'error' ? { message: `Bearer ${token} was refused` } : seen(token, undefined, leak)
    const headers = { 'content-type': 'application/json', ...(leak === 'header' && { 'x-token': token }) }
    return response.writeHead(leak === 'error' ? 400 : 200, headers).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const url = `http://127.0.0.1:${address.port}`
  const oauth2 = (name: string) => ({
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: `https://${name}.example.com/authorize`,
        tokenUrl: `https://${name}.example.com/token`,
        scopes: { read: 'Read' },
      },
    },
  })
  const operation = (name: string) => ({
    get: {
      operationId: name,
      description: `Needs ${name}.`,
      parameters: [{ name: 'leak', in: 'query', schema: LEAK }],
      security: [{ [name]: ['read'] }],
      responses: {
        200: { description: 'What it saw', content: { 'application/json': { schema: { type: 'object' } } } },
      },
    },
  })
  return {
    url,
    document: {
      openapi: '3.1.0',
      info: { title: 'ApiKind', version: '1.0.0' },
      servers: [{ url }],
      paths: Object.fromEntries(PROVIDERS.map((name) => [`/${name}`, operation(name)])),
      components: { securitySchemes: Object.fromEntries(PROVIDERS.map((name) => [name, oauth2(name)])) },
    },
  }
}

const [kind = ''] = process.argv.slice(2)
const start = KINDS[kind]
if (start !== undefined && process.send !== undefined) {
  const { url, document } = await start()
  process.send({ url, ...(document !== undefined && { document }) })
  process.on('disconnect', () => process.exit())
}
