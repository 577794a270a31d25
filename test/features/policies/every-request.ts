import { openConsole } from '../../store/every-page.ts'
import type { UseOfFeature } from '../../store/every-request.ts'
import { until } from '../../until.ts'
import { PDP_SECRET, startDecisionPoint } from './decision-point.ts'

export const usePolicies: UseOfFeature = async (round) => {
  const { call, world, name, userId, run } = round
  const policy = { id: `policy-${name}`, effect: 'deny', match: { users: [`nobody-${name}`] } }
  const ofPolicy = { id: policy.id }
  await call('POST', '/v1/admin/policies', policy)
  await call('GET', '/v1/admin/policies')
  await call('GET', '/v1/admin/policies/{id}', undefined, ofPolicy)
  await call('PATCH', '/v1/admin/policies/{id}', { description: 'changed' }, ofPolicy)
  await call('POST', '/v1/admin/policies/test', { user_id: userId, tool_name: run.tool_name })
  const policies = [{ ...policy, match: { scopes: ['read'] } }]
  await call('POST', '/v1/admin/policies/dry_run', { policies })
  // a release that is judged by a policy in force
  await call('POST', '/v1/tools/run', { toolId: run.tool_name, args: run.input, user_id: userId })
  const show = await openConsole(world)
  for (const page of [`/policies/${policy.id}`, '/policy/dry-run']) await show(page)
  // a run and a token that a quota counts, its list, and one that is used up
  const quota = { limit: 1, per: 'user', window: 'day' }
  await call('PATCH', '/v1/admin/policies/{id}', { match: { tools: [run.tool_name], quota } }, ofPolicy)
  for (let i = 0; i < 2; i++)
    await call('POST', '/v1/tools/run', { toolId: run.tool_name, args: run.input, user_id: userId })
  await call('GET', '/v1/admin/quotas')
  await call('GET', `/v1/admin/quotas?user_id=${userId}`)
  await call('DELETE', '/v1/admin/policies/{id}', undefined, ofPolicy)
  await useAccessRequest(round)
}

/** An access request that waits, and one that has ended. */
async function useAccessRequest({ call, name, userId, run }: Parameters<UseOfFeature>[0]) {
  await using pdp = await startDecisionPoint()
  pdp.decides = () => 'requestable'
  const id = `pdp-${name}`
  const hook = { url: pdp.url, format: 'authzen', secret: PDP_SECRET }
  const match = { tools: [run.tool_name], users: [userId] }
  await call('POST', '/v1/admin/policies', { id, effect: 'hook', match, hook })
  const ask = async () => {
    const body = { toolId: run.tool_name, args: run.input, user_id: userId }
    return (await call('POST', '/v1/tools/run', body)).requires_authorization
  }
  const asked = await ask()
  await until(() => pdp.tasks.length > 0)
  const [task] = pdp.tasks
  if (task !== undefined) pdp.approve(task)
  await until(async () => (await call('GET', `/v1/auth/status?id=${asked.id}`)).status === 'completed')
  await ask()
  await call('DELETE', '/v1/admin/policies/{id}', undefined, { id })
}
