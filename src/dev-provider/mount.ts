import { hkdfSync } from 'node:crypto'
import type { Hono } from 'hono'
import type { Broker } from '../broker.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../domain/clock.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { registerWorker, syncWorker, updateWorker } from '../tools/worker.ts'
import { openWorkerSecret } from '../tools/worker-secret.ts'
import { createSandbox } from './dev-provider.ts'

/** The id of the worker that development mode registers. */
export const SANDBOX_WORKER = 'sandbox'

/** The sandbox of this installation. Its keys are derived from the master key, so tokens survive a restart. */
export function sandboxFor(config: Config, now: Clock): Hono {
  const [key] = config.masterKeys
  return createSandbox({ publicUrl: config.publicUrl, key, now, workerSecret: workerSecret(config) })
}

/** Registers the sandbox's worker, or updates its URL and secret when the public URL or the master key has changed. */
export async function prepareSandbox(broker: Broker, config: Config): Promise<void> {
  const { id: projectId } = await broker.store.projects.ensure(DEFAULT_PROJECT, broker.now())
  const uri = `${config.publicUrl.origin}/sandbox`
  const secret = workerSecret(config)
  const known = await broker.store.workers.find(projectId, SANDBOX_WORKER)
  if (known === undefined)
    await registerWorker(broker, projectId, {
      id: SANDBOX_WORKER,
      type: 'http',
      enabled: true,
      uri,
      secret,
      settings: {},
      timeoutSeconds: 10,
      retry: 0,
    })
  else if (known.uri !== uri || openWorkerSecret(broker, known) !== secret)
    await updateWorker(broker, known, () => ({ uri, secret }))
  else await syncWorker(broker, known)
}

function workerSecret({ masterKeys: [key] }: Config): string {
  return Buffer.from(hkdfSync('sha256', key, '', 'gatepass/sandbox/worker', 32)).toString('base64url')
}
