import type { Broker } from '../../broker.ts'
import { isExpired } from '../../domain/api-key.ts'
import { ruleKey } from '../../domain/approval.ts'
import { toolId } from '../../domain/tool.ts'
import { namedTools } from '../../tools/catalogue/known-tools.ts'
import { runDefinition } from '../../tools/definition.ts'
import { resolveRunner } from '../../tools/run/preconditions.ts'
import { hasClientAccess } from './client-access.ts'
import type { Approval } from './domain.ts'
import { openCall } from './shown-call.ts'

/**
 * Whether what was asked about is still what would run: the rules, the tool's definition and worker, the connections and the
 * agent's key. Otherwise the answer would be to another question.
 */
export async function isStillSame(broker: Broker, approval: Approval): Promise<boolean> {
  const { projectId, rules, use, subject, agent } = approval
  const inForce = await broker.gate.approvals(projectId)
  if (!rules.every((rule) => inForce?.keys.has(ruleKey(rule)) === true)) return false
  const call = openCall(broker.sealer, 'approvals', approval)
  if (call === undefined) return false
  if (agent.startsWith('key_')) {
    const key = await broker.store.apiKeys.find(projectId, agent)
    if (key === undefined || key.revokedAt !== undefined || isExpired(key, broker.now())) return false
  }
  if (call.clientHasAccess === true && !(await hasClientAccess(broker, approval))) return false
  for (const { id } of call.connections)
    if ((await broker.store.connections.find(id)) === undefined) return false
  if (use !== 'tool') return true
  const tool = (await namedTools(broker, projectId, subject.toLowerCase())).find(
    (one) => toolId(one) === subject,
  )
  const runner = tool && (await resolveRunner(broker, tool))
  return (
    runner?.outcome === 'found' &&
    runner.worker.id === call.workerId &&
    tool !== undefined &&
    runDefinition(tool, runner.workerTool) === call.definition
  )
}
