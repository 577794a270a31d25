import { describe, expect, test } from 'vitest'
import { startFakeAuthorizationServer } from '../../fake-authorization-server.ts'
import { startFakeWorker } from '../../fake-worker.ts'
import { type DatabaseKind, install } from '../../faults/installation.ts'
import { WORKER_SECRET } from '../../http/world.ts'

const PATIENCE = { timeout: 300_000, interval: 100 }

/** Three processes on one database. The one that took the calls is killed before anyone has decided. */
async function threeNodes(kind: DatabaseKind): Promise<void> {
  const as = await startFakeAuthorizationServer()
  const worker = await startFakeWorker({ secret: WORKER_SECRET })
  try {
    await using installation = await install(kind)
    const start = () => installation.start({ nodeArgs: [] })
    const first = await start()
    const [second, third] = await Promise.all([start(), start()])
    const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    await first.call('POST', '/v1/workers', { id: 'demo', http })
    const made = await first.call('POST', '/v1/admin/keys', { name: 'approvers', role: 'approver' })
    const match = { tools: ['Demo.Echo'] }
    const approve = { by: { group: 'security' } }
    await first.call('POST', '/v1/admin/policies', { id: 'ask', effect: 'approve', match, approve })

    const body = { tool_name: 'Demo.Echo', user_id: 'ada', input: { text: 'x' }, when_approved: 'run' }
    const asked = await first.call('POST', '/v1/tools/execute', body)
    const { id } = asked.body.output.requires_authorization
    await first.kill()
    const repeats = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? second : third).call('POST', '/v1/tools/execute', body),
      ),
    )
    expect(new Set(repeats.map((one) => one.body.execution_id))).toEqual(new Set([asked.body.execution_id]))

    const asApprover = async (method: string, path: string, sent?: object) => {
      const answer = await fetch(new URL(path, second.url), {
        method,
        headers: { authorization: `Bearer ${made.body.key}`, 'content-type': 'application/json' },
        ...(sent && { body: JSON.stringify(sent) }),
      })
      return answer.json()
    }
    const { digest } = await asApprover('GET', `/v1/approvals/${id}`)
    const decision = { decision: 'approve', digest, approver: 'bob' }
    expect(await asApprover('POST', `/v1/approvals/${id}/decision`, decision)).toMatchObject({
      status: 'approved',
    })
    const look = async () =>
      (await third.call('GET', `/v1/executions/${asked.body.execution_id}`)).body.execution_status
    await expect.poll(look, PATIENCE).toBe('completed')
    expect(worker.invocations).toHaveLength(1)
  } finally {
    await worker.close()
    await as.close()
  }
}

describe('a call that runs when it is approved, over three processes on one database', () => {
  test.each<[DatabaseKind]>([['SQLite'], ['PostgreSQL']])(
    'runs once on %s, also when the process that took it was killed',
    threeNodes,
  )
})
