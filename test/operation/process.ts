import { Agent, request } from 'node:http'
import { API_KEY, type Served } from '../served.ts'

/** The process ids of the worker processes, keyed by worker number. A worker that was replaced has its newest id. */
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

/** Sends all requests over one connection that is kept alive, as a client's connection pool does. */
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
