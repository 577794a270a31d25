import { expect, test } from 'vitest'
import { systemClock } from '../../../src/domain/clock.ts'
import { startGatepass } from '../../gatepass.ts'
import { startWorld } from '../../http/world.ts'
import { freshDatabase } from '../../postgres.ts'

const LIMIT = 100
const CALLS = 130
/** Seconds by which the clocks of the nodes differ. */
const OFFSETS = [0, -300, 300] as const

/** A time zone in which it is about noon, so that the test runs within one day. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours()
  // POSIX counts the hours behind UTC
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

test.each(['SQLite', 'PostgreSQL'])(
  'three nodes on %s, whose clocks are five minutes apart, run exactly what a quota permits',
  async (kind) => {
    await using database = kind === 'PostgreSQL' ? await freshDatabase() : undefined
    const environment = database && { GATEPASS_DATABASE_URL: database.url }
    const clockOf = (offset: number) => () => systemClock() + offset
    const options = { ...(environment && { environment }) }
    await using world = await startWorld({ gatepass: { ...options, now: clockOf(OFFSETS[0]) } })
    const shared = database ? options : { databasePath: world.gatepass.databasePath }
    const others = await Promise.all(
      OFFSETS.slice(1).map((offset) => startGatepass({ ...shared, now: clockOf(offset) })),
    )
    try {
      const quota = { limit: LIMIT, per: 'project', window: 'day', zone: zoneAtNoon() }
      const match = { tools: ['Demo.Echo'], quota }
      const made = await world.call('POST', '/v1/admin/policies', { id: 'hundred', effect: 'deny', match })
      expect(made.status).toBe(201)
      const nodes = [world.gatepass, ...others]
      const run = async (i: number) => {
        const node = nodes[i % nodes.length] ?? world.gatepass
        const body = { tool_id: 'Demo.Echo', user_id: 'ada', args: { text: `${i}` } }
        return (await node.call('POST', '/v1/tools/run', body)).status
      }
      await Promise.all(Array.from({ length: CALLS }, (_, i) => run(i)))
      expect(world.worker.invocations).toHaveLength(LIMIT)
      const { body } = await world.call('GET', '/v1/admin/quotas')
      expect(body.items).toMatchObject([{ policy_id: 'hundred', used: LIMIT, limit: LIMIT }])
    } finally {
      for (const node of others) await node.close()
    }
  },
)
