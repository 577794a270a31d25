import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyJson } from '../any-json.ts'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import { API_KEY } from '../served.ts'
import { until } from '../until.ts'
import { type DatabaseKind, type Installation, install, isStopped, type Node } from './installation.ts'
import type { KillPoint } from './kill-at.ts'

// Requests with an Idempotency-Key whose process dies (SIGKILL) or is suspended (SIGSTOP) before it answers, and their
// repeats at another process.

const SECRET = 'the secret of the worker'
const CLAIMED: KillPoint = { when: 'after', statement: 'insert into "answers"' }
const RECORDED: KillPoint = { when: 'after', statement: 'update "answers" set [^]*"begun" =' }
/**
 * A repeat finds out within seconds that the process of the first request is dead. A claim that is not ended lasts more
 * than 500 s.
 */
const SOON_MS = 300_000

export function namedRequests(kind: DatabaseKind): void {
  describe(`a request with an Idempotency-Key, on ${kind}`, () => {
    let worker: FakeWorker
    let installation: Installation
    /** Tools wait for this promise before they answer. */
    let held: Promise<void> | undefined

    beforeAll(async () => {
      const tool = (name: string, idempotent: boolean): WorkerTool => ({
        name,
        description: 'Does something.',
        behavior: { idempotent },
        async run() {
          await held
          return { value: 'done' }
        },
      })
      worker = await startFakeWorker({ secret: SECRET, tools: [tool('Once', false), tool('Again', true)] })
      installation = await install(kind)
      await installation.start()
      const http = { uri: worker.url, secret: SECRET, timeout: 60, retry: 0 }
      const { status, body } = await installation.call('POST', '/v1/workers', { id: 'counts', http })
      expect([status, body.sync_error]).toEqual([201, undefined])
      await installation.start()
    })

    afterAll(async () => {
      for (const { pid } of installation?.nodes ?? []) process.kill(pid, 'SIGCONT')
      await installation?.[Symbol.asyncDispose]()
      await worker?.close()
    })

    async function ask({ url }: Node, path: string, key: string, body: object) {
      const began = performance.now()
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          connection: 'close',
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(SOON_MS),
      })
      const answer: AnyJson = await response.json()
      return { status: response.status, body: answer, ms: performance.now() - began }
    }

    const ways = {
      execute: (tool: string) => ['/v1/tools/execute', { tool_name: `Demo.${tool}` }] as const,
      chain: (tool: string) => ['/v1/tools/run_chain', { steps: [{ toolId: `Demo:${tool}` }] }] as const,
      code: (tool: string) =>
        [
          '/v1/code/execute',
          { language: 'javascript', code: `return tools.call('Demo:${tool}', {})` },
        ] as const,
    }
    const calls = () => worker.invocations.length
    const lastRun = () => worker.invocations.at(-1)?.call.execution_id

    /** Two running processes: the one that will die, and another. */
    async function two(): Promise<readonly [Node, Node]> {
      while (installation.nodes.length < 2) await installation.start()
      return [installation.nodes[0] as Node, installation.nodes[1] as Node]
    }

    /** Kills the process while the tool runs at the worker, where it then ends; returns another process. */
    async function killedWhileItRuns(path: string, key: string, body: object) {
      const [first, other] = await two()
      const tools = Promise.withResolvers<void>()
      held = tools.promise
      const before = calls()
      ask(first, path, key, body).catch(() => {})
      await until(() => calls() === before + 1)
      await first.kill()
      tools.resolve()
      held = undefined
      return other
    }

    test.each(['execute', 'chain', 'code'] as const)(
      'by %s whose process dies while its tool runs: repeats do not run it, and are answered 409 with its id',
      async (way) => {
        const [path, body] = ways[way]('Once')
        const before = calls()
        const other = await killedWhileItRuns(path, `once ${way}`, body)
        for (let i = 0; i < 2; i++) {
          const again = await ask(other, path, `once ${way}`, body)
          expect(again, JSON.stringify(again.body)).toMatchObject({
            status: 409,
            body: { name: 'outcome_unknown', execution_id: lastRun(), status: 'unknown' },
          })
          expect(again.ms).toBeLessThan(SOON_MS)
        }
        expect(calls()).toBe(before + 1)
        await installation.sql('update answers set until = until - 500') // still within its time
        expect((await ask(other, path, `once ${way}`, body)).status).toBe(409)
        expect(calls()).toBe(before + 1)
      },
    )

    test('whose tool is safe to repeat is run again by a repeat', async () => {
      const [path, body] = ways.execute('Again')
      const before = calls()
      const other = await killedWhileItRuns(path, 'again', body)
      const again = await ask(other, path, 'again', body)
      expect(again).toMatchObject({ status: 200, body: { success: true } })
      expect(again.ms).toBeLessThan(SOON_MS)
      expect(calls()).toBe(before + 2)
    })

    test('whose process dies before its tool was called is run by a repeat', async () => {
      const [first, other] = await two()
      const before = calls()
      const [path, body] = ways.execute('Once')
      const armed = await first.armed(CLAIMED)
      ask(first, path, 'claimed', body).catch(() => {})
      await armed.killed
      const again = await ask(other, path, 'claimed', body)
      expect(again).toMatchObject({ status: 200, body: { success: true } })
      expect(again.ms).toBeLessThan(SOON_MS)
      expect(calls()).toBe(before + 1)
    })

    test('whose process dies right before its tool is called counts as begun: a repeat is answered 409', async () => {
      const [first, other] = await two()
      const before = calls()
      const [path, body] = ways.execute('Once')
      const armed = await first.armed(RECORDED)
      ask(first, path, 'written down', body).catch(() => {})
      await armed.killed
      expect(await ask(other, path, 'written down', body)).toMatchObject({
        status: 409,
        body: { name: 'outcome_unknown' },
      })
      expect(calls()).toBe(before)
    })

    test('whose process is suspended until a repeat was run calls no tool when it continues', async () => {
      const [first, other] = await two()
      const before = calls()
      const [path, body] = ways.execute('Once')
      await first.ask({ ...CLAIMED, signal: 'SIGSTOP' })
      const late = ask(first, path, 'suspended', body)
      late.catch(() => {})
      await until(() => isStopped(first))
      const again = await ask(other, path, 'suspended', body)
      expect(again).toMatchObject({ status: 200, body: { success: true } })
      process.kill(first.pid, 'SIGCONT')
      await late.catch(() => {})
      expect(calls()).toBe(before + 1)
      // the stored answer is that of the request that was carried out
      expect((await ask(first, path, 'suspended', body)).body).toEqual(again.body)
    })
  })
}
