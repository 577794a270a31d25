import type { Broker } from '../../broker.ts'
import { currentStep } from '../../domain/authorization.ts'
import type { Cause } from '../../domain/causes.ts'
import { readTrail } from '../../domain/trail.ts'
import { webhookCause } from '../../domain/webhook.ts'
import { workerStatus } from '../../domain/worker.ts'
import { causeOfAuthorization } from '../explain/explain-authorization.ts'
import { causeOfConnection } from '../explain/explain-connection.ts'
import { missingSettings, providersOf } from '../find-provider.ts'

/** Connections that are looked at, and authorizations that have ended; more are said to be more. */
const MOST = 200
const RECENT_SECONDS = 24 * 3600
/** Causes of failed consents are read for so many of them, since each reads a row. */
const MOST_CAUSES = 10

/** One thing that needs the operator or users, with where to look. */
export interface Attention {
  readonly tone: 'bad' | 'wait'
  readonly title: string
  readonly toDo: string
  /** Below `/dashboard`. */
  readonly path?: string
}

/**
 * What needs attention, the worst first. It reads a bounded number of rows and asks no other server.
 *
 * @param others what the caller has found besides
 */
export async function needsAttention(
  broker: Broker,
  projectId: string,
  others: readonly Attention[] = [],
): Promise<readonly Attention[]> {
  const all = await Promise.all([
    incompleteProviders(broker, projectId),
    failingWorkers(broker, projectId),
    troubledWebhooks(broker, projectId),
    failedConsents(broker, projectId),
    brokenConnections(broker, projectId),
    unprovedDomain(broker, projectId),
  ])
  const found = [...all.flat(), ...others]
  return [...found.filter(({ tone }) => tone === 'bad'), ...found.filter(({ tone }) => tone === 'wait')]
}

async function incompleteProviders(broker: Broker, projectId: string): Promise<Attention[]> {
  const { entries } = await providersOf(broker, projectId)
  return entries.flatMap((entry) => {
    const missing = entry.status === 'active' ? missingSettings(broker, entry) : []
    if (missing.length === 0) return []
    return [
      {
        tone: 'bad' as const,
        title: `The provider ${entry.id} has no ${missing.map((one) => one.replaceAll('_', ' ')).join(' and no ')}.`,
        toDo: 'No user can connect it until its client is set.',
        path: '/providers',
      },
    ]
  })
}

async function failingWorkers(broker: Broker, projectId: string): Promise<Attention[]> {
  const workers = await broker.store.workers.list(projectId)
  return workers
    .filter(({ enabled, syncError }) => enabled && syncError !== undefined)
    .map((worker) => {
      const isDown = workerStatus(worker) === 'unreachable'
      return {
        tone: isDown ? ('bad' as const) : ('wait' as const),
        title: isDown
          ? `The worker ${worker.id} cannot be reached.`
          : `Not all tools of the worker ${worker.id} were read.`,
        toDo: worker.syncError ?? '',
        path: '/workers',
      }
    })
}

/** Webhooks whose receiver fails, and those that Gatepass has disabled; not those that an administrator has. */
async function troubledWebhooks(broker: Broker, projectId: string): Promise<Attention[]> {
  const webhooks = await broker.store.webhooks.list(projectId)
  return webhooks.flatMap((webhook) => {
    const cause = webhookCause(webhook)
    if (cause === undefined || cause.code === 'webhook_switched_off') return []
    return [
      {
        tone: 'bad' as const,
        title: `The webhook to ${new URL(webhook.url).host}: ${cause.message}`,
        toDo: cause.toDo,
        path: `/webhooks/${webhook.id}`,
      },
    ]
  })
}

async function failedConsents(broker: Broker, projectId: string): Promise<Attention[]> {
  const since = broker.now() - RECENT_SECONDS
  const [ended, book] = await Promise.all([
    broker.store.authorizations.endedSince(projectId, since, MOST),
    providersOf(broker, projectId),
  ])
  /** The latest of each provider: an older failure says little once another consent was completed. */
  const latest = new Map<string, (typeof ended)[number]>()
  for (const one of ended) {
    const { providerUid } = currentStep(one)
    if (!latest.has(providerUid)) latest.set(providerUid, one)
  }
  const found: Attention[] = []
  for (const [providerUid, authorization] of [...latest].slice(0, MOST_CAUSES)) {
    if (authorization.status !== 'failed') continue
    const cause = await causeOfAuthorization(broker, authorization)
    if (cause === undefined || cause.who === 'user') continue
    found.push({
      tone: 'bad',
      title: `The latest consent at ${book.byUid(providerUid)?.id ?? 'a removed provider'} failed: ${cause.message}`,
      toDo: cause.toDo,
      path: `/authorizations/${authorization.id}`,
    })
  }
  return found
}

async function brokenConnections(broker: Broker, projectId: string): Promise<Attention[]> {
  const [troubled, book] = await Promise.all([
    broker.store.connections.troubled(projectId, MOST),
    providersOf(broker, projectId),
  ])
  const groups = new Map<string, { readonly cause: Cause; readonly provider: string; count: number }>()
  for (const connection of troubled) {
    const entry = book.byUid(connection.providerUid)
    const { entries } = readTrail(connection.trail ?? '')
    const cause = causeOfConnection(broker, connection, entry, entries)
    if (cause === undefined) continue
    const provider = entry?.id ?? 'a removed provider'
    const key = `${provider} ${cause.code}`
    const group = groups.get(key) ?? { cause, provider, count: 0 }
    group.count++
    groups.set(key, group)
  }
  const atLeast = troubled.length < MOST ? '' : 'At least '
  return [...groups.values()].map(({ cause, provider, count }) => ({
    tone: cause.who === 'user' ? 'wait' : 'bad',
    title: `${atLeast}${count} ${count === 1 ? 'connection' : 'connections'} at ${provider}: ${cause.message}`,
    toDo: cause.toDo,
    path: `/connections?${new URLSearchParams({ provider, status: 'needs_authorization' })}`,
  }))
}

/** A domain that was set, which users do not see before its proof. */
async function unprovedDomain(broker: Broker, projectId: string): Promise<Attention[]> {
  const domain = (await broker.store.brandings.find(projectId))?.domain
  if (domain === undefined || domain.provedAt !== undefined) return []
  return [
    {
      tone: 'bad',
      title: `The domain ${domain.name} is set and not proved.`,
      toDo: 'Users see the pages at the public URL until then: publish its TXT record and verify it, or remove the domain.',
      path: '/branding#domain',
    },
  ]
}
