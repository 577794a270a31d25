import type { Broker } from '../../../src/broker.ts'
import { webhookContext } from '../../../src/features/webhooks/store.ts'
import { webhook } from './fixtures.ts'

/** Adds a webhook with its secret and the one before. */
export async function addWebhookWithSecrets({ store, sealer }: Broker, projectId: string): Promise<void> {
  const hook = webhook({ projectId, url: 'https://127.0.0.1:9/', previousUntil: 5_000_000_000 })
  const secretOf = (column: 'secret' | 'previous_secret') =>
    sealer.seal(`the ${column}`, webhookContext('webhooks', column, { id: hook.id, projectId }))
  const secrets = { secret: secretOf('secret'), previousSecret: secretOf('previous_secret') }
  await store.webhooks.add({ ...hook, ...secrets, enabled: false }, 10)
}
