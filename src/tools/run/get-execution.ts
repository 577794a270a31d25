import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import { toolId } from '../../domain/tool.ts'
import { mayActFor } from '../../services/request-context.ts'
import { getTool } from '../catalogue/get-tool.ts'

/** Throws `not_found`, also for a run of a user for whom the request may not act. */
export async function getExecution(
  { history, store }: Broker,
  projectId: string,
  id: string,
  type?: ExecutionRecord['type'],
): Promise<ExecutionRecord> {
  if (type === undefined) await history.flush().catch(() => {}) // so that a run that has just ended is found
  const record = await store.executions.find(projectId, id)
  const isOfType = type === undefined || record?.type === type
  if (record !== undefined && isOfType && mayActFor(record.userId)) return record
  throw new BrokerError('not_found', `There is no execution "${id.slice(0, 100)}" in this project.`)
}

/** Returns the id of the tool with this name, else the text itself, which may be the id of a deleted tool. */
export async function historyToolId(broker: Broker, projectId: string, spelling: string): Promise<string> {
  try {
    return toolId(await getTool(broker, projectId, spelling))
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'not_found') return spelling
    throw error
  }
}
