import { BrokerError } from '../../domain/errors.ts'
import { missingScopes } from '../../domain/scopes.ts'
import type { SharedUse } from '../../domain/shared-connection.ts'
import {
  type AuthorizationRequirement,
  qualifiedAliases,
  type Tool,
  type ToolRequirements,
} from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { type Worker, type WorkerStatus, workerStatus } from '../../domain/worker.ts'
import { getSubjectEntry } from '../../flows/exchange-subject.ts'
import { getProviderIn, missingSettings, providerIdentity, requireActive } from '../../flows/get-provider.ts'
import { mayImpersonate } from '../../flows/impersonated-token.ts'
import type { ProviderBook } from '../../flows/provider-book.ts'
import { chooseShared, isUsableFor, sharedUse } from '../../flows/shared-token.ts'
import { factsOf } from '../../providers/known-facts.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ownerOf } from '../../providers/provider-grant.ts'
import { unacceptedReason } from './held-tools.ts'
import type {
  RequiredProvider,
  RequiredSecret,
  RequiredWorker,
  RequirementContext,
  RequirementStatus,
} from './requirement-context.ts'

// Whether requirements are met, judged by the context that `loadRequirementContext` read.

/** Whether the tool's requirements are met. */
export function statusOfTool(context: RequirementContext, tool: Tool): RequirementStatus {
  const { broker, workers } = context
  const chosen = chooseRequirements(context, tool)
  const secrets = chosen.secrets.map((key) => statusOfSecret(context, key))
  const names = { ownNames: hasOwnName(tool) ? qualifiedAliases(tool) : [] }
  const authorizations = chosen.authorization.map((need) => statusOfNeed(context, need, names))
  const unaccepted =
    tool.source.kind === 'worker'
      ? unacceptedReason(broker, workers.get(tool.source.workerUid), tool)
      : undefined
  if (unaccepted !== undefined)
    return {
      met: false,
      authorizations: authorizations.map((authorization) => notAccepted(authorization, unaccepted)),
      secrets: secrets.map((secret) => ({ ...secret, met: false, statusReason: unaccepted })),
    }
  const worker = statusOfWorker(context, tool)
  return {
    met: [...secrets, ...authorizations, ...(worker ? [worker] : [])].every((requirement) => requirement.met),
    authorizations,
    secrets,
    worker,
  }
}

export function statusOfSecret({ secrets }: RequirementContext, key: string): RequiredSecret {
  const met = secrets.has(key.toLowerCase())
  return { key, met, ...(!met && { statusReason: `Set it by POST /v1/admin/secrets/${key}.` }) }
}

/** Whether the tool's worker can run it, judged without a request to the worker. */
export function statusOfWorker(
  { workers }: Pick<RequirementContext, 'workers'>,
  { binding }: Pick<Tool, 'binding'>,
): RequiredWorker | undefined {
  const worker = binding && workers.get(binding.workerUid)
  if (worker === undefined) return undefined
  const status = workerStatus(worker)
  return { id: worker.id, met: status === 'active', status, ...reasonOf(worker, status) }
}

function reasonOf({ id, syncError }: Worker, status: WorkerStatus): { statusReason?: string } {
  if (status === 'inactive') return { statusReason: `The worker "${id}" is switched off.` }
  if (status === 'active') return {}
  return { statusReason: `The worker "${id}" cannot be reached: ${syncError ?? 'it does not answer'}` }
}

/** A requirement of a tool that an administrator has not accepted: it is not met, and no user is asked for it. */
export function notAccepted(
  { tokenStatus: _, ...required }: RequiredProvider,
  statusReason: string,
): RequiredProvider {
  return { ...required, met: false, status: 'inactive', statusReason }
}

/** What one run of a tool needs: all of it. */
export type ChosenRequirements = Pick<ToolRequirements, 'authorization' | 'secrets'>

/**
 * The tool's requirements, with one of its alternatives: the first that the user has granted, or else the first whose
 * providers are configured. Alternatives whose secrets are not set are skipped.
 */
export function chooseRequirements(
  context: RequirementContext,
  { requirements }: Pick<Tool, 'requirements'>,
): ChosenRequirements {
  const { alternatives = [] } = requirements
  if (alternatives.length === 0) return requirements
  const { authorization, alternativeSecrets = [], secrets } = requirements
  const ofAlternatives = new Set(alternativeSecrets.flat())
  const always = secrets.filter((key) => !ofAlternatives.has(key))
  const all = alternatives.map((needs, index) => ({ needs, own: alternativeSecrets[index] ?? [] }))
  const possible = all.filter(({ own }) => own.every((key) => statusOfSecret(context, key).met))
  const { needs = [], own = [] } = firstGranted(context, possible) ?? all[0] ?? {}
  return { authorization: [...authorization, ...needs], secrets: [...always, ...own] }
}

