import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'

// A missing consent is answered in one of three forms, by what the client has declared: `input_required` with the link
// (MCP 2026-07-28), the error -32042 (2025-11-25), or text with the link, for every other client.

/** The link at which a user approves. */
export interface ConsentLink {
  /** The id of the authorization. */
  readonly id: string
  readonly url: string
  readonly scopes: readonly string[]
  /** A sentence for the user: which tool needs which scopes. */
  readonly message: string
}

/**
 * Asks a client of 2026-07-28 to show the link to its user and to send the request again. Without a link, the client
 * sends the request again and asks its user nothing.
 */
export function askByInput(requestState: string, link?: ConsentLink): InputRequiredResult {
  if (link === undefined) return inputRequired({ requestState })
  const { id, url, message } = link
  return inputRequired({ inputRequests: { [id]: inputRequired.elicitUrl({ url, message }) }, requestState })
}

/** Whether the client answered in a later round that its user did not open the link. No answer is no refusal. */
export function isLinkRefused(response: unknown): boolean {
  return (
    typeof response === 'object' && response !== null && 'action' in response && response.action !== 'accept'
  )
}

/** The error that gives the link to a client of 2025-11-25. `reason` says why an earlier approval failed. */
export function askByError({ id, url, message }: ConsentLink, reason?: string): Error {
  const text = [reason, message].filter(Boolean).join(' ')
  return new UrlElicitationRequiredError(
    [{ mode: 'url', elicitationId: id, url, message: text }],
    'Approval needed.',
  )
}

export interface TextOptions {
  /** When the link ends, such as `in 10 minutes`. */
  readonly ends: string
  /** A tool that is listed with an `outputSchema` gets no `structuredContent`: a client would check it. */
  readonly publishesOutput: boolean
  readonly reason?: string | undefined
}

/** The link as text, for the model to show to its user. */
export function askByText(
  { id, url, scopes, message }: ConsentLink,
  { ends, publishesOutput, reason }: TextOptions,
): CallToolResult {
  const required = { id, url, scopes: [...scopes], status: 'pending' }
  const text = `${message} Open ${url}, approve, then ask again. The link is for you alone and ends ${ends}.`
  return {
    ...failureText([reason, text].filter(Boolean).join(' ')),
    ...(!publishesOutput && { structuredContent: { requires_authorization: required } }),
    _meta: { 'gatepass/requires_authorization': required },
  }
}

/** A failed result that has no more than a sentence. */
export function failureText(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** The error for a `requestState` that was changed, has expired, or belongs to another request or caller. */
export function invalidRequestState(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  })
}
