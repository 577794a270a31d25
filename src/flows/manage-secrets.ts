import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { didYouMean } from '../domain/nearest.ts'
import type { Secret } from '../domain/secret.ts'
import { sealingContext } from '../store/protected-tables.ts'

/** Sets the secret of a key. Keys are not case-sensitive, and an existing secret keeps its id. */
export async function setSecret(
  broker: Broker,
  projectId: string,
  {
    key,
    value,
    description,
  }: { readonly key: string; readonly value: string; readonly description?: string | undefined },
): Promise<Secret> {
  const known = await broker.store.secrets.find(projectId, key)
  const id = known?.id ?? newId('sec')
  const now = broker.now()
  const put = await broker.store.secrets.put(
    {
      id,
      projectId,
      key: known?.key ?? key,
      description,
      value: broker.sealer.seal(value, sealingContext('secrets', 'value', { id, projectId })),
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    },
    broker.audit.of(projectId, { action: 'secret.set', subject: known?.key ?? key }),
  )
  // another request set the key for the first time just before; the repeated call replaces that value
  return put ?? setSecret(broker, projectId, { key, value, description })
}

/** The value for a tool that declares the key; `undefined` when it was never set. */
export async function openSecret(
  broker: Broker,
  projectId: string,
  key: string,
): Promise<string | undefined> {
  const secret = await broker.store.secrets.find(projectId, key)
  if (secret === undefined) return undefined
  broker.uses.used('secrets', secret.id, broker.now())
  return broker.sealer.open(secret.value, sealingContext('secrets', 'value', secret))
}

/** Deletes the secret with this id or key. Throws `not_found`. */
export async function deleteSecret(broker: Broker, projectId: string, name: string): Promise<void> {
  const { id } = await getSecret(broker, projectId, name)
  const audit = broker.audit.of(projectId, { action: 'secret.deleted', subject: id })
  if (!(await broker.store.secrets.delete(projectId, id, audit))) throw noSecret(name)
}

/** Finds the secret by its id, else by its key, ignoring case. Throws `not_found`. */
export async function getSecret(broker: Broker, projectId: string, name: string): Promise<Secret> {
  const secrets = await broker.store.secrets.list(projectId)
  const found =
    secrets.find(({ id }) => id === name) ??
    secrets.find(({ key }) => key.toLowerCase() === name.toLowerCase())
  if (found !== undefined) return found
  throw noSecret(
    name,
    didYouMean(
      name,
      secrets.map(({ key }) => key),
    ),
  )
}

function noSecret(name: string, hint = ''): BrokerError {
  return new BrokerError(
    'not_found',
    `There is no secret with the id or key "${name.slice(0, 80)}" in this project.${hint}`,
  )
}
