import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { freshDatabase } from '../../postgres.ts'
import { connected, inProject } from '../../store/fixtures.ts'
import { webhook } from './fixtures.ts'

const request = new AsyncLocalStorage<string>()

test.each(['sqlite', 'postgres'] as const)(
  'an event has the traceparent of its own request, also when one commit writes events of several requests (%s)',
  async (kind) => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-traces-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const place =
      kind === 'sqlite'
        ? { kind, path: join(folder, 'gatepass.db') }
        : { kind, url: stack.use(await freshDatabase()).url }
    const store = await openStore(place, { traceparent: () => request.getStore() })
    stack.defer(() => store.close())
    const { projectId, owner } = await inProject(store)
    const hook = webhook({ projectId })
    await store.webhooks.add(hook, 10)
    const users = Array.from({ length: 8 }, (_, i) => `user-${i}`)
    await Promise.all(
      users.map((userId) => request.run(userId, () => connected(store, { ...owner, userId }))),
    )
    await connected(store, { ...owner, userId: 'in no request' })

    const now = Math.floor(Date.now() / 1000) + 1
    const claimed = await store.deliveries.claim(hook, { owner: 'node', seconds: 30 }, now, { limit: 100 })
    const traces = claimed.map(({ body, traceparent }) => [JSON.parse(body).data.user_id, traceparent])
    expect(Object.fromEntries(traces)).toEqual({
      ...Object.fromEntries(users.map((userId) => [userId, userId])),
      'in no request': undefined,
    })
  },
)
