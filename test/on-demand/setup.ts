import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { claimPorts } from '../ports.ts'
import { type PostgresCluster, startPostgres } from '../postgres-cluster.ts'
import { programBundle, sandboxThreadBundle } from '../program-bundle.ts'
import type { OnDemand } from './ask.ts'

/**
 * Makes what test files share when the first of them asks for it (`ask.ts`), once for the run, in the process of vitest:
 * so a run of files that need none of it begins at once, and no two workers make the same.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const ports = await claimPorts()
  process.env.TEST_SANDBOX_THREAD = await sandboxThreadBundle()
  let cluster: PostgresCluster | undefined
  const makers: Record<OnDemand, () => Promise<string>> = {
    async postgres() {
      cluster = await startPostgres()
      return cluster.url
    },
    program: programBundle,
    sdk: buildSdk,
  }
  const made = new Map<string, Promise<string>>()
  const secret = randomUUID() // the URL of PostgreSQL has its password
  const server = createServer(async ({ url }, response) => {
    try {
      const what = Object.keys(makers).find((one) => url === `/${secret}/${one}`) as OnDemand | undefined
      if (what === undefined) throw new Error('The tests share no such thing.')
      const making = made.get(what) ?? makers[what]()
      made.set(what, making)
      response.end(await making)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.env.TEST_ON_DEMAND = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${secret}/`
  return async () => {
    server.close()
    server.closeAllConnections()
    ports.close()
    await Promise.allSettled(made.values()) // what a stopped run has begun to make is removed too
    await cluster?.close()
  }
}

/** Builds `@gatepass/sdk` if its sources changed, without a check of types, which is `npm run types:all`. */
async function buildSdk(): Promise<string> {
  await promisify(execFile)('node_modules/.bin/tsc', ['-b', 'src/sdk', '--noCheck'])
  return 'src/sdk/dist'
}
