import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../../fake-worker.ts'
import { DATABASES, type Installation, install, type Node } from '../../faults/installation.ts'
import type { KillPoint } from '../../faults/kill-at.ts'
import { repetitions } from '../../faults/repetitions.ts'
import { API_KEY } from '../../served.ts'
import { until } from '../../until.ts'

// Three `gatepass serve` processes on one database, one of which is killed (SIGKILL) while an approved call begins or runs.

const SECRET = 'the secret of the worker'
const USED: KillPoint = { when: 'after', statement: '^update "approvals"[^]*"used"' }
const REPEATS = 50

describe.each(DATABASES)('an approved call over three processes on %s', (kind) => {
  let worker: FakeWorker
  let installation: Installation
  let approver: string
  let calls = 0
  /** Tools wait for this promise before they answer. */
  let held: Promise<void> | undefined

  beforeAll(async () => {
    const tool = (name: string, idempotent: boolean): WorkerTool => ({
      name,
      description: 'Does something.',
      behavior: { idempotent },
      parameters: [{ name: 'key', val_type: 'string' }],
      async run() {
        await held
        return { value: 'done' }
      },
    })
    worker = await startFakeWorker({ secret: SECRET, tools: [tool('Once', false), tool('Again', true)] })
    installation = await install(kind)
    await installation.start()
    const http = { uri: worker.url, secret: SECRET, timeout: 60, retry: 0 }
    const added = await installation.call('POST', '/v1/workers', { id: 'counts', http })
    expect([added.status, added.body.sync_error]).toEqual([201, undefined])
    const key = await installation.call('POST', '/v1/admin/keys', { role: 'approver', name: 'approver' })
    approver = key.body.key
    const match = { tools: ['Demo.*'] }
    const policy = { id: 'ask', effect: 'approve', match, approve: { by: { group: 'security' } } }
    const made = await installation.call('POST', '/v1/admin/policies', policy)
    expect([made.status, made.body.message]).toEqual([201, undefined])
    await three()
  })
  afterAll(async () => {
    await installation?.[Symbol.asyncDispose]()
    await worker?.close()
  })

  async function three(): Promise<readonly [Node, Node, Node]> {
    const running = () => installation.nodes.filter(({ isRunning }) => isRunning)
    while (running().length < 3) await installation.start()
    return running().slice(0, 3) as unknown as readonly [Node, Node, Node] // so many were started
  }

  async function send({ url }: Node, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        connection: 'close',
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }

  const run = (node: Node, name: string, key: string, headers?: Record<string, string>) =>
    send(node, '/v1/tools/run', { tool_id: `Demo.${name}`, user_id: key, args: { key } }, headers)
  const isAsking = ({ body }: Awaited<ReturnType<typeof run>>) => body.requires_authorization !== undefined
  const runsOf = (key: string) => worker.invocations.filter(({ call }) => call.inputs?.key === key)

  async function approvedCall(name: string): Promise<{ readonly key: string; readonly id: string }> {
    const [node] = await three()
    const key = `call-${++calls}`
    const { id } = (await run(node, name, key)).body.requires_authorization
    const headers = { authorization: `Bearer ${approver}` }
    const { digest } = (await send(node, `/v1/approvals/${id}`, undefined, headers)).body
    const decision = { decision: 'approve', digest, approver: 'bob' }
    const decided = await send(node, `/v1/approvals/${id}/decision`, decision, headers)
    expect(decided).toMatchObject({ status: 200, body: { status: 'approved' } })
    return { key, id }
  }

  /** Kills the first process while the approved tool runs at the worker, where it then ends; returns another process. */
  async function killedWhileItRuns(name: string, key: string, headers?: Record<string, string>) {
    const [first, other] = await three()
    const tools = Promise.withResolvers<void>()
    held = tools.promise
    run(first, name, key, headers).catch(() => {})
    await until(() => runsOf(key).length === 1)
    await first.kill()
    tools.resolve()
    held = undefined
    return other
  }

  test('of fifty repeats at once one runs', async () => {
    const nodes = await three()
    for (const name of ['Once', 'Again']) {
      const { key } = await approvedCall(name)
      const all = await Promise.all(
        Array.from({ length: REPEATS }, (_, i) => run(nodes[i % 3] as Node, name, key)),
      )
      expect(runsOf(key)).toHaveLength(1)
      expect(all.filter((one) => !isAsking(one)).map(({ status }) => status)).toEqual([200])
    }
  })

  test('of fifty repeats, while the process that has spent it is killed, none or one runs', async () => {
    for (let round = 0; round < repetitions({ few: 1, many: 10 }); round++) {
      const nodes = await three()
      const { key, id } = await approvedCall('Once')
      const { killed } = await nodes[0].armed(USED)
      const all = await Promise.all(
        Array.from({ length: REPEATS }, (_, i) =>
          run(nodes[i % 3] as Node, 'Once', key).catch(() => undefined),
        ),
      )
      expect(runsOf(key).length).toBeLessThanOrEqual(1)
      const ran = all.filter((one) => one !== undefined && !isAsking(one))
      expect(ran.length).toBe(runsOf(key).length)
      if (runsOf(key).length === 0) await killed
      // no approval is left to run by, with either process
      const again = await run(nodes[1], 'Once', key)
      expect(again.body.requires_authorization).toMatchObject({ status: 'pending' })
      expect(again.body.requires_authorization.id).not.toBe(id)
      expect(runsOf(key).length).toBeLessThanOrEqual(1)
      if (nodes[0].isRunning) await nodes[0].kill()
    }
  })

  test('whose process dies right after it was spent needs a new approval', async () => {
    const [first, other] = await three()
    const { key, id } = await approvedCall('Once')
    const { killed } = await first.armed(USED)
    run(first, 'Once', key).catch(() => {})
    await killed
    const again = await run(other, 'Once', key)
    expect(again.body.requires_authorization.id).not.toBe(id)
    expect(runsOf(key)).toEqual([])
  })

  test('whose process dies while it runs is not run again: 409 with an idempotency key, else a new approval', async () => {
    const { key, id } = await approvedCall('Once')
    const headers = { 'idempotency-key': key }
    const other = await killedWhileItRuns('Once', key, headers)
    const begun = runsOf(key).map(({ call }) => call.execution_id)
    const again = await run(other, 'Once', key, headers)
    expect(again).toMatchObject({
      status: 409,
      body: { name: 'outcome_unknown', execution_id: begun[0] },
    })
    const without = await run(other, 'Once', key)
    expect(without.body.requires_authorization).toMatchObject({ status: 'pending' })
    expect(without.body.requires_authorization.id).not.toBe(id)
    expect(runsOf(key)).toHaveLength(1)
  })

  test.each([
    ['with an idempotency key', true],
    ['without one', false],
  ])('that may be repeated, %s, runs again once, as the same execution', async (_, hasKey) => {
    const { key, id } = await approvedCall('Again')
    const headers = hasKey ? { 'idempotency-key': key } : {}
    const other = await killedWhileItRuns('Again', key, headers)
    const [, second, third] = await three()
    const answers: Awaited<ReturnType<typeof run>>[] = []
    // until the others take the process for dead, they ask again
    await until(async () => {
      const all = await Promise.all(
        Array.from({ length: 4 }, (_, i) =>
          run([other, second, third][i % 3] as Node, 'Again', key, headers),
        ),
      )
      answers.push(...all.filter((one) => !isAsking(one)))
      return answers.length > 0
    })
    if (!hasKey) expect(answers).toHaveLength(1)
    expect(answers[0]).toMatchObject({ status: 200 })
    const executions = runsOf(key).map(({ call }) => call.execution_id)
    expect([executions.length, new Set(executions).size]).toEqual([2, 1])
    const approval = await send(other, `/v1/approvals/${id}`, undefined, {
      authorization: `Bearer ${approver}`,
    })
    expect(approval.body).toMatchObject({ status: 'used', execution_id: executions[0] })
    expect(isAsking(await run(other, 'Again', key))).toBe(true)
    expect(runsOf(key)).toHaveLength(2)
  })

  test('that may be repeated and has ended is not run again when its process dies', async () => {
    const [first, other] = await three()
    const { key, id } = await approvedCall('Again')
    expect(isAsking(await run(first, 'Again', key))).toBe(false)
    await first.kill()
    await installation.sql('delete from processes') // no process is taken for alive any more
    const again = await run(other, 'Again', key)
    expect(again.body.requires_authorization.id).not.toBe(id)
    expect(runsOf(key)).toHaveLength(1)
  })
})
