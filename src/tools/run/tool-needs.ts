import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import type { AuthorizationRequirement, Tool } from '../../domain/tool.ts'
import type { ProviderNeed } from '../../flows/acquire-tokens.ts'
import { checkAccepted } from '../catalogue/acceptance.ts'
import { chosenRequirements, entryOf } from '../catalogue/tool-requirements.ts'
import type { AskedAuthorization } from '../tool-answer.ts'

/** A provider that a tool needs, and which of its requirements name it. */
export interface ToolNeed extends ProviderNeed {
  readonly requirements: readonly AuthorizationRequirement[]
}

export interface ToolNeedOptions {
  readonly userId?: string
  /** Accounts by the ids of provider entries, where a call chooses one at each. */
  readonly accounts?: Readonly<Record<string, string>>
  /** What the tool has asked for besides what it declares. */
  readonly asked?: AskedAuthorization
}

/**
 * The providers and scopes a tool needs, each provider once, in the order it declares them. Once the user must be
 * asked, all that the entry's tools need is asked for, so that one consent serves them all. Throws
 * `not_accepted`, `provider_not_found`, and `invalid_request` for an account at a provider that the tool does not need.
 */
export async function toolNeeds(
  broker: Broker,
  tool: Tool,
  { userId, accounts = {}, asked }: ToolNeedOptions = {},
): Promise<ToolNeed[]> {
  await checkAccepted(broker, tool)
  const needs = new Map<string, ToolNeed>()
  for (const requirement of await chosenRequirements(broker, tool, userId)) {
    const entry = await entryOf(broker, tool.projectId, requirement)
    const known = needs.get(entry.uid)
    const account = Object.hasOwn(accounts, entry.id) ? accounts[entry.id] : undefined
    needs.set(entry.uid, {
      entry,
      scopes: unionOfScopes(known?.scopes ?? [], requirement.scopes),
      ...(entry.source === 'metadata' && { alsoAsk: entry.provider.defaultScopes }),
      ...(account !== undefined && { account }),
      requirements: [...(known?.requirements ?? []), requirement],
    })
  }
  const all = [...needs.values()]
  const unknown = Object.keys(accounts).filter((id) => !all.some(({ entry }) => entry.id === id))
  if (unknown.length > 0)
    throw invalidMember(
      'accounts',
      'not_allowed',
      `accounts names ${unknown.map((id) => `"${id.slice(0, 100)}"`).join(', ')}, which the tool "${tool.title}" does not need. It needs ${all.map(({ entry }) => `"${entry.id}"`).join(', ') || 'no provider'}.`,
    )
  return asked === undefined ? all : withAsked(all, asked)
}

/** Of accounts that are chosen for several tools together, those at the providers that this one needs. */
export async function accountsFor(
  broker: Broker,
  tool: Tool,
  { userId, accounts = {} }: Pick<ToolNeedOptions, 'userId' | 'accounts'>,
): Promise<Readonly<Record<string, string>>> {
  const needs = await toolNeeds(broker, tool, { ...(userId !== undefined && { userId }) })
  const needed = new Set(needs.map(({ entry }) => entry.id))
  return Object.fromEntries(Object.entries(accounts).filter(([id]) => needed.has(id)))
}

/** What a caller may ask for, too: scopes are kept, shown and sent in a URL. */
const MAX_ASKED = 200
const SCOPE = /^\P{Cc}{1,1000}$/u

/** More scopes, at the provider that the asking can only mean. What the tool calls scopes is its word: those that can be some. */
function withAsked(needs: readonly ToolNeed[], { use, scopes: said = [] }: AskedAuthorization): ToolNeed[] {
  const scopes = said.filter((scope) => SCOPE.test(scope) && scope.isWellFormed()).slice(0, MAX_ASKED)
  const isMeant = ({ requirements }: ToolNeed) => requirements.some((one) => one.use === use)
  const meant = needs.filter(isMeant)
  if (meant.length !== 1) return [...needs]
  return needs.map((need) => (isMeant(need) ? { ...need, scopes: unionOfScopes(need.scopes, scopes) } : need))
}
