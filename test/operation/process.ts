import { Agent, request } from 'node:http'
import { expect } from 'vitest'
import type { FakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { API_KEY, type Served } from '../served.ts'
import { UserAgent } from '../user-agent.ts'

/** The process ids of the workers that serve now, by their number. */
export function workersOf(served: Served): Map<number, number> {
  const lines = served.logLines().filter(({ message }) => message === 'a worker is serving')
  return new Map(lines.map(({ worker, workerPid }) => [Number(worker), Number(workerPid)]))
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export async function importTool(served: Served, as: FakeAuthorizationServer): Promise<void> {
  const { status } = await served.call('POST', '/v1/tools/import', toolMetadata(as))
  expect(status).toBe(200)
}

export interface Flow {
  readonly id: string
  readonly url: string
  readonly user: string
  readonly browser: UserAgent
}

export async function begin(served: Served, user = 'ada'): Promise<Flow> {
  const { body } = await authorize(served, user)
  expect(body).toMatchObject({ status: 'pending' })
  return { id: body.id, url: body.url, user, browser: new UserAgent() }
}

export function authorize(served: Served, user: string) {
  return served.call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
  })
}

/** The user clicks and approves; the answer is the provider's redirect to the callback. */
export async function approve({ browser, url }: Flow): Promise<string> {
  const isCallback = ({ pathname }: URL) => pathname.startsWith('/callback/')
  const page = await browser.submitForm(await browser.get(url), {}, { until: isCallback })
  return page.hops.at(-1)?.location ?? ''
}

export async function connect(served: Served, user = 'ada'): Promise<string> {
  const { browser, url } = await begin(served, user)
  await browser.submitForm(await browser.get(url))
  const { body } = await served.call('GET', `/v1/connections?user_id=${user}`)
  return body.items[0].id
}

/** Requests over one connection that is kept alive, as a client's pool does. */
export function keptConnection(served: Served) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    get(path: string): Promise<{ status: number; connection: string | undefined; body: string }> {
      return new Promise((resolve, reject) => {
        const asked = request(
          `${served.url}${path}`,
          { agent, headers: { authorization: `Bearer ${API_KEY}` } },
          (response) => {
            let body = ''
            response.setEncoding('utf8').on('data', (chunk) => {
              body += chunk
            })
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, body }),
            )
            response.on('error', reject)
          },
        )
        asked.on('error', reject).end()
      })
    },
    close: () => agent.destroy(),
  }
}
