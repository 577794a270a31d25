import type { ServedApp } from '../tools/served-app.ts'
import { readCallRequest } from './call-request.ts'
import { invoke } from './invoke.ts'
import { toolDefinition } from './tool-definition.ts'
import { tokenVerifier } from './verify-token.ts'

// Serves an app by Arcade's worker protocol: GET /worker/health, GET /worker/tools, POST /worker/tools/invoke. The
// handler is a function of a web-standard Request, so it mounts in hono, Next.js, Workers, Deno and Bun.

export interface WorkerOptions {
  /** The secret that the worker is registered with; at least one character. */
  readonly secret: string
}

export interface ToolWorker {
  /** Answers the protocol's paths, below any prefix. */
  fetch(request: Request): Promise<Response>
}

/** Makes the worker of an app. Throws `TypeError` without a secret. */
export function createWorker(app: ServedApp, { secret }: WorkerOptions): ToolWorker {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError('A worker needs a secret: without one anybody could run its tools.')
  const isVerified = tokenVerifier(secret)
  const routes: Readonly<
    Record<string, { readonly method: string; answer(request: Request): Promise<Response> }>
  > = {
    health: {
      method: 'GET',
      answer: async () => Response.json({ status: 'ok', tool_count: String(app.tools.list().length) }),
    },
    tools: {
      method: 'GET',
      answer: async () => Response.json(app.tools.list().map((tool) => toolDefinition(app, tool))),
    },
    'tools/invoke': { method: 'POST', answer: answerCall },
  }

  async function answerCall(request: Request): Promise<Response> {
    const call = readCallRequest(await readJson(request))
    if (call === undefined)
      return refusal(400, 'The body is no call of a tool: {"tool": {"name"}, "inputs", "context"}.')
    const tool =
      call.toolkit === undefined || isSame(call.toolkit, app.name) ? findTool(call.tool) : undefined
    if (tool === undefined) return refusal(404, `There is no tool ${call.toolkit ?? app.name}.${call.tool}.`)
    const traceparent = request.headers.get('traceparent') ?? undefined
    return Response.json(await invoke(app, tool, call, { signal: request.signal, traceparent }))
  }

  /** Arcade's names are not case-sensitive. */
  function findTool(name: string) {
    return app.tools.find(name) ?? app.tools.list().find((tool) => isSame(tool.name, name))
  }

  return {
    async fetch(request) {
      const [, name = ''] = /\/(health|tools|tools\/invoke)\/?$/.exec(new URL(request.url).pathname) ?? []
      const route = routes[name]
      if (route === undefined)
        return refusal(404, 'A worker answers /worker/health, /worker/tools and /worker/tools/invoke.')
      if (request.method !== route.method)
        return refusal(405, `Use ${route.method}.`, { allow: route.method })
      if (name !== 'health' && !(await isVerified(request.headers.get('authorization'))))
        return refusal(401, 'The token was not signed with the secret of this worker.', {
          'www-authenticate': 'Bearer',
        })
      return route.answer(request)
    },
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json()
  } catch {
    return undefined
  }
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers })
}
