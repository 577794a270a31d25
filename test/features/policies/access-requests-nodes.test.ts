import { expect, test } from 'vitest'
import { systemClock } from '../../../src/domain/clock.ts'
import { startGatepass } from '../../gatepass.ts'
import { startWorld } from '../../http/world.ts'
import { freshDatabase } from '../../postgres.ts'
import { until } from '../../until.ts'
import { PDP_SECRET, startDecisionPoint } from './decision-point.ts'

test('one of two nodes on PostgreSQL, whose clocks are five minutes apart, runs what a decision point approves', async () => {
  await using database = await freshDatabase()
  const environment = { GATEPASS_DATABASE_URL: database.url }
  await using world = await startWorld({ gatepass: { environment } })
  const late = () => systemClock() - 300
  const other = await startGatepass({ environment, now: late })
  await using pdp = await startDecisionPoint()
  try {
    await world.connect('ada', ['read'])
    pdp.decides = () => 'requestable'
    const hook = { url: pdp.url, format: 'authzen', secret: PDP_SECRET, timeout_ms: 9000 }
    const match = { tools: ['Demo.*'] }
    await world.call('POST', '/v1/admin/policies', { id: 'pdp', effect: 'hook', match, hook })
    const call = { tool_id: 'Demo.EchoWithToken', user_id: 'ada', args: { text: 'hello' } }
    const runOn = (node: typeof other) => node.call('POST', '/v1/tools/run', call)
    const asked = await Promise.all([world.gatepass, other, world.gatepass, other].map(runOn))
    const ids = new Set(asked.map(({ body }) => body.requires_authorization?.id))
    expect(ids.size).toBe(1)
    const [id] = ids
    // the job of either node submits it, once
    await until(() => pdp.tasks.length > 0)
    const state = async () => (await other.call('GET', `/v1/auth/status?id=${id}`)).body
    expect(await state()).toMatchObject({ status: 'pending' })
    pdp.approve(pdp.tasks[0] as never)
    await until(async () => (await state()).status === 'completed')
    expect(pdp.tasks).toHaveLength(1)
    const nodes = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? world.gatepass : other))
    const kinds = (await Promise.all(nodes.map(runOn))).map(({ body }) =>
      body.requires_authorization ? 'waiting' : (body.error?.kind ?? 'run'),
    )
    expect(kinds.filter((kind) => kind === 'run')).toHaveLength(1)
    expect(new Set(kinds)).toEqual(new Set(['run', 'waiting']))
    expect(world.worker.invocations).toHaveLength(1)
  } finally {
    await other.close()
  }
})
