import { serve } from '@hono/node-server'
import type { Broker, Log } from './broker.ts'
import type { Config } from './config.ts'
import { issueApiKey } from './domain/api-key.ts'
import type { Clock } from './domain/clock.ts'
import { newId, sha256 } from './domain/ids.ts'
import { DEFAULT_PROJECT } from './domain/project.ts'
import { createApp } from './http/app.ts'
import { answerUnreadable, serverOptions } from './http/server-options.ts'
import { openBroker } from './open-broker.ts'
import { prepareSandbox, sandboxFor, withSandboxClient } from './sandbox/mount.ts'
import { SYNC_SECONDS, syncWorkers } from './tools/worker.ts'
import { version } from './version.ts'

const FLUSH_MS = 1_000
/** How often, while it ends, connections that have become idle are closed. */
const IDLE_MS = 50
/** How long requests under way are waited for: past it come those who would kill the process. */
const LONGEST_FAREWELL_MS = 25_000
const SWEEP_MS = 10 * 60 * 1000
/** How long a settled authorization can still be asked for. */
const KEPT_SECONDS = 7 * 24 * 3600

export interface RunningServer {
  readonly broker: Broker
  /** An administrator's key made at this start, because there was none: shown once. */
  readonly newApiKey?: string
  /** Ends it: waiters are answered, what is under way is finished, for at most 25 seconds. */
  close(): Promise<void>
}

/** Opens the broker, serves it, and keeps up what has to be kept up. */
export async function startServer(
  given: Config,
  parts: { readonly log: Log; readonly now?: Clock },
): Promise<RunningServer> {
  const config = given.development ? withSandboxClient(given) : given
  const broker = await openBroker(config, parts)
  try {
    const newApiKey = await ensureApiKey(broker, config)
    const sandbox = config.development ? sandboxFor(config, broker.now) : undefined
    const app = createApp(broker, { version, ...(sandbox && { sandbox }) })
    const server = await listen(app.fetch, config)
    const timers = [
      every(FLUSH_MS, () => broker.uses.flush(), broker.log),
      every(SYNC_SECONDS * 1000, () => syncWorkers(broker), broker.log),
      every(SWEEP_MS, () => broker.store.authorizations.sweep(broker.now() - KEPT_SECONDS), broker.log),
    ]
    if (config.development) await prepareSandbox(broker, config)
    return {
      broker,
      ...(newApiKey !== undefined && { newApiKey }),
      async close() {
        for (const timer of timers) clearInterval(timer)
        broker.waiters.close()
        const closed = new Promise((resolve) => server.close(resolve))
        // one that was busy stays open after its answer, until its client is done with it
        const idle = setInterval(() => {
          if ('closeIdleConnections' in server) server.closeIdleConnections()
        }, IDLE_MS)
        // Node's own timeouts end with the listening: a request that never comes whole would be waited for for ever
        const enough = setTimeout(() => {
          if ('closeAllConnections' in server) server.closeAllConnections()
        }, LONGEST_FAREWELL_MS)
        await closed
        clearInterval(idle)
        clearTimeout(enough)
        await broker.close()
      },
    }
  } catch (error) {
    await broker.close()
    throw error
  }
}

/** The configured key, and in development one of its own when the project has none. */
async function ensureApiKey(broker: Broker, config: Config): Promise<string | undefined> {
  const { store, now } = broker
  const { id: projectId } = await store.projects.ensure(DEFAULT_PROJECT, now())
  const of = { projectId, role: 'admin', createdAt: now() } as const
  if (config.apiKey !== undefined) {
    await store.apiKeys.add({
      ...of,
      id: newId('key'),
      name: 'GATEPASS_API_KEY',
      hash: sha256(config.apiKey),
    })
    return undefined
  }
  if (!config.development || (await store.apiKeys.list(projectId)).length > 0) return undefined
  const { key, record } = issueApiKey({ ...of, name: 'development' })
  await store.apiKeys.add(record)
  return key
}

async function listen(fetch: Parameters<typeof serve>[0]['fetch'], { host, port, publicUrl }: Config) {
  return new Promise<ReturnType<typeof serve>>((resolve, reject) => {
    const options = { fetch, hostname: host, port, serverOptions: serverOptions(publicUrl) }
    const server = serve(options, () => resolve(server))
    server.on('clientError', answerUnreadable)
    server.once('error', reject)
  })
}

/** Does it again and again; a failure is logged and the next time may go well. */
function every(ms: number, job: () => Promise<unknown>, log: Log): NodeJS.Timeout {
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    job()
      .catch((error: unknown) =>
        log.error({ error: error instanceof Error ? error.name : 'unknown' }, 'a background job failed'),
      )
      .finally(() => {
        running = false
      })
  }, ms)
  return timer.unref()
}
