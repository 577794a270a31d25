import type { Broker } from '../../broker.ts'
import type { AuthorizationRequirement, Tool } from '../../domain/tool.ts'
import { providersOf } from '../../flows/get-provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { createTimeBudget } from '../slices.ts'
import { loadRequirementContext, type RequirementStatus } from './requirement-context.ts'
import {
  type ChosenRequirements,
  chooseRequirements,
  getRequiredEntry,
  statusOfTool,
} from './requirement-status.ts'

// Whether a tool's providers, secrets and worker are available, judged by stored data: nothing is refreshed or called.

/** Whether a tool's requirements are met; with `userId`, by what that user has granted. */
export async function requirementStatus(
  broker: Broker,
  tool: Tool,
  userId?: string,
): Promise<RequirementStatus> {
  return statusOfTool(await loadRequirementContext(broker, tool.projectId, [tool], userId), tool)
}

/** `requirementStatus` of tools of one project, in their order, without holding the event loop. */
export async function requirementStatuses(
  broker: Broker,
  projectId: string,
  tools: readonly Tool[],
  userId?: string,
): Promise<readonly RequirementStatus[]> {
  const context = await loadRequirementContext(broker, projectId, tools, userId)
  const budget = createTimeBudget()
  const statuses: RequirementStatus[] = []
  for (const tool of tools) {
    statuses.push(statusOfTool(context, tool))
    const pause = budget.pause()
    if (pause !== undefined) await pause
  }
  return statuses
}

/** `chooseRequirements` of one tool. */
export async function chosenRequirements(
  broker: Broker,
  tool: Tool,
  userId: string | undefined,
): Promise<ChosenRequirements> {
  if (tool.requirements.alternatives === undefined) return tool.requirements
  return chooseRequirements(await loadRequirementContext(broker, tool.projectId, [tool], userId), tool)
}

/** Returns the entry that a requirement names. Throws `provider_not_found`, `provider_inactive`. */
export async function getRequirementEntry(
  broker: Broker,
  projectId: string,
  need: AuthorizationRequirement,
): Promise<ProviderEntry> {
  return getRequiredEntry(await providersOf(broker, projectId), need)
}
