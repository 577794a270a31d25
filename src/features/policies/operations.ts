import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { fromTimestamp } from '../../domain/clock.ts'
import { invalidMember } from '../../domain/errors.ts'
import {
  CONNECTION_OWNERS,
  type RequestedUse,
  USE_KINDS,
  type UsedProvider,
} from '../../domain/requested-use.ts'
import { ownerOfUse } from '../../flows/owner-of-use.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText, plainText, scopeText, toolNameText, userIdText } from '../../operations/schemas/fields.ts'
import { jsonObject } from '../../operations/schemas/json-schemas.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { usedProvider } from '../../services/used-provider.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { resolveRunner, useOfTool } from '../../tools/run/preconditions.ts'
import { toolNeeds } from '../../tools/run/tool-tokens.ts'
import { approversOf } from './approval-rule.ts'
import { createArgumentVerdicts } from './argument-verdicts.ts'
import type { Policy } from './domain.ts'
import {
  type AppliedPolicy,
  type Evaluation,
  evaluate,
  policiesOnArguments,
  policiesOnOwners,
} from './evaluate.ts'
import { addPolicy, changePolicy, getPolicy as get, deletePolicy as remove } from './policy-settings.ts'
import { readFor } from './policy-trial.ts'
import { checkArgumentsOfTools } from './tool-argument-places.ts'
import { judgeToolArguments } from './tool-arguments.ts'
import { approvedBySchema, newPolicySchema, policyChangesSchema, policySchema } from './wire.ts'
import {
  approvalFromWire,
  hookChangesFromWire,
  matchFromWire,
  policyToWire,
  settingsFromWire,
} from './wire-conversion.ts'

const useSchema = z.strictObject({
  user_id: userIdText.optional(),
  use: z.enum(USE_KINDS).optional().meta({ description: 'By default `tool` with `tool_name`, else `token`' }),
  tool_name: toolNameText.optional(),
  provider_id: idText.optional(),
  scopes: z.array(scopeText).max(200).optional(),
  owner: z.enum(CONNECTION_OWNERS).optional().meta({
    description:
      'Who owns the connections that are used, where the providers leave that open. Absent: `user` if `user_id` has one or none is shared, else not known',
  }),
  host: plainText(300).optional(),
  arguments: jsonObject.optional().meta({ description: 'Arguments of the tool, for policies about them' }),
  at: z.iso.datetime({ offset: true }).optional().meta({ description: 'When; absent: now' }),
})

const verdictSchema = z
  .object({
    decision: z.enum(['permitted', 'refused', 'depends']).meta({
      description:
        '`depends`: on the rate of uses, on hooks, on people who must approve, or on arguments or an owner that were not given, which `undecided` lists',
    }),
    reason: z.enum(['denied', 'not_allowed', 'arguments_failed']).optional(),
    refused_by: z.array(z.string()).meta({ description: 'Ids of policies' }),
    undecided: z.array(
      z.object({ id: z.string(), by: z.enum(['arguments', 'owners', 'rate', 'quota', 'hook', 'approval']) }),
    ),
    asks: z
      .array(z.object({ id: z.string(), by: approvedBySchema }))
      .optional()
      .meta({ description: 'The policies that ask for an approval, and whom' }),
    without_scopes: z.array(z.string()).optional().meta({
      description:
        'Ids of providers whose users type keys or passwords. These have no scopes, so what they may do is not known: a rule that allows by `scopes` refuses them, and one that denies by `scopes` misses them. Rules by `providers` apply to them.',
    }),
  })
  .openapi('PolicyVerdict')

const idParams = z.object({ id: idText })
const tag = 'Policies'

export const listPolicies = defineOperation({
  id: 'listPolicies',
  sdk: 'admin.policies.list()',
  method: 'get',
  path: '/v1/admin/policies',
  role: 'readonly',
  tag,
  summary: 'All policies',
  query: z.object(pageQuery),
  answer: 'A page, by id',
  output: pageSchema(policySchema),
  run: async (broker, { query, caller }) =>
    slicePage((await broker.store.policies.list(caller.projectId)).map(policyToWire), query),
})

