import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerTool } from './many-tools.ts'
import { KEPT_ALIVE_MS } from './upstream.ts'

// A worker of Arcade's protocol with one tool, and an API at `/api` for the proxy, in one process. Both do as little as
// possible, so that the figures are Gatepass's, and take `answerMs` for each answer. With `manyTools` the worker lists
// that many tools instead, which need `manyProviders` providers.
const [port = '0', answerMs = '0', manyTools = '0', manyProviders = '0'] = process.argv.slice(2)

const TOOL = {
  name: 'Greet',
  fully_qualified_name: 'Bench.Greet',
  description: 'Says hello.',
  toolkit: { name: 'Bench', version: '1.0.0' },
  input: { parameters: [{ name: 'name', required: true, value_schema: { val_type: 'string' } }] },
  output: { value_schema: { val_type: 'string' } },
  requirements: { authorization: { id: 'bench', provider_type: 'oauth2', oauth2: { scopes: ['repo'] } } },
}

const TOOLS =
  manyTools === '0'
    ? [TOOL]
    : Array.from({ length: Number(manyTools) }, (_, i) =>
        workerTool(i, manyProviders === '0' ? undefined : `many-${i % Number(manyProviders)}`),
      )

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
      return answer(TOOLS)
    case '/worker/tools/invoke': {
      const { execution_id, inputs, context } = JSON.parse(await textOf(request))
      if (typeof context.authorization?.token !== 'string') return response.writeHead(500).end()
      const value = `Hello, ${inputs.name}!`
      await takeTime()
      const finished_at = new Date().toISOString()
      return answer({ execution_id, finished_at, duration: 0.1, success: true, output: { value } })
    }
    default:
      if (request.headers.authorization === undefined) return response.writeHead(401).end()
      await takeTime()
      return answer({ login: 'ada', id: 1, url: 'https://api.example.com/users/ada' })
  }
})
server.keepAliveTimeout = KEPT_ALIVE_MS
server.listen(Number(port), '127.0.0.1')

async function takeTime(): Promise<void> {
  if (answerMs !== '0') await sleep(Number(answerMs))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
