import { openConsole } from '../../store/every-page.ts'
import type { UseOfFeature } from '../../store/every-request.ts'

export const usePolicies: UseOfFeature = async ({ call, world, name, userId, run }) => {
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
  await call('DELETE', '/v1/admin/policies/{id}', undefined, ofPolicy)
}
