import { sha256 } from '../domain/ids.ts'
import { toolId } from '../domain/tool.ts'
import { currentContext } from '../services/request-context.ts'
import type { BackendCall } from './backend.ts'

/**
 * Names the call for a service that recognizes repetitions; `undefined`: the caller gave no idempotency key. Such a key is
 * unique for its caller only. Deriving the name from caller, user and tool keeps two callers with the same key from getting
 * each other's answers.
 */
export function callKey({
  callId,
  tool,
  userId,
}: Pick<BackendCall, 'callId' | 'tool' | 'userId'>): string | undefined {
  if (callId === undefined) return undefined
  const { apiKey } = currentContext()
  return sha256(JSON.stringify([tool.projectId, apiKey?.id, userId, toolId(tool), callId]))
}
