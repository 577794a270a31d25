import type { Bench } from './bench.ts'
import { USERS, USERS_WITH_AT, userName, userWithAt } from './people.ts'
import type { RawRequest } from './raw-client.ts'
import type { Figure } from './report.ts'
import { CALLER, throughBoth } from './tool-side.ts'

const usual = Array.from({ length: USERS }, (_, i) => userName(i))
const withAt = Array.from({ length: USERS_WITH_AT }, (_, i) => userWithAt(i))

/** A run of a tool, compared with a server that signs and posts to the same worker, and does nothing else. */
export function execute(bench: Bench): Promise<Figure[]> {
  const job = {
    name: 'execute, worker of 2 ms',
    to: 'bare hono that signs a JWT and posts',
    atLeast: 0.6,
    expects: 'Hello, Ada!',
    requests: (users: readonly string[]) => users.map(executeFor),
  }
  return throughBoth(bench, job, { usual, withAt })
}

export function executeFor(user_id: string): RawRequest {
  const body = { tool_name: 'Bench.Greet', user_id, input: { name: 'Ada' } }
  return { method: 'POST', path: '/v1/tools/execute', headers: CALLER, body }
}

/** A request of the proxy, compared with a server that passes the answer on as a stream. */
export function proxy(bench: Bench): Promise<Figure[]> {
  const job = {
    name: 'proxy, API of 2 ms',
    to: 'a bare streaming forwarder',
    atLeast: 0.65,
    expects: '"login":"ada"',
    requests: (users: readonly string[]) => users.map(proxyFor),
  }
  return throughBoth(bench, job, { usual, withAt })
}

export function proxyFor(user: string): RawRequest {
  return { method: 'GET', path: '/proxy/bench/user', headers: { ...CALLER, 'x-gatepass-user': user } }
}
