import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { acquireTokens, connectUrl, type ProviderNeed } from '../../flows/acquire-tokens.ts'
import { waitsFor } from './acceptance.ts'
import type { RequiredProvider, RequiredWorker } from './tool-definition.ts'
import { authorizationStatus, chosenRequirements, entryOf, workerRequired } from './tool-requirements.ts'

/** A provider that several tools need, as Arcade's wire has it. */
export interface ManyNeed extends Pick<RequiredProvider, 'provider_type' | 'status'> {
  met: boolean
  provider_id: string
  scopes: string[]
  status_reason?: string
  token_status?: string
  authorization_id?: string
  url?: string
  tool_names: string[]
}

export interface ManySecret {
  met: boolean
  status_reason?: string
  tool_names: string[]
}

export interface ManyWorker extends Omit<RequiredWorker, 'id'> {
  readonly tool_names: string[]
}

export interface ManyRequirements {
  readonly met: boolean
  readonly authorization: { readonly met: boolean; readonly items: Readonly<Record<string, ManyNeed>> }
  readonly secrets: { readonly met: boolean; readonly items: Readonly<Record<string, ManySecret>> }
  readonly workers: { readonly met: boolean; readonly items: Readonly<Record<string, ManyWorker>> }
  /** One link for all that is missing, where it was asked to begin. */
  readonly authorization_id?: string
  readonly url?: string
}

/**
 * What many tools need together, each provider and each secret once. With `authorize`, one authorization begins that
 * leads the user through every provider whose consent is missing, with the scopes of all the tools.
 */
export async function requirementsOfMany(
  broker: Broker,
  projectId: string,
  tools: readonly Tool[],
  { userId, authorize = false }: { readonly userId?: string; readonly authorize?: boolean },
): Promise<ManyRequirements> {
  if (authorize && userId === undefined)
    throw invalidMember('user_id', 'missing', 'authorize needs user_id: say whose consent it is.')
  const items = new Map<string, ManyNeed>()
  const missing = new Map<string, ProviderNeed>()
  for (const tool of tools) {
    const waits = await waitsFor(broker, tool)
    for (const need of await chosenRequirements(broker, tool, userId)) {
      const stands = await authorizationStatus(broker, projectId, need, userId)
      const { met, status } = waits === undefined ? stands : { met: false, status: waiting(stands, waits) }
      const key = status.id ?? status.provider_id ?? need.providerUid ?? ''
      const known = items.get(key)
      const { provider_type, status: state, status_reason, token_status } = status
      const token =
        known?.token_status === 'not_started' ? 'not_started' : (token_status ?? known?.token_status)
      items.set(key, {
        met: met && known?.met !== false,
        provider_id: key,
        provider_type,
        scopes: unionOfScopes(known?.scopes ?? [], need.scopes),
        status: state,
        ...(status_reason !== undefined && { status_reason }),
        ...(token !== undefined && { token_status: token }),
        tool_names: [...new Set([...(known?.tool_names ?? []), toolId(tool)])],
      })
      if (state !== 'active' || status.id === undefined) continue
      const entry = await entryOf(broker, projectId, need)
      const alsoAsk = entry.source === 'metadata' && { alsoAsk: entry.provider.defaultScopes }
      // of these tools alone: what a tool that waits names is asked of nobody
      const scopes = unionOfScopes(missing.get(key)?.scopes ?? [], need.scopes)
      missing.set(key, { entry, scopes, ...alsoAsk })
    }
  }

  const begun =
    authorize && userId !== undefined ? await begin(broker, projectId, userId, items, missing) : undefined
  const secrets = await secretsOf(broker, projectId, tools)
  const workers = await workersOf(broker, tools)
  const all = [...items.values()]
  const isMet = {
    authorization: all.every(({ met }) => met),
    secrets: [...secrets.values()].every(({ met }) => met),
    workers: [...workers.values()].every(({ met }) => met),
  }
  return {
    met: isMet.authorization && isMet.secrets && isMet.workers,
    authorization: { met: isMet.authorization, items: Object.fromEntries(items) },
    secrets: { met: isMet.secrets, items: Object.fromEntries(secrets) },
    workers: { met: isMet.workers, items: Object.fromEntries(workers) },
    ...begun,
  }
}

/** Of a tool that names what nobody has accepted: none of it is asked for. */
function waiting(
  { status: { token_status: _, ...status } }: Awaited<ReturnType<typeof authorizationStatus>>,
  status_reason: string,
): RequiredProvider {
  return { ...status, status: 'inactive', status_reason }
}

async function begin(
  broker: Broker,
  projectId: string,
  userId: string,
  items: ReadonlyMap<string, ManyNeed>,
  configured: ReadonlyMap<string, ProviderNeed>,
): Promise<Pick<ManyRequirements, 'authorization_id' | 'url'> | undefined> {
  const unmet = [...items].filter(([, { token_status }]) => token_status === 'not_started')
  const providers = unmet.flatMap(([key]) => configured.get(key) ?? [])
  if (providers.length === 0) return undefined
  const acquired = await acquireTokens(broker, { projectId, userId, providers })
  if (acquired.outcome === 'ready') return undefined
  const link = {
    authorization_id: acquired.authorization.id,
    url: connectUrl(broker, acquired.authorization),
  }
  const asked = new Set(acquired.authorization.steps.map(({ providerUid }) => providerUid))
  for (const [key, item] of unmet) {
    const uid = configured.get(key)?.entry.uid
    if (uid !== undefined && asked.has(uid)) Object.assign(item, link, { token_status: 'pending' })
  }
  return link
}

async function workersOf(broker: Broker, tools: readonly Tool[]): Promise<Map<string, ManyWorker>> {
  const workers = new Map<string, ManyWorker>()
  for (const tool of tools) {
    const required = await workerRequired(broker, tool)
    if (required === undefined) continue
    const { id, ...standing } = required
    const names = workers.get(id)?.tool_names ?? []
    workers.set(id, { ...standing, tool_names: [...names, toolId(tool)] })
  }
  return workers
}

async function secretsOf(
  broker: Broker,
  projectId: string,
  tools: readonly Tool[],
): Promise<Map<string, ManySecret>> {
  const secrets = new Map<string, ManySecret>()
  for (const tool of tools)
    for (const key of tool.requirements.secrets) {
      const known = secrets.get(key)
      const met = known?.met ?? (await broker.store.secrets.find(projectId, key)) !== undefined
      secrets.set(key, {
        met,
        ...(!met && { status_reason: `Set it by POST /v1/admin/secrets/${key}.` }),
        tool_names: [...(known?.tool_names ?? []), toolId(tool)],
      })
    }
  return secrets
}
