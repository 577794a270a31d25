import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'

// A missing consent is answered in one of three forms, by what the client has declared: `input_required` with the link
// (MCP 2026-07-28), the error -32042 (2025-11-25), or text with the link, for every other client.

/** The form in which a client receives the link that its user must open. */
export type ConsentForm = 'input_required' | 'url_required_error' | 'text'

/** The abilities that the client has declared, in the request (2026-07-28) or when its session began. */
export interface ClientAbilities {
  /** The revision of a client of 2025, such as `2025-11-25`. */
  readonly protocolVersion: string
  /** Whether the client speaks MCP 2026-07-28. */
  readonly isModern: boolean
  /** Whether the client opens links for its user (`elicitation.url`). An empty `elicitation` means forms alone. */
  readonly opensLinks: boolean
}

/** The first revision with links in `elicitation`. */
const LINKS_SINCE = '2025-11-25'

/** Chooses the form by the client's abilities. */
export function consentFormOf({ protocolVersion, isModern, opensLinks }: ClientAbilities): ConsentForm {
  if (!opensLinks) return 'text'
  if (isModern) return 'input_required'
  return protocolVersion >= LINKS_SINCE ? 'url_required_error' : 'text'
}

/** The information about the link for the client and its user. */
export interface ConsentRequest {
  readonly required: RequiredAuthorization
  /** A sentence for the user: which tool, which providers, which scopes. */
  readonly message: string
  /** Seconds until the link ends. */
  readonly lifetime: number
}

/** More scopes are counted, not listed: the sentence is for people. */
const MAX_NAMED_SCOPES = 12

/** Describes the link. `title`: the name by which the client knows the tool. */
export async function consentRequest(
  broker: Broker,
  { projectId, title }: { readonly projectId: string; readonly title: string },
  required: RequiredAuthorization,
): Promise<ConsentRequest> {
  const entries = await Promise.all(
    required.steps.map(({ providerUid }) => findProviderByUid(broker, projectId, providerUid)),
  )
  const providers = entries.flatMap((entry) => (entry === undefined ? [] : [entry.provider.displayName]))
  const atProviders = providers.length === 0 ? '' : ` at ${listed(providers)}`
  const scopes = required.scopes.slice(0, MAX_NAMED_SCOPES)
  const more = required.scopes.length - scopes.length
  const andMore = more === 0 ? '' : ` and ${more} more ${more === 1 ? 'scope' : 'scopes'}`
  const forScopes = scopes.length === 0 ? '' : ` (${scopes.join(' ')}${andMore})`
  return {
    required,
    message: `${title} needs your approval${atProviders}${forScopes}.`,
    lifetime: Math.max(required.expiresAt - broker.now(), 0),
  }
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/**
 * Asks a client of 2026-07-28 to show the link to its user and to send the call again. Without `request`, the client
 * sends the call again and asks its user nothing.
 */
export function askByInput(requestState: string, request?: ConsentRequest): InputRequiredResult {
  if (request === undefined) return inputRequired({ requestState })
  const { required, message } = request
  return inputRequired({
    inputRequests: {
      [required.id]: inputRequired.elicitUrl({ url: required.url, message }),
    },
    requestState,
  })
}

/** The error that gives the link to a client of 2025-11-25. `reason` says why an earlier approval failed. */
export function askByError({ required: { id, url }, message }: ConsentRequest, reason?: string): Error {
  const text = [reason, message].filter(Boolean).join(' ')
  return new UrlElicitationRequiredError(
    [{ mode: 'url', elicitationId: id, url, message: text }],
    'Approval needed.',
  )
}

/**
 * The link as text, for the model to show to its user. Only tools without a published `outputSchema` get
 * `structuredContent`, because a client would check it against the schema.
 */
export function askByText(
  { required: { id, url, scopes }, message, lifetime }: ConsentRequest,
  { publishesOutput, reason }: { readonly publishesOutput: boolean; readonly reason?: string },
): CallToolResult {
  const wire = { id, url, scopes: [...scopes], status: 'pending' }
  const minutes = Math.max(Math.ceil(lifetime / 60), 1)
  const text = `${message} Open ${url}, approve, then ask again. The link is for you alone and ends in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  return {
    content: [{ type: 'text', text: [reason, text].filter(Boolean).join(' ') }],
    isError: true,
    ...(!publishesOutput && { structuredContent: { requires_authorization: wire } }),
    _meta: { 'gatepass/requires_authorization': wire },
  }
}
