import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { checkUsable } from '../../tools/check-value.ts'
import { resolveRunner, useOfTool } from '../../tools/run/preconditions.ts'
import { hasPlace } from './argument-schema.ts'
import type { Policy, PolicyMatch } from './domain.ts'
import { appliesTo } from './policy-match.ts'

/** How many tools are compared in one turn of the event loop. */
const AT_ONCE = 50

/**
 * Refuses a rule about arguments that a tool of today which it matches does not declare, or by a schema that cannot be
 * used: `invalid_request`. Later changes of tools are found when they run (`argument-verdicts.ts`).
 */
export async function checkArgumentsOfTools(
  broker: Broker,
  projectId: string,
  { effect, match }: Pick<Policy, 'effect' | 'match'>,
): Promise<void> {
  if (match.arguments === undefined) return
  await checkSchemas(projectId, match.arguments)
  const { tools, workers, hints } = match
  const chosen: PolicyMatch = {
    ...(tools && { tools }),
    ...(workers && { workers }),
    ...(hints && { hints }),
  }
  const selecting: Policy = {
    id: '',
    projectId,
    enabled: true,
    effect,
    match: chosen,
    createdAt: 0,
    updatedAt: 0,
  }
  const all = await broker.cache.catalogue.of(projectId)
  for (const [i, tool] of all.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await nextTurn()
    const use = useOfTool(tool, [], await resolveRunner(broker, tool), {})
    if (!appliesTo(selecting, use, { at: broker.now(), scopes: 'needed' })) continue
    for (const [number, { at }] of match.arguments.entries())
      if (!hasPlace(tool.inputSchema, at))
        throw invalidMember(
          `match.arguments.${number}.at`,
          'unknown',
          `match.arguments.${number}.at: the tool ${use.tool?.id ?? tool.title}, which the policy matches, has no argument ${at}. Name in match.tools only tools that have it.`,
        )
  }
}

async function checkSchemas(projectId: string, rules: NonNullable<PolicyMatch['arguments']>): Promise<void> {
  for (const [i, rule] of rules.entries()) {
    const schema = rule.schema ?? rule.not?.schema
    const checked = schema && (await checkUsable(schema, projectId))
    if (checked === undefined || checked.outcome === 'valid') continue
    const path = `match.arguments.${i}.${rule.not === undefined ? '' : 'not.'}schema`
    throw invalidMember(path, 'invalid', `${path} cannot be used: ${checked.message}`)
  }
}
