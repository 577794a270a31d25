import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep, scopesOf } from '../../domain/authorization.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import { type AuthorizationRequirement, type Tool, toolId } from '../../domain/tool.ts'
import {
  type AcquiredToken,
  acquireTokens,
  connectUrl,
  findTokens,
  type ProviderNeed,
  type TokenAcquisition,
  type TokensNeed,
} from '../../flows/acquire-tokens.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { refreshConnection } from '../../flows/refresh/refresh-connection.ts'
import { actForTool } from '../../services/request-context.ts'
import { isGateRefusal } from '../../services/use-gate.ts'
import { checkAccepted } from '../catalogue/held-tools.ts'
import { chosenRequirements, getRequirementEntry, requirementStatus } from '../catalogue/tool-requirements.ts'
import type { AuthorizationRequired, RequestedAuthorization, ToolAnswer } from '../tool-answer.ts'
import type { ToolUse } from './execution.ts'

// The tokens for a tool: which providers the tool needs, and a token of its user for each.

/** A provider that a tool needs, and the requirements of the tool that name this provider. */
export interface ToolNeed extends ProviderNeed {
  readonly requirements: readonly AuthorizationRequirement[]
}

export type ToolToken = AcquiredToken<ToolNeed>

/**
 * The providers and scopes that a tool needs, each provider once, in the order in which the tool declares them. When the
 * user must be asked, `alsoAsk` adds the scopes of all tools that were imported with the entry, so that one consent
 * serves them all. Throws `not_accepted`, `provider_not_found`, and `invalid_request` for an account at a provider that
 * the tool does not need.
 */
export async function toolNeeds(
  broker: Broker,
  tool: Tool,
  { userId, accounts = {}, requested }: Pick<ToolUse, 'userId' | 'accounts' | 'requested'> = {},
): Promise<ToolNeed[]> {
  await checkAccepted(broker, tool)
  const byEntry = new Map<string, ToolNeed>()
  const { authorization } = await chosenRequirements(broker, tool, userId)
  for (const requirement of authorization) {
    const entry = await getRequirementEntry(broker, tool.projectId, requirement)
    const known = byEntry.get(entry.uid)
    const account = Object.hasOwn(accounts, entry.id) ? accounts[entry.id] : undefined
    byEntry.set(entry.uid, {
      entry,
      scopes: unionOfScopes(known?.scopes ?? [], requirement.scopes),
      ...(entry.source === 'metadata' && { alsoAsk: entry.provider.defaultScopes }),
      account,
      requirements: [...(known?.requirements ?? []), requirement],
    })
  }
  const needs = [...byEntry.values()]
  const unknown = Object.keys(accounts).filter((id) => !needs.some(({ entry }) => entry.id === id))
  if (unknown.length > 0)
    throw invalidMember(
      'accounts',
      'not_allowed',
      `accounts names ${unknown.map((id) => `"${id.slice(0, 100)}"`).join(', ')}, which the tool "${tool.title}" does not need. It needs ${needs.map(({ entry }) => `"${entry.id}"`).join(', ') || 'no provider'}.`,
    )
  return requested === undefined ? needs : withRequested(needs, requested)
}

/** Limits of scopes that a worker requests: they are stored, shown and sent in a URL. */
const MAX_REQUESTED_SCOPES = 200
const SCOPE = /^\P{Cc}{1,1000}$/u

/** Adds the scopes that the worker requested to the need they belong to, if there is exactly one. Invalid scopes are left out. */
function withRequested(
  needs: readonly ToolNeed[],
  { use, scopes: texts = [] }: RequestedAuthorization,
): ToolNeed[] {
  const scopes = texts
    .filter((scope) => SCOPE.test(scope) && scope.isWellFormed())
    .slice(0, MAX_REQUESTED_SCOPES)
  const isMeant = ({ requirements }: ToolNeed) => requirements.some((requirement) => requirement.use === use)
  if (needs.filter(isMeant).length !== 1) return [...needs]
  return needs.map((need) => (isMeant(need) ? { ...need, scopes: unionOfScopes(need.scopes, scopes) } : need))
}

/** Selects, from the accounts that a caller chose for several tools, those at providers that this tool needs. */
export async function accountsFor(
  broker: Broker,
  tool: Tool,
  { userId, accounts = {} }: Pick<ToolUse, 'userId' | 'accounts'>,
): Promise<Readonly<Record<string, string>>> {
  const needs = await toolNeeds(broker, tool, { userId })
  const needed = new Set(needs.map(({ entry }) => entry.id))
  return Object.fromEntries(Object.entries(accounts).filter(([id]) => needed.has(id)))
}

/** Whether no consent is missing, judged by stored connections alone: nothing is refreshed. */
export async function isGranted(broker: Broker, tool: Tool, userId: string | undefined): Promise<boolean> {
  const { authorizations } = await requirementStatus(broker, tool, userId)
  return authorizations.every((authorization) => authorization.tokenStatus !== 'not_started')
}

