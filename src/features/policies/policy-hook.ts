import type { RequestedUse } from '../../domain/requested-use.ts'
import { parseToolId } from '../../domain/tool-id.ts'
import { type Outgoing, OutgoingError } from '../../egress/outgoing.ts'
import type { Policy, PolicyHook } from './domain.ts'

const MAX_ANSWER_BYTES = 16 * 1024
const MAX_MESSAGE = 300

/** `failed`: the hook could not be reached, or its response is malformed. */
export type HookResult =
  | { readonly outcome: 'agreed' }
  | { readonly outcome: 'refused'; readonly message?: string }
  | { readonly outcome: 'failed'; readonly message: string }

/**
 * Asks the hook's URL about a use in the format of Arcade's `/pre` hooks: user, purpose, inputs, providers and scopes,
 * but never a token. `{"code": "OK"}` agrees, any other code refuses. An `override` is ignored: a hook may refuse a use
 * but not change it.
 */
export async function askHook(
  outgoing: Outgoing,
  { id, hook }: Policy & { readonly hook: PolicyHook },
  secret: string | undefined,
  use: RequestedUse,
): Promise<HookResult> {
  try {
    const { status, body } = await outgoing.send({
      url: hook.url,
      purpose: 'policy',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      },
      body: JSON.stringify(question(id, use)),
      deadlineMs: hook.timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
    })
    if (status < 200 || status > 299) return { outcome: 'failed', message: `It answered ${status}.` }
    return read(Buffer.from(body).toString('utf8'), secret)
  } catch (error) {
    if (error instanceof OutgoingError) return { outcome: 'failed', message: error.message }
    throw error
  }
}

function question(policyId: string, use: RequestedUse) {
  return {
    policy_id: policyId,
    execution_id: use.executionId,
    use: use.use,
    ...(use.tool && { tool: toHookTool(use.tool.id) }),
    ...(use.worker !== undefined && { worker: { id: use.worker } }),
    inputs: use.input,
    context: {
      user_id: use.userId,
      authorization: use.providers.map(({ id, scopes, userInfo }) => ({
        provider_id: id,
        oauth2: { scopes, user_info: userInfo },
      })),
      secrets: use.secrets ?? [],
      hosts: use.hosts,
    },
  }
}

function read(text: string, secret: string | undefined): HookResult {
  const answer = parsed(text)
  const code = answer?.code
  if (typeof code !== 'string' || code === '')
    return { outcome: 'failed', message: 'It answered something else than {"code": …}.' }
  if (code === 'OK') return { outcome: 'agreed' }
  const given = answer?.error_message
  const message = typeof given === 'string' ? toSafeLine(given, secret) : ''
  return { outcome: 'refused', ...(message !== '' && { message }) }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** One line of bounded length, without control and bidirectional characters and without the hook's own secret. */
function toSafeLine(message: string, secret: string | undefined): string {
  const plain = secret === undefined ? message : message.replaceAll(secret, '[redacted]')
  const line = plain
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\s]+/gu, ' ')
    .trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE).toWellFormed()}…` : line
}

/** The tool in the format of Arcade's hooks, with its id. */
function toHookTool(id: string) {
  const { namespace, name, version } = parseToolId(id)
  return { id, name, toolkit: namespace, version }
}
