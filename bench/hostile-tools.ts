import { adminOf } from './admin.ts'

/** Registers what `hostile-server.ts` serves: a worker of each kind, and an API for the proxy. */
export async function addTools(port: number, toolPort: number): Promise<void> {
  const origin = `http://127.0.0.1:${toolPort}`
  const call = adminOf(port)
  const admin = async (method: string, path: string, body: unknown) => {
    const answer = JSON.stringify(await call(method, path, body))
    if (answer.includes('sync_error')) throw new Error(`${method} ${path}: ${answer}`)
  }
  const id = (name: string) => `${name}-${toolPort}`
  await admin('POST', '/v1/workers', {
    id: id('arcade'),
    http: { uri: origin, secret: 'bench-worker-secret', timeout: 30, retry: 0 },
  })
  await admin('POST', '/v1/workers', { id: id('oxp'), oxp: { uri: `${origin}/oxp`, timeout: 30, retry: 0 } })
  await admin('POST', '/v1/workers', { id: id('mcp'), mcp: { uri: `${origin}/mcp`, timeout: 30, retry: 0 } })
  await admin('POST', '/v1/workers', {
    id: id('api'),
    openapi: { document: apiDocument(origin), namespace: 'Api', timeout: 30, retry: 0 },
  })
  await admin('PATCH', '/v1/admin/auth_providers/bench', {
    oauth2: { api: { base_url: `${origin}/api`, hosts: [`127.0.0.1:${toolPort}`] } },
  })
}

function apiDocument(origin: string): object {
  const flow = {
    authorizationUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    scopes: { repo: 'All' },
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Api', version: '1.0.0' },
    servers: [{ url: `${origin}/api` }],
    components: { securitySchemes: { bench: { type: 'oauth2', flows: { authorizationCode: flow } } } },
    paths: {
      '/hostile': {
        get: {
          operationId: 'Hostile',
          security: [{ bench: ['repo'] }],
          responses: { 200: { description: 'Much', content: { 'application/json': { schema: {} } } } },
        },
      },
    },
  }
}