export const getPolicy = defineOperation({
  id: 'getPolicy',
  sdk: 'admin.policies.get(id)',
  method: 'get',
  path: '/v1/admin/policies/{id}',
  role: 'readonly',
  tag,
  summary: 'One policy',
  params: idParams,
  answer: 'The policy',
  output: policySchema,
  run: async (broker, { params: { id }, caller }) => policyToWire(await get(broker, caller.projectId, id)),
})

export const testPolicies = defineOperation({
  id: 'testPolicies',
  sdk: 'admin.policies.test(use)',
  method: 'post',
  path: '/v1/admin/policies/test',
  role: 'readonly',
  tag,
  summary: 'Test which decision the policies make about a use',
  description:
    'No token is used, no use is counted and no hook is called. A tool brings its own providers, scopes and hosts; `provider_id` and `host` replace them.',
  body: useSchema,
  answer: 'The verdict',
  output: verdictSchema,
  async run(broker, { body, caller }) {
    const use = await useOf(broker, caller.projectId, body)
    const at = body.at === undefined ? broker.now() : fromTimestamp(body.at)
    const { policies: all } = await broker.store.policies.inForce(caller.projectId)
    const context = { at, scopes: 'needed' } as const
    const keys = use.providers.filter(({ meaning }) => meaning?.hasNoScopes).map(({ id }) => id)
    const said = (verdict: z.infer<typeof verdictSchema>) =>
      keys.length > 0 ? { ...verdict, without_scopes: keys } : verdict
    const owners = policiesOnOwners(all, use, context)
    const policies = all.map((policy) =>
      owners.includes(policy) ? readFor(policy, ['owners'], 'lenient') : policy,
    )
    const open = policiesOnArguments(policies, use, context)
    if (open.length === 0) return said(verdictToWire(evaluate(policies, use, context), { owners }))
    if (body.arguments === undefined) {
      const lenient = policies.map((policy) => readFor(policy, ['arguments'], 'lenient'))
      return said(verdictToWire(evaluate(lenient, use, context), { owners, arguments: open }))
    }
    const verdicts = await createArgumentVerdicts(judgeToolArguments).judge(policies, use, context)
    const evaluation = evaluate(policies, use, { ...context, ...(verdicts && { verdicts }) })
    return said(verdictToWire(evaluation, { owners }))
  },
})

export const updatePolicy = defineOperation({
  id: 'updatePolicy',
  sdk: 'admin.policies.update(id, changes)',
  method: 'patch',
  path: '/v1/admin/policies/{id}',
  role: 'admin',
  tag,
  summary: 'Change a policy',
  description: '`match` is replaced as a whole; members that `hook` leaves out do not change.',
  params: idParams,
  body: policyChangesSchema,
  answer: 'Changed',
  output: policySchema,
  async run(broker, { params: { id }, body, caller }) {
    const policy = await get(broker, caller.projectId, id)
    const { description, enabled, effect, match, hook, approve } = body
    if (enabled ?? policy.enabled)
      await checkArgumentsOfTools(broker, caller.projectId, {
        effect: effect ?? policy.effect,
        match: match ? matchFromWire(match) : policy.match,
      })
    const changed = await changePolicy(broker, policy, {
      ...(match && { match: matchFromWire(match) }),
      ...(hook && { hook: hookChangesFromWire(hook) }),
      ...(hook?.secret !== undefined && { hookSecret: hook.secret }),
      ...(description !== undefined && { description }),
      ...(enabled !== undefined && { enabled }),
      ...(effect !== undefined && { effect }),
      ...(approve && { approve: approvalFromWire(approve) }),
    })
    return policyToWire(changed)
  },
})

export const deletePolicy = defineOperation({
  id: 'deletePolicy',
  sdk: 'admin.policies.delete(id)',
  method: 'delete',
  path: '/v1/admin/policies/{id}',
  role: 'admin',
  tag,
  summary: 'Delete a policy',
  params: idParams,
  answer: 'Deleted',
  async run(broker, { params: { id }, caller }) {
    await remove(broker, caller.projectId, id)
  },
})

