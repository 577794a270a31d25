import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Tool } from '../../domain/tool.ts'
import { resolveRunner, useOfTool } from './preconditions.ts'
import { toolNeeds } from './tool-tokens.ts'

/**
 * Returns a test for tools that the gate refuses to the user at any time and with any input, so that lists
 * leave them out. `undefined`: it refuses none.
 */
export async function refusedTools(
  broker: Broker,
  projectId: string,
  userId: string | undefined,
): Promise<((tool: Tool) => Promise<boolean>) | undefined> {
  const isAlwaysRefused = await broker.gate.alwaysRefused(projectId)
  if (isAlwaysRefused === undefined) return undefined
  const user = userId === undefined ? {} : { userId }
  return async (tool) => {
    try {
      const needs = await toolNeeds(broker, tool, user)
      return isAlwaysRefused(useOfTool(tool, needs, await resolveRunner(broker, tool), user))
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      return false // a call says what is wrong with the tool
    }
  }
}
