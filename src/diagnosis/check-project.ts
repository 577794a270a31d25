import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Broker } from '../broker.ts'
import { isExpired } from '../domain/api-key.ts'
import { toTimestamp } from '../domain/clock.ts'
import { sha256 } from '../domain/ids.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import type { SharedConnection } from '../domain/shared-connection.ts'
import type { Worker } from '../domain/worker.ts'
import { OutgoingError } from '../egress/outgoing.ts'
import { missingSettings } from '../flows/get-provider.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { hasRedirect, isUserless } from '../providers/provider-grant.ts'
import { environmentName } from '../services/environment-client.ts'
import type { Check, DiagnosisTarget } from './check.ts'
import { isServing } from './is-serving.ts'

const TIMEOUT_MS = 5_000

/** Checks that the project has an API key that works. */
export async function checkApiKeys({ broker, project, config }: DiagnosisTarget): Promise<Check> {
  const name = 'API keys'
  const keys = await broker.store.apiKeys.list(project.id)
  const now = broker.now()
  const active = keys.filter((key) => key.revokedAt === undefined && !isExpired(key, now)).length
  if (active > 0) return { name, status: 'ok', message: `${active} in use in the project "${project.name}"` }
  if (config.apiKey !== undefined && project.name === DEFAULT_PROJECT) {
    const hash = sha256(config.apiKey)
    if (!keys.some((key) => key.hash === hash))
      return { name, status: 'ok', message: 'GATEPASS_API_KEY will be accepted after the next start' }
    return {
      name,
      status: 'warning',
      message: 'GATEPASS_API_KEY is a key that was revoked or has expired, and stays refused.',
      fix: `Set another key there and restart, or: gatepass keys create --project ${project.name} --role admin`,
    }
  }
  return {
    name,
    status: 'warning',
    message: `The project "${project.name}" has no valid API key, so no caller can use it.`,
    fix: `gatepass keys create --project ${project.name} --role admin`,
  }
}

/** Checks that the server answers at its public URL. */
export async function checkServer({ config: { publicUrl } }: DiagnosisTarget): Promise<Check> {
  const name = 'server'
  if (await isServing(publicUrl)) return { name, status: 'ok', message: `answers at ${publicUrl.origin}` }
  return {
    name,
    status: 'warning',
    message: `No Gatepass answers at ${publicUrl.origin}.`,
    fix: 'Start it (npm start or gatepass serve). If it is running, check GATEPASS_PUBLIC_URL, the port, and the proxy in front of it.',
  }
}

interface OwnServer {
  /** Whether this installation's own server answers, which serves the sandbox's provider and worker too. */
  readonly isUp: boolean
}

/** Checks that each provider can be reached and has a client. */
export async function checkProviders(
  { broker, project, config }: DiagnosisTarget,
  { isUp }: OwnServer,
): Promise<Check[]> {
  const entries = await broker.store.providers.list(project.id)
  if (entries.length === 0) return []
  const shared = await broker.store.sharedConnections.list(project.id)
  const reach = reachabilityByOrigin(broker)
  return Promise.all(
    entries.map(async (entry): Promise<Check> => {
      const name = `provider ${entry.id}`
      const where = whereOf(broker, entry)
      if (entry.status === 'inactive') return { name, status: 'ok', message: `switched off; ${where}` }
      const { tokenRequest, api } = entry.provider
      const endpoint = tokenRequest?.endpoint ?? api?.baseUrl
      const origin = endpoint === undefined ? undefined : new URL(endpoint).origin
      const isOwn = origin === config.publicUrl.origin && !isUp
      const fault = origin === undefined || isOwn ? undefined : await reach(origin)
      const missing = missingSettings(broker, entry)
      const variables = missing.map((setting) => `${environmentName(entry.id)}_${setting.toUpperCase()}`)
      const lacks = `has no ${missing.join(' and no ')} yet, so its tools cannot be used`
      const what = hasRedirect(entry.provider) ? 'that redirect URI' : 'a client'
      const register = `Register ${what} at ${entry.provider.displayName}, then set ${variables.join(' and ')}, or run: gatepass providers set ${entry.id}${project.name === DEFAULT_PROJECT ? '' : ` --project ${project.name}`}`
      if (fault !== undefined && origin !== undefined) {
        const message = [fault.replace(/\.$/, ''), ...(missing.length > 0 ? [lacks] : []), where].join('; ')
        const fix = [fixFor(entry, fault, origin), ...(missing.length > 0 ? [register] : [])].join(' ')
        return { name, status: 'failed', message, fix }
      }
      if (missing.length > 0) return { name, status: 'warning', message: `${lacks}; ${where}`, fix: register }
      const { clientSecretExpiresAt } = entry.provider
      if (clientSecretExpiresAt !== undefined && clientSecretExpiresAt <= broker.now())
        return {
          name,
          status: 'warning',
          message: `the secret that ${entry.provider.displayName} gave Gatepass at the registration expired at ${toTimestamp(clientSecretExpiresAt)}; ${where}`,
          fix: `Gatepass registers again when a token that lists the server's tools cannot be refreshed. To have it register now: DELETE /v1/admin/auth_providers/${entry.id}. In both cases users must approve again.`,
        }
      const unused = unsharedCheck(entry, shared)
      if (unused !== undefined) return { name, status: 'warning', ...unused }
      return { name, status: 'ok', message: `complete; ${where}` }
    }),
  )
}