export const createPolicy = defineOperation({
  id: 'createPolicy',
  sdk: 'admin.policies.create(policy)',
  method: 'post',
  path: '/v1/admin/policies',
  role: 'admin',
  tag,
  summary: 'Make a policy',
  description:
    'A matching `deny` refuses. If there are `allow` policies, one of them must match. Then hooks are called. A member of `match` that is absent matches everything.',
  body: newPolicySchema,
  takesIdempotencyKey: true,
  status: 201,
  answer: 'In force',
  output: policySchema,
  async run(broker, { body, caller }) {
    const settings = settingsFromWire(body)
    if (settings.enabled) await checkArgumentsOfTools(broker, caller.projectId, settings)
    const policy = await addPolicy(broker, caller.projectId, body.id, settings)
    return policyToWire(policy)
  },
})

async function useOf(
  broker: Broker,
  projectId: string,
  sent: z.infer<typeof useSchema>,
): Promise<RequestedUse> {
  const userId = sent.user_id
  const user = userId === undefined ? {} : { userId }
  const { host, scopes = [], provider_id: id } = sent
  if (id === undefined && scopes.length > 0)
    throw invalidMember('provider_id', 'missing', 'scopes are those of provider_id: give that too.')
  const hosts = host === undefined ? undefined : [host]
  const owned = async (provider: UsedProvider, entry: ProviderEntry | undefined): Promise<UsedProvider> => {
    const known = provider.owner ?? sent.owner
    const owner = known ?? (entry && (await ownerOfUse(broker, { projectId, userId, entry })))
    return owner === undefined ? provider : { ...provider, owner }
  }
  const entry = id === undefined ? undefined : await broker.store.providers.findById(projectId, id)
  const named = id === undefined ? undefined : entry ? usedProvider(entry, scopes) : { id, scopes }
  const providers = named && [await owned(named, entry)]
  if (sent.tool_name === undefined)
    return { ...user, projectId, use: sent.use ?? 'token', providers: providers ?? [], hosts: hosts ?? [] }
  const tool = await getTool(broker, projectId, sent.tool_name)
  const [needs, runner] = await Promise.all([toolNeeds(broker, tool, user), resolveRunner(broker, tool)])
  const use = useOfTool(tool, needs, runner, { ...user, ...(sent.arguments && { input: sent.arguments }) })
  return {
    ...use,
    ...(sent.use && { use: sent.use }),
    providers:
      providers ?? (await Promise.all(use.providers.map((used, at) => owned(used, needs[at]?.entry)))),
    ...(hosts && { hosts }),
  }
}

/** `open`: rules about an owner or arguments that are not known. */
function verdictToWire(
  { refusal, limits, quotas, hooks, approvals, approvalsBeyond }: Evaluation,
  open: Readonly<Partial<Record<'owners' | 'arguments', readonly Policy[]>>>,
): z.infer<typeof verdictSchema> {
  const idsOf = (matches: readonly AppliedPolicy[]) => matches.map(({ policy }) => policy.id)
  if (refusal !== undefined)
    return { decision: 'refused', reason: refusal.reason, refused_by: idsOf(refusal.by), undecided: [] }
  const undecided = [
    ...(open.owners ?? []).map(({ id }) => ({ id, by: 'owners' as const })),
    ...(open.arguments ?? []).map(({ id }) => ({ id, by: 'arguments' as const })),
    ...idsOf(limits).map((id) => ({ id, by: 'rate' as const })),
    ...idsOf([...quotas, ...approvalsBeyond]).map((id) => ({ id, by: 'quota' as const })),
    ...idsOf(hooks).map((id) => ({ id, by: 'hook' as const })),
    ...idsOf(approvals).map((id) => ({ id, by: 'approval' as const })),
  ]
  const asks = approvals.map(({ policy }) => ({ id: policy.id, by: approversOf(policy) }))
  return {
    decision: undecided.length > 0 ? 'depends' : 'permitted',
    refused_by: [],
    undecided,
    ...(asks.length > 0 && { asks }),
  }
}