function firstGranted<Alternative extends { readonly needs: readonly AuthorizationRequirement[] }>(
  context: RequirementContext,
  alternatives: readonly Alternative[],
): Alternative | undefined {
  let configured: Alternative | undefined
  for (const alternative of alternatives) {
    const { needs } = alternative
    const statuses = needs.map((need) => statusOfNeed(context, need))
    const isGranted = context.userId === undefined ? needs.length === 0 : statuses.every(({ met }) => met)
    if (isGranted) return alternative
    if (statuses.every(({ status }) => status === 'active')) configured ??= alternative
  }
  return configured
}

/** Returns the entry that a requirement names. Throws `provider_not_found`, `provider_inactive`. */
export function getRequiredEntry(providers: ProviderBook, need: AuthorizationRequirement): ProviderEntry {
  const entry =
    need.providerUid === undefined
      ? requireActive(getProviderIn(providers, need))
      : providers.byUid(need.providerUid)
  if (entry === undefined)
    throw new BrokerError(
      'provider_not_found',
      'The provider this tool needs was deleted. Import the tool again.',
    )
  // the token for an MCP server is for that server alone, so a tool that names its provider does not get the token
  if (entry.source === 'server' && need.use !== 'server')
    throw new BrokerError(
      'provider_not_found',
      `The provider "${entry.id}" opens a remote MCP server, and its tokens are given to no tool. Name another provider.`,
    )
  return requireActive(entry)
}

const SHARED_UNUSABLE =
  'The connection of the project does not work, or not with these scopes. An administrator has to look after it: gatepass connections shared.'

/** Whether one requirement is met, judged by stored connections: nothing is refreshed. */
export function statusOfNeed(
  context: RequirementContext,
  need: AuthorizationRequirement,
  tool?: SharedUse['tool'],
): RequiredProvider {
  const { broker, providers, userId } = context
  const scopes = [...need.scopes]
  try {
    const entry = getRequiredEntry(providers, need)
    const missing = missingSettings(broker, entry)
    const use = userId === undefined ? undefined : sharedUse(userId, tool)
    const tokenStatus = use && tokenStatusOf(context, entry, scopes, use)
    const isShared = use !== undefined && chooseShared(context.shared, { entry }, use).shared !== undefined
    const isBroken = isShared && tokenStatus === 'not_started' && !context.grants.has(entry.uid)
    return {
      met: missing.length === 0 && tokenStatus !== 'not_started',
      id: entry.id,
      wellKnownId: entry.wellKnownId,
      scopes,
      status: missing.length === 0 ? 'active' : 'inactive',
      ...(isBroken && { statusReason: SHARED_UNUSABLE }),
      ...(missing.length > 0 && { statusReason: `${missing.join(', ')} not set` }),
      tokenStatus,
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return {
      met: false,
      id: need.id,
      wellKnownId: need.providerId,
      scopes,
      status: 'inactive',
      statusReason: error.message,
      ...(userId !== undefined && { tokenStatus: 'not_started' }),
    }
  }
}

function tokenStatusOf(
  context: RequirementContext,
  entry: ProviderEntry,
  scopes: readonly string[],
  use: SharedUse,
): 'completed' | 'not_started' {
  const { broker, grants, providers } = context
  if (entry.provider.grant?.subject !== undefined)
    return tokenStatusOf(context, getSubjectEntry(providers, entry), [], use)
  if (entry.provider.impersonation !== undefined)
    return mayImpersonate(entry, use.userId) ? 'completed' : 'not_started'
  const grant = grants.get(entry.uid)
  if (grant === undefined && ownerOf(entry.provider) !== 'user')
    return isSharedUsable(context, entry, scopes, use) ? 'completed' : 'not_started'
  const usable =
    grant?.status === 'active' &&
    grant.providerIdentity === providerIdentity(broker, entry) &&
    missingScopes(scopes, grant.scopes, factsOf(entry.provider)).length === 0 &&
    (grant.canRefresh || grant.expiresAt === undefined || broker.now() < grant.expiresAt)
  return usable ? 'completed' : 'not_started'
}

function isSharedUsable(
  { broker, shared: all, sharedRows }: RequirementContext,
  entry: ProviderEntry,
  scopes: readonly string[],
  use: SharedUse,
): boolean {
  const { shared } = chooseShared(all, { entry }, use)
  return shared !== undefined && isUsableFor(broker, entry, shared, scopes, sharedRows.get(entry.uid) ?? [])
}
