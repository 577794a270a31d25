import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExecutionRecord } from '../../src/domain/execution.ts'
import { newId } from '../../src/domain/ids.ts'
import { chainContext } from '../../src/features/chains/store.ts'
import { sealingContext } from '../../src/store/protected-tables.ts'
import { startWorld, type World } from '../http/world.ts'

// Rows that the code of commit f60e141 wrote, with what that code answered for each. The plain texts are the real ones;
// they are sealed again here, since an envelope opens only where it was made.

interface StoredExecution {
  readonly row: Omit<ExecutionRecord, 'projectId' | 'request' | 'result'>
  readonly request: string
  readonly result: string
  /** The body of `GET /v1/executions/{id}`. */
  readonly answer: string
}

const { executions, chain } = JSON.parse(
  readFileSync(new URL('../fixtures/stored-executions.json', import.meta.url), 'utf8'),
) as { readonly executions: readonly StoredExecution[]; readonly chain: string }

let world: World
let projectId: string

beforeAll(async () => {
  world = await startWorld()
  const { broker } = world.gatepass
  projectId = (await broker.store.projects.ensure('default', broker.now())).id
})
afterAll(() => world[Symbol.asyncDispose]())

async function add({ row, request, result }: StoredExecution): Promise<void> {
  const { sealer, store } = world.gatepass.broker
  await store.executions.add([
    {
      ...row,
      projectId,
      request: sealer.seal(request, sealingContext('executions', 'request', { id: row.id, projectId })),
      result: sealer.seal(result, sealingContext('executions', 'result', { id: row.id, projectId })),
    },
  ])
}

async function answerFor(id: string): Promise<string> {
  const { url, apiKey } = world.gatepass
  const headers = { authorization: `Bearer ${apiKey}` }
  return (await fetch(new URL(`/v1/executions/${id}`, url), { headers })).text()
}

test.each(executions)('$row.toolId $row.outcome ($#) is answered as before', async (stored) => {
  await add(stored)
  expect(await answerFor(stored.row.id)).toBe(stored.answer)
})

test('a run that the broker could not make is answered with its reason', async () => {
  const [first] = executions
  if (first === undefined) throw new Error('the fixture is empty')
  const id = newId('exec')
  const { success: _, output: __, ...attempt } = JSON.parse(first.result)[0]
  const result = [{ success: false, systemErrorMessage: 'The API key was revoked.', ...attempt, id }]
  await add({ ...first, row: { ...first.row, id }, result: JSON.stringify(result) })
  expect(JSON.parse(await answerFor(id)).attempts).toEqual([
    {
      id,
      started_at: expect.any(String),
      finished_at: expect.any(String),
      success: false,
      system_error_message: 'The API key was revoked.',
    },
  ])
})

test('a chain that was paused goes on with its results', async () => {
  const { sealer, store, now } = world.gatepass.broker
  const id = newId('chain')
  const state = sealer.seal(chain, chainContext('chains', 'state', { id, projectId }))
  await store.chains.add({ id, projectId, state, expiresAt: now() + 60 })
  await world.connect('chained')
  const { status, body } = await world.call('POST', '/v1/tools/run_chain', { resume: id, user_id: 'chained' })
  expect([status, body.status]).toEqual([200, 'completed'])
  const kept = JSON.parse(chain).results
  const { texts, ...huge } = kept[1]
  expect(body.steps.slice(0, 2)).toEqual([
    { ...kept[0], texts: undefined },
    { ...huge, structured: JSON.parse(texts.structured) },
  ])
  expect(body.steps.map((step: { status: string }) => step.status)).toEqual(Array(4).fill('completed'))
})
