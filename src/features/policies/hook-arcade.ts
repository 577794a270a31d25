import type { RequestedUse } from '../../domain/requested-use.ts'
import { parseToolId } from '../../domain/tool-id.ts'
import { type HookResult, parsedAnswer, refusedBecause } from './hook-answer.ts'

// The format of Arcade's `/pre` hooks: user, purpose, inputs, providers and scopes, but never a token. `{"code": "OK"}`
// agrees, any other code refuses. An `override` is ignored: a hook may refuse a use but not change it.

export function arcadeQuestion(policyId: string, use: RequestedUse) {
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

export function readArcadeAnswer(text: string, secret: string | undefined): HookResult {
  const answer = parsedAnswer(text)
  const code = answer?.code
  if (typeof code !== 'string' || code === '')
    return { outcome: 'failed', message: 'It answered something else than {"code": …}.' }
  return code === 'OK' ? { outcome: 'agreed' } : refusedBecause(answer?.error_message, secret)
}

/** The tool in the format of Arcade's hooks, with its id. */
function toHookTool(id: string) {
  const { namespace, name, version } = parseToolId(id)
  return { id, name, toolkit: namespace, version }
}
