import type { UseOfFeature } from '../../store/every-request.ts'

export const useApprovals: UseOfFeature = async ({ call, world, name, userId, run }) => {
  const options = { key: await world.gatepass.makeKey('approver') }
  const policy = { id: `approve-${name}` }
  const approve = { by: { group: 'security' }, remember: ['once', 'hour'] }
  const match = { tools: [run.tool_name], users: [userId] }
  await call('POST', '/v1/admin/policies', { ...policy, effect: 'approve', match, approve })
  const ask = async () => {
    const body = { toolId: run.tool_name, args: run.input, user_id: userId }
    return (await call('POST', '/v1/tools/run', body)).requires_authorization
  }
  const { id } = await ask()
  await call('GET', '/v1/approvals', undefined, {}, options)
  await call('GET', `/v1/approvals?status=pending&user_id=${userId}`, undefined, {}, options)
  const { digest } = await call('GET', '/v1/approvals/{id}', undefined, { id }, options)
  const fixed = Object.keys(run.input)
  const decision = { decision: 'approve', digest, approver: 'bob', remember: 'hour', fixed }
  await call('POST', '/v1/approvals/{id}/decision', decision, { id }, options)
  await ask()
  await call('GET', '/v1/admin/standing_approvals')
  const [standing] = (await call('GET', `/v1/admin/standing_approvals?user_id=${userId}`)).items
  await call('DELETE', '/v1/admin/standing_approvals/{id}', undefined, { id: standing.id })
  await ask()
  const later = { tool_name: run.tool_name, input: run.input, user_id: userId, when_approved: 'run' }
  const held = async (more: object) =>
    (await call('POST', '/v1/tools/execute', { ...later, ...more })).execution_id
  await call('DELETE', '/v1/scheduled_tools/{id}', undefined, { id: await held({}) })
  const id2 = await held({ run_at: '2040-01-01T00:00:00' })
  await call('DELETE', '/v1/scheduled_tools/{id}', undefined, { id: id2 })
  await call('DELETE', '/v1/admin/policies/{id}', undefined, policy)
}
