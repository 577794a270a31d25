import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Tool } from '../../domain/tool.ts'
import { resolveRunner, toolPolicyUse } from './preconditions.ts'
import { toolNeeds } from './tool-tokens.ts'

/**
 * Returns a test for tools that the project's policies refuse to the user at any time and with any input, so that lists
 * leave them out. `undefined`: the project has no policies.
 */
export async function refusedTools(
  broker: Broker,
  projectId: string,
  userId: string | undefined,
): Promise<((tool: Tool) => Promise<boolean>) | undefined> {
  const isAlwaysRefused = await broker.policies.alwaysRefused(projectId)
  if (isAlwaysRefused === undefined) return undefined
  const user = userId === undefined ? {} : { userId }
  return async (tool) => {
    try {
      const needs = await toolNeeds(broker, tool, user)
      return isAlwaysRefused(toolPolicyUse(tool, needs, await resolveRunner(broker, tool), user))
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      return false // a call says what is wrong with the tool
    }
  }
}
