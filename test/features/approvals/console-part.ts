import { randomUUID } from 'node:crypto'
import type { ConsolePart } from '../../http/console-part.ts'
import { approve, type World } from '../../http/world.ts'

let id = ''

/** A remembered approval of the user `asked`. */
async function remembered(world: World): Promise<string> {
  const { call, gatepass } = world
  const options = { key: await gatepass.makeKey('approver') }
  const text = `remembered ${randomUUID()}`
  const body = { tool_id: 'Demo.EchoWithToken', user_id: 'asked', args: { text } }
  const agent = await gatepass.makeKey('caller')
  const asked = await call('POST', '/v1/tools/run', body, { key: agent })
  const path = `/v1/approvals/${asked.body.requires_authorization.id}`
  const { digest } = (await call('GET', path, undefined, options)).body
  const decision = { decision: 'approve', digest, approver: 'bob', remember: 'hour', fixed: ['text'] }
  await call('POST', `${path}/decision`, decision, options)
  return (await call('GET', '/v1/admin/standing_approvals?user_id=asked&limit=100')).body.items.at(-1).id
}
let standing = ''

export const consoleOfApprovals: ConsolePart = {
  /** A call for a user of its own, so that it holds no other call of the tests. */
  async prepare(world) {
    const { call } = world
    await world.gatepass.makeKey('approver')
    const match = { tools: ['Demo.EchoWithToken'], users: ['asked'] }
    const policy = {
      id: 'asked',
      effect: 'approve',
      match,
      approve: { by: { group: 'security' }, remember: ['hour'] },
    }
    await call('POST', '/v1/admin/policies', policy)
    const body = { tool_id: 'Demo.EchoWithToken', user_id: 'asked', args: { text: 'x' } }
    const { url } = (await call('POST', '/v1/tools/run', body)).body.requires_authorization
    await approve(url)
    id = (await call('POST', '/v1/tools/run', body)).body.requires_authorization.id
    standing = await remembered(world)
  },
  pages: [
    [() => '/approvals', 200],
    [() => '/approvals/remembered', 200],
    [() => '/approvals/remembered?user=asked', 200],
    [() => `/approvals/${id}`, 200],
    [() => `/approvals/${id}?all=1`, 200],
  ],
  forms: [[() => `/approvals/remembered/${standing}/remove`, {}, 'standing_approval.removed']],
  endings: [
    {
      path: '/approvals/remembered/:id/remove',
      make: remembered,
      list: '/approvals/remembered',
      said: ':id had already been taken back.',
    },
  ],
  confirmed: [['/approvals/remembered/none/remove', {}]],
}
