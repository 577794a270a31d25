import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { acquireTokens, connectUrl, type ProviderNeed } from '../../flows/acquire-tokens.ts'
import { findUnacceptedReason } from './held-tools.ts'
import {
  loadRequirementContext,
  type RequiredProvider,
  type RequiredSecret,
  type RequiredWorker,
  type RequirementContext,
} from './requirement-context.ts'
import {
  chooseRequirements,
  getRequiredEntry,
  notAccepted,
  statusOfNeed,
  statusOfSecret,
  statusOfWorker,
} from './requirement-status.ts'

/** A provider, secret or worker that several tools need, and the ids of those tools. */
type Shared<Required> = Required & { readonly toolIds: readonly string[] }

export type SharedProvider = Shared<RequiredProvider> & {
  /** The link for the user's consent, where an authorization was begun. */
  readonly link?: ConsentLink
}
export type SharedSecret = Shared<RequiredSecret>
export type SharedWorker = Shared<RequiredWorker>

export interface ConsentLink {
  readonly authorizationId: string
  readonly url: string
}

export interface ManyRequirements {
  /** The keys are the ids of the entries. */
  readonly providers: ReadonlyMap<string, SharedProvider>
  /** The keys are those of the secrets. */
  readonly secrets: ReadonlyMap<string, SharedSecret>
  /** The keys are the ids of the workers. */
  readonly workers: ReadonlyMap<string, SharedWorker>
  /** One link for every consent that is missing, where an authorization was begun. */
  readonly link?: ConsentLink
}

/**
 * The requirements of several tools together: each provider, secret and worker once. With `authorize`, one authorization
 * begins for all providers whose consent is missing, with the scopes of all the tools. Throws `invalid_request` for
 * `authorize` without `userId`.
 */
export async function requirementsOfMany(
  broker: Broker,
  projectId: string,
  tools: readonly Tool[],
  { userId, authorize = false }: { readonly userId?: string; readonly authorize?: boolean },
): Promise<ManyRequirements> {
  if (authorize && userId === undefined)
    throw invalidMember('user_id', 'missing', 'authorize needs user_id: say whose consent it is.')
  const providers = new Map<string, SharedProvider>()
  const needs = new Map<string, ProviderNeed>()
  const reasons = new Map<Tool, string>()
  const context = await loadRequirementContext(broker, projectId, tools, userId)
  for (const tool of tools) {
    const unaccepted = await findUnacceptedReason(broker, tool)
    if (unaccepted !== undefined) reasons.set(tool, unaccepted)
    for (const requirement of chooseRequirements(context, tool).authorization) {
      const found = statusOfNeed(context, requirement)
      const required = unaccepted === undefined ? found : notAccepted(found, unaccepted)
      const key = required.id ?? required.wellKnownId ?? requirement.providerUid ?? ''
      providers.set(key, merged(providers.get(key), required, toolId(tool)))
      if (required.status !== 'active' || required.id === undefined) continue
      const entry = getRequiredEntry(context.providers, requirement)
      const alsoAsk = entry.source === 'metadata' && { alsoAsk: entry.provider.defaultScopes }
      // only the scopes of accepted tools: no user is asked for what an administrator has not accepted
      const scopes = unionOfScopes(needs.get(key)?.scopes ?? [], requirement.scopes)
      needs.set(key, { entry, scopes, ...alsoAsk })
    }
  }
  const begun =
    authorize && userId !== undefined
      ? await beginMissing(broker, { projectId, userId }, providers, needs)
      : { providers }
  return {
    ...begun,
    secrets: secretsOf(context, tools, reasons),
    workers: workersOf(context, tools),
  }
}

/** Adds one tool's requirement to what the tools before it need of the same provider. */
function merged(known: SharedProvider | undefined, required: RequiredProvider, tool: string): SharedProvider {
  const { tokenStatus: own, ...rest } = required
  const tokenStatus = known?.tokenStatus === 'not_started' ? 'not_started' : (own ?? known?.tokenStatus)
  return {
    ...rest,
    // the reason of an earlier tool that is not accepted is kept, whichever tool comes last
    ...(known?.status === 'inactive' && { status: known.status, statusReason: known.statusReason }),
    met: required.met && known?.met !== false,
    scopes: unionOfScopes(known?.scopes ?? [], required.scopes),
    tokenStatus,
    toolIds: [...new Set([...(known?.toolIds ?? []), tool])],
  }
}

/** Begins one authorization for the providers whose consent is missing. */
async function beginMissing(
  broker: Broker,
  user: { readonly projectId: string; readonly userId: string },
  providers: ReadonlyMap<string, SharedProvider>,
  needs: ReadonlyMap<string, ProviderNeed>,
): Promise<Pick<ManyRequirements, 'providers' | 'link'>> {
  const missing = [...providers].flatMap(([key, { tokenStatus }]) => {
    const need = tokenStatus === 'not_started' ? needs.get(key) : undefined
    return need === undefined ? [] : [[key, need] as const]
  })
  if (missing.length === 0) return { providers }
  const acquired = await acquireTokens(broker, { ...user, providers: missing.map(([, need]) => need) })
  if (acquired.outcome === 'ready') return { providers }
  const { id, steps } = acquired.authorization
  const link = { authorizationId: id, url: connectUrl(broker, acquired.authorization) }
  const asked = new Set(steps.map(({ providerUid }) => providerUid))
  const pending = new Set(missing.filter(([, need]) => asked.has(need.entry.uid)).map(([key]) => key))
  return {
    providers: new Map(
      [...providers].map(([key, shared]) => [
        key,
        pending.has(key) ? { ...shared, tokenStatus: 'pending', link } : shared,
      ]),
    ),
    link,
  }
}

function workersOf(context: RequirementContext, tools: readonly Tool[]): Map<string, SharedWorker> {
  const workers = new Map<string, SharedWorker>()
  for (const tool of tools) {
    const required = statusOfWorker(context, tool)
    if (required === undefined) continue
    const toolIds = workers.get(required.id)?.toolIds ?? []
    workers.set(required.id, { ...required, toolIds: [...toolIds, toolId(tool)] })
  }
  return workers
}

/** The tools' secrets. `unaccepted`: why tools may not run, and so get no secret. */
function secretsOf(
  context: RequirementContext,
  tools: readonly Tool[],
  unaccepted: ReadonlyMap<Tool, string>,
): Map<string, SharedSecret> {
  const secrets = new Map<string, SharedSecret>()
  for (const tool of tools)
    for (const key of chooseRequirements(context, tool).secrets) {
      const known = secrets.get(key)
      const reason = unaccepted.get(tool)
      const own =
        reason === undefined ? statusOfSecret(context, key) : { key, met: false, statusReason: reason }
      const status = known?.met === false ? known : own
      secrets.set(key, { ...status, toolIds: [...(known?.toolIds ?? []), toolId(tool)] })
    }
  return secrets
}
