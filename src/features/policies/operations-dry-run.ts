import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { type EpochSeconds, fromTimestamp, toTimestamp } from '../../domain/clock.ts'
import { invalidMember } from '../../domain/errors.ts'
import { USE_KINDS, type UseKind } from '../../domain/requested-use.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { approversOf } from './approval-rule.ts'
import { type DryRunResult, dryRunPolicies as dry, MAX_SAMPLES, MAX_TOKENS } from './dry-run.ts'
import { POLICY_REFUSAL_REASONS } from './evaluate.ts'
import { policiesWith } from './policy-settings.ts'
import { checkArgumentsOfTools } from './tool-argument-places.ts'
import { toolToday } from './tool-today.ts'
import { approvedBySchema, newPolicySchema } from './wire.ts'
import { settingsFromWire } from './wire-conversion.ts'

const DAY = 24 * 3600
const WEEK = 7 * DAY

const timestamp = z.iso.datetime({ offset: true })

export const dryRunSchema = z.strictObject({
  policies: z
    .array(newPolicySchema)
    .max(100)
    .default([])
    .meta({ description: 'Evaluated as if they were added, or replaced the policies with the same ids' }),
  without: z.array(idText).max(100).default([]).meta({ description: 'Ids of policies to leave out' }),
  since: timestamp.optional().meta({ description: 'By default a week before `until`; at most 31 days' }),
  until: timestamp.optional().meta({ description: 'By default now' }),
})

const resultSchema = z
  .object({
    since: z.string(),
    until: z.string(),
    complete: z.boolean().meta({
      description: `Whether every use in the time was judged. If there were more than ${MAX_TOKENS}, only the latest are judged, and \`since\` is the time of the first of them`,
    }),
    uses: z.number().int().meta({ description: 'Uses of tokens that took place' }),
    permitted: z.number().int(),
    refused: z.number().int(),
    asked: z.number().int().meta({ description: 'Uses that would have waited for a person’s approval' }),
    undecided: z.number().int().meta({
      description:
        'A hook would be called, or the arguments, hosts, scopes or worker of the use are not known any more',
    }),
    refused_by: z.array(z.object({ id: z.string(), refused: z.number().int() })),
    asked_by: z
      .array(z.object({ id: z.string(), asked: z.number().int(), by: approvedBySchema }))
      .meta({ description: 'The policies that would have asked, about how many uses, and whom' }),
    samples: z
      .array(
        z.object({
          at: z.string(),
          seq: z.number().int().meta({ description: 'The number of its first audit entry' }),
          user_id: z.string(),
          use: z.enum(USE_KINDS),
          tool: z.string().optional(),
          providers: z.array(z.string()),
          decision: z.enum(['refused', 'asked', 'undecided']),
          reason: z.enum(POLICY_REFUSAL_REASONS).optional(),
          because: z
            .array(z.enum(['arguments', 'hook', 'hosts', 'scopes', 'workers']))
            .optional()
            .meta({
              description:
                'What is not known: the arguments of the call, the answer of a hook, where the token went, its scopes, or the worker',
            }),
          policies: z.array(z.string()).meta({ description: 'Ids of the policies' }),
        }),
      )
      .meta({
        description: `At most ${MAX_SAMPLES}: the refused uses, then those about which a person would have been asked, then the undecided ones, each newest first`,
      }),
  })
  .openapi('PolicyDryRun')

export type PolicyDryRunWire = z.infer<typeof resultSchema>

export const dryRunPolicies = defineOperation({
  id: 'dryRunPolicies',
  sdk: 'admin.policies.dryRun(order)',
  method: 'post',
  path: '/v1/admin/policies/dry_run',
  role: 'readonly',
  tag: 'Policies',
  summary: 'Test which of last week’s uses of tokens policies would have refused or asked about',
  description:
    'Applies the policies to each release of a token in the audit trail, in the order of time. Nothing is changed and no hook is called. Runs of tools that need no token are not in the trail.',
  body: dryRunSchema,
  bodyIsOptional: true,
  answer: 'What would have been refused',
  output: resultSchema,
  run: async (broker, { body, caller }) => await dryRun(broker, caller.projectId, body),
})

/** Runs a dry run for the API and the console. `request`: parsed by `dryRunSchema`. `tokens`: as in `DryRunOrder`. */
export async function dryRun(
  broker: Broker,
  projectId: string,
  request: z.output<typeof dryRunSchema>,
  { tokens }: { readonly tokens?: number } = {},
): Promise<PolicyDryRunWire> {
  const until = request.until === undefined ? broker.now() : fromTimestamp(request.until)
  const since = request.since === undefined ? until - WEEK : fromTimestamp(request.since)
  const tried = new Map(request.policies.map((policy) => [policy.id, settingsFromWire(policy)]))
  if (tried.size < request.policies.length)
    throw invalidMember('policies', 'conflict', 'policies: two of them have the same id.')
  for (const settings of tried.values())
    if (settings.enabled) await checkArgumentsOfTools(broker, projectId, settings)
  const policies = await policiesWith(broker, projectId, tried, request.without)
  const toolOf = (id: string) => toolToday(broker, projectId, id)
  return toWire(
    await dry(broker, {
      ...(tokens !== undefined && { tokens }),
      projectId,
      policies,
      since,
      until,
      toolOf,
    }),
    until,
  )
}

function toWire(result: DryRunResult, until: EpochSeconds): PolicyDryRunWire {
  const { since, isPartial, uses, permitted, refused, asked, undecided, refusedBy, askedBy, samples } = result
  return {
    since: toTimestamp(since),
    until: toTimestamp(until),
    complete: !isPartial,
    uses,
    permitted,
    refused,
    asked,
    undecided,
    refused_by: [...refusedBy]
      .map(([id, count]) => ({ id, refused: count }))
      .sort((a, b) => b.refused - a.refused || (a.id < b.id ? -1 : 1)),
    asked_by: [...askedBy]
      .map(([policy, count]) => ({ id: policy.id, asked: count, by: approversOf(policy) }))
      .sort((a, b) => b.asked - a.asked || (a.id < b.id ? -1 : 1)),
    samples: samples.map(({ seq, use, verdict }) => ({
      at: toTimestamp(use.at),
      seq,
      user_id: use.userId ?? '',
      use: use.use satisfies UseKind,
      ...(use.tool && { tool: use.tool.id }),
      providers: use.providers.map(({ id }) => id),
      decision: verdict.decision,
      ...(verdict.decision === 'refused' && { reason: verdict.reason }),
      ...(verdict.decision === 'undecided' && { because: [...verdict.because] }),
      policies: verdict.by.map(({ policy }) => policy.id),
    })),
  }
}
