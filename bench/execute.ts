import type { Bench, Place } from './bench.ts'
import type { RawRequest } from './raw-client.ts'
import type { Figure } from './report.ts'
import { CALLER, throughBoth } from './tool-side.ts'

/** A run of a tool, compared with a server that signs and posts to the same worker, and does nothing else. */
export function execute(bench: Bench, place: Place): Promise<Figure[]> {
  const job = {
    name: 'execute, worker of 2 ms',
    to: 'bare hono that signs a JWT and posts',
    atLeast: 0.55,
    expects: 'Hello, Ada!',
    requests: (users: readonly string[]) => users.map(executeFor),
  }
  return throughBoth(bench, job, place)
}

export function executeFor(user_id: string): RawRequest {
  const body = { tool_name: 'Bench.Greet', user_id, input: { name: 'Ada' } }
  return { method: 'POST', path: '/v1/tools/execute', headers: CALLER, body }
}

/** A request of the proxy, compared with a server that passes the answer on as a stream. */
export function proxy(bench: Bench, place: Place): Promise<Figure[]> {
  const job = {
    name: 'proxy, API of 2 ms',
    to: 'a bare streaming forwarder',
    atLeast: 0.66,
    expects: '"login":"ada"',
    requests: (users: readonly string[]) => users.map(proxyFor),
  }
  return throughBoth(bench, job, place)
}

export function proxyFor(user: string): RawRequest {
  return { method: 'GET', path: '/proxy/bench/user', headers: { ...CALLER, 'x-gatepass-user': user } }
}
