import { createServer, type IncomingMessage } from 'node:http'

/**
 * What tools run on, in a process of its own: a worker (reference: Arcade's worker protocol) with one tool, and an API
 * at `/api` for the proxy. Both do as little as they can, so that what stands before them shows.
 */
const [port = '0'] = process.argv.slice(2)

const TOOL = {
  name: 'Greet',
  fully_qualified_name: 'Bench.Greet',
  description: 'Says hello.',
  toolkit: { name: 'Bench', version: '1.0.0' },
  input: { parameters: [{ name: 'name', required: true, value_schema: { val_type: 'string' } }] },
  output: { value_schema: { val_type: 'string' } },
  requirements: { authorization: { id: 'bench', provider_type: 'oauth2', oauth2: { scopes: ['repo'] } } },
}

const server = createServer(async (request, response) => {
  const answer = (body: unknown) => {
    const text = JSON.stringify(body)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }
  switch (request.url) {
    case '/health':
      return answer({ status: 'ok' })
    case '/worker/health':
      return answer({ status: 'ok', tool_count: '1' })
    case '/worker/tools':
      return answer([TOOL])
    case '/worker/tools/invoke': {
      const { execution_id, inputs, context } = JSON.parse(await textOf(request))
      if (typeof context.authorization?.token !== 'string') return response.writeHead(500).end()
      const value = `Hello, ${inputs.name}!`
      const finished_at = new Date().toISOString()
      return answer({ execution_id, finished_at, duration: 0.1, success: true, output: { value } })
    }
    default:
      if (request.headers.authorization === undefined) return response.writeHead(401).end()
      return answer({ login: 'ada', id: 1, url: 'https://api.example.com/users/ada' })
  }
})
server.listen(Number(port), '127.0.0.1')

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
