import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogueEntry } from '../../../src/dev-provider/simulator/catalogue-entry.ts'
import { runMainJob } from '../../../src/dev-provider/simulator/main-job.ts'
import { builtIn, builtInIds } from '../../../src/providers/catalogue/registry.ts'
import { startSimulated } from './world.ts'

// Every provider of the catalogue runs the whole main job: one Gatepass over HTTP, one simulator after another.

let simulated: Awaited<ReturnType<typeof startSimulated>>
beforeAll(async () => {
  simulated = await startSimulated()
})
afterAll(() => simulated[Symbol.asyncDispose]())

test('every provider of the catalogue runs the main job against its simulator', async () => {
  const failed: string[] = []
  for (const id of builtInIds()) {
    const definition = builtIn(id)
    if (definition === undefined) throw new Error(`${id} is in the catalogue`)
    const { ok, steps } = await runMainJob(simulated, catalogueEntry(definition))
    const last = steps.at(-1)
    if (!ok) failed.push(`${id}: ${last?.step}: ${last?.detail}`)
  }
  expect(failed).toEqual([])
}, 300_000)