/**
 * A token for each provider that the tool needs, or one authorization for all that are missing. A tool that needs no
 * provider gets no token. Throws `invalid_request` when the tool needs one and no user is named, and what
 * `acquireTokens` throws.
 */
export async function authorizeTool(
  broker: Broker,
  use: ToolUse,
  known?: readonly ToolNeed[],
): Promise<TokenAcquisition<ToolNeed>> {
  actForTool(toolId(use.tool))
  const need = await tokensNeed(broker, use, known)
  return need === undefined ? NO_TOKENS : acquireTokens(broker, need)
}

/** Like `authorizeTool`, but the tokens are not recorded as released: they must not leave this process. */
export async function findToolTokens(
  broker: Broker,
  use: ToolUse,
  known: readonly ToolNeed[],
): Promise<TokenAcquisition<ToolNeed>> {
  const need = await tokensNeed(broker, use, known)
  return need === undefined ? NO_TOKENS : findTokens(broker, need)
}

const NO_TOKENS = { outcome: 'ready', tokens: [] } as const

/** `undefined`: the tool needs no token. */
async function tokensNeed(
  broker: Broker,
  use: ToolUse,
  known: readonly ToolNeed[] | undefined,
): Promise<TokensNeed<ToolNeed> | undefined> {
  const { tool, userId, account, nextUri, userDisplay, lang } = use
  const providers = known ?? (await toolNeeds(broker, tool, use))
  if (providers.length === 0) return undefined
  if (userId === undefined)
    throw invalidMember(
      'user_id',
      'missing',
      `The tool "${tool.title}" acts for a user: say which in user_id.`,
    )
  return {
    projectId: tool.projectId,
    userId,
    providers,
    requester: tool.title,
    account,
    nextUri,
    userDisplay,
    lang,
  }
}

/** The outcome of a call whose user must complete the authorization first. */
export async function authorizationRequired(
  broker: Broker,
  authorization: Authorization,
): Promise<AuthorizationRequired> {
  const { id, projectId, userId, steps, expiresAt } = authorization
  const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
  return {
    outcome: 'authorization_required',
    authorization: {
      id,
      url: connectUrl(broker, authorization),
      scopes: scopesOf(authorization),
      status: 'pending',
      userId,
      steps,
      expiresAt,
      ...(entry !== undefined && { providerId: entry.id }),
    },
  }
}

/** An answer that is a failure of the tool. */
export type FailedAnswer = ToolAnswer & { readonly outcome: 'error' }

/** Whether the provider's API refused the token that the tool sent (RFC 6750 section 3.1). */
export function isTokenRefused(answer: ToolAnswer): answer is FailedAnswer {
  if (answer.outcome !== 'error' || answer.isOwn) return false
  const { kind, statusCode } = answer.error
  return statusCode === undefined ? kind === 'UPSTREAM_RUNTIME_AUTH_ERROR' : statusCode === 401
}

/**
 * Refreshes the tokens of a call after the provider refused one of them: a provider may revoke a token before it expires.
 * The tool does not say which of several tokens was refused, so all are refreshed. `unchanged`: there is no new token.
 */
export async function replaceTokens(
  broker: Broker,
  use: ToolUse,
  refused: readonly ToolToken[],
): Promise<
  | { readonly outcome: 'replaced'; readonly tokens: readonly ToolToken[] }
  | { readonly outcome: 'unchanged' }
  | AuthorizationRequired
> {
  try {
    const outcomes = await Promise.all(
      refused.map(({ release: { entry, connection, accessToken } }) =>
        refreshConnection(broker, entry, connection, { rejected: accessToken }),
      ),
    )
    if (outcomes.every((outcome) => outcome.outcome === 'provider_unavailable'))
      return { outcome: 'unchanged' }
    const acquired = await authorizeTool(broker, use)
    if (acquired.outcome === 'authorization_required')
      return authorizationRequired(broker, acquired.authorization)
    const { tokens } = acquired
    const before = new Set(refused.map(({ release }) => release.accessToken))
    const isReplaced = tokens.some(({ release }) => !before.has(release.accessToken))
    return isReplaced ? { outcome: 'replaced', tokens } : { outcome: 'unchanged' }
  } catch (error) {
    // the provider refuses the client, or cannot be reached: the tool's own error tells the caller more
    if (error instanceof BrokerError && !isGateRefusal(error)) return { outcome: 'unchanged' }
    throw error
  }
}

/** Marks the failure as retryable with the new token. The caller decides, since the tool may have acted before. */
export function asRetryable(answer: FailedAnswer): FailedAnswer {
  const { error } = answer
  return { ...answer, error: { ...error, canRetry: true, retryAfterMs: error.retryAfterMs ?? 0 } }
}