/** Where users return to; where none takes part, how tokens come. */
function whereOf(broker: Broker, entry: ProviderEntry): string {
  const { grant, credentials } = entry.provider
  if (grant !== undefined && !hasRedirect(entry.provider)) return `tokens by the grant ${grant.type}`
  return credentials === undefined ? `redirect URI ${broker.redirectUri(entry)}` : 'users type credentials'
}

/** Tokens without a user are used through connections of the project, so without one no tool can use them. */
function unsharedCheck(
  { id, uid, provider }: ProviderEntry,
  shared: readonly SharedConnection[],
): Pick<Check, 'message' | 'fix'> | undefined {
  const isUsed = provider.impersonation !== undefined || shared.some((one) => one.providerUid === uid)
  if (!isUserless(provider) || isUsed) return undefined
  return {
    message:
      'gives tokens without a user, and no connection of the project shares them, so every use is refused',
    fix: `Share it with those who may use it: gatepass connections add ${id} --name ${id} --users '*'`,
  }
}

/** Checks that each worker is healthy and that its catalogue was read. */
export async function checkWorkers(
  { broker, project, config }: DiagnosisTarget,
  { isUp }: OwnServer,
): Promise<Check[]> {
  const workers = await broker.store.workers.list(project.id)
  return Promise.all(
    workers.map((worker) =>
      broker.backends.of(worker).isInProcess
        ? checkModule(worker, config)
        : checkWorker(broker, worker, new URL(config.publicUrl).origin, { isUp }),
    ),
  )
}

/** A module runs in the server's process, so another process can only check whether the settings name it. */
function checkModule({ id, uri, syncError }: Worker, { toolModules }: DiagnosisTarget['config']): Check {
  const name = `worker ${id}`
  const file = fileURLToPath(uri)
  if (!toolModules.some((module) => pathToFileURL(resolve(module)).href === uri))
    return {
      name,
      status: 'warning',
      message: `is the module ${file}, which GATEPASS_TOOLS does not name here.`,
      fix: 'Name it in GATEPASS_TOOLS as the server does. At its next start, the server removes modules that its GATEPASS_TOOLS does not name.',
    }
  if (syncError !== undefined)
    return {
      name,
      status: 'warning',
      message: `is the module ${file}, of which not all tools were read: ${syncError}`,
      fix: 'Correct the module and restart the server.',
    }
  return { name, status: 'ok', message: `is the module ${file}, in the server’s own process` }
}

async function checkWorker(
  broker: Broker,
  worker: Worker,
  ownOrigin: string,
  { isUp }: OwnServer,
): Promise<Check> {
  const name = `worker ${worker.id}`
  if (!worker.enabled) return { name, status: 'ok', message: 'switched off' }
  const { origin } = new URL(worker.uri)
  if (origin === ownOrigin && !isUp)
    return { name, status: 'warning', message: 'belongs to the server, which is not running.' }
  const health = await broker.backends.of(worker).health(broker, worker)
  if (!health.healthy)
    return {
      name,
      status: 'failed',
      message: health.message ?? 'is not healthy.',
      fix: `Start the worker at ${origin}, or PATCH /v1/workers/${worker.id} with its new address.`,
    }
  if (worker.syncError !== undefined)
    return {
      name,
      status: 'warning',
      message: `is healthy, but not all of its catalogue was read: ${worker.syncError}`,
      fix: 'Correct the worker; its catalogue is read again every 30 seconds.',
    }
  return { name, status: 'ok', message: `is healthy, at ${origin}` }
}

/**
 * Returns a function that sends one request to each origin. It resolves to `undefined` when the origin gave any HTTP
 * answer, else to the message of the failure.
 */
function reachabilityByOrigin({ outgoing }: Broker): (origin: string) => Promise<string | undefined> {
  const asked = new Map<string, Promise<string | undefined>>()
  const ask = async (origin: string) => {
    try {
      await outgoing.send({ url: origin, deadlineMs: TIMEOUT_MS })
      return undefined
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      return error.kind === 'redirected' || error.kind === 'too_large' ? undefined : error.message
    }
  }
  return (origin) => {
    const answer = asked.get(origin) ?? ask(origin)
    asked.set(origin, answer)
    return answer
  }
}

function fixFor(entry: ProviderEntry, fault: string, origin: string): string {
  if (fault.includes('GATEPASS_ALLOWED_HOSTS'))
    return `If ${origin} is yours, list its host in GATEPASS_ALLOWED_HOSTS.`
  return `Check the network, DNS, and proxy between this machine and ${origin}. If ${entry.provider.displayName} has moved, import its metadata again.`
}
