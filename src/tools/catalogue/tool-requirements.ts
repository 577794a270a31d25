import type { Broker } from '../../broker.ts'
import type { AuthorizationRequirement, Tool } from '../../domain/tool.ts'
import { providersOf } from '../../flows/find-provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { createTurns } from '../slices.ts'
import {
  entryNeeded,
  lookAtRequirements,
  type RequirementStatus,
  requirementsChosen,
  statusOfTool,
} from './requirement-look.ts'

// Whether what a tool needs is there: its providers, secrets and worker. Nothing is refreshed or called to find out.

/** Whether a tool's requirements are met; with `userId`, by what that user has granted. */
export async function requirementStatus(
  broker: Broker,
  tool: Tool,
  userId?: string,
): Promise<RequirementStatus> {
  return statusOfTool(await lookAtRequirements(broker, tool.projectId, [tool], userId), tool)
}

/** `requirementStatus` of tools of one project, in their order, without holding the event loop. */
export async function requirementStatuses(
  broker: Broker,
  projectId: string,
  tools: readonly Tool[],
  userId?: string,
): Promise<readonly RequirementStatus[]> {
  const look = await lookAtRequirements(broker, projectId, tools, userId)
  const turns = createTurns()
  const statuses: RequirementStatus[] = []
  for (const tool of tools) {
    statuses.push(statusOfTool(look, tool))
    const pause = turns.pause()
    if (pause !== undefined) await pause
  }
  return statuses
}

/** `requirementsChosen` of one tool. */
export async function chosenRequirements(
  broker: Broker,
  tool: Tool,
  userId: string | undefined,
): Promise<readonly AuthorizationRequirement[]> {
  if (tool.requirements.alternatives === undefined) return tool.requirements.authorization
  return requirementsChosen(await lookAtRequirements(broker, tool.projectId, [tool], userId), tool)
}

/** The entry that a requirement names. Throws `provider_not_found`, `provider_inactive`. */
export async function entryOf(
  broker: Broker,
  projectId: string,
  need: AuthorizationRequirement,
): Promise<ProviderEntry> {
  return entryNeeded(await providersOf(broker, projectId), need)
}
