import type { Policy, PolicyHook } from '../../domain/policy.ts'
import { parseToolId } from '../../domain/tool-id.ts'
import { type Outgoing, OutgoingError } from '../../egress/outgoing.ts'
import type { PolicyUseOf } from './policy-match.ts'

const MAX_ANSWER_BYTES = 16 * 1024
const MAX_MESSAGE = 300

/** `failed`: it could not be asked, or what it said is no answer. */
export type HookAnswer =
  | { readonly outcome: 'agreed' }
  | { readonly outcome: 'refused'; readonly message?: string }
  | { readonly outcome: 'failed'; readonly message: string }

/**
 * Asks the hook's URL about a use, as Arcade asks its `/pre` hooks: who, what for, with which inputs and whose scopes,
 * and never with a token. `{"code": "OK"}` agrees, any other code refuses. An `override` is not looked at: a hook
 * decides whether, not what.
 */
export async function askHook(
  outgoing: Outgoing,
  { id, hook }: Policy & { readonly hook: PolicyHook },
  secret: string | undefined,
  use: PolicyUseOf,
): Promise<HookAnswer> {
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

function question(policyId: string, use: PolicyUseOf) {
  return {
    policy_id: policyId,
    execution_id: use.executionId,
    use: use.use,
    ...(use.tool && { tool: toHookTool(use.tool.id) }),
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

function read(text: string, secret: string | undefined): HookAnswer {
  const answer = parsed(text)
  const code = answer?.code
  if (typeof code !== 'string' || code === '')
    return { outcome: 'failed', message: 'It answered something else than {"code": …}.' }
  if (code === 'OK') return { outcome: 'agreed' }
  const said = answer?.error_message
  const message = typeof said === 'string' ? shown(said, secret) : ''
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

/** One line, of bounded length, that turns no terminal's or page's text around and does not repeat the hook's secret. */
function shown(message: string, secret: string | undefined): string {
  const plain = secret === undefined ? message : message.replaceAll(secret, '[redacted]')
  const line = plain
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\s]+/gu, ' ')
    .trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE).toWellFormed()}…` : line
}

/** As Arcade's hooks name it, and its id. */
function toHookTool(id: string) {
  const { namespace, name, version } = parseToolId(id)
  return { id, name, toolkit: namespace, ...(version !== undefined && { version }) }
}
