import { expect, test } from 'vitest'
import { withSimulation } from '../../../src/cli/simulation.ts'
import { catalogueEntry } from '../../../src/dev-provider/simulator/catalogue-entry.ts'
import { runMainJob } from '../../../src/dev-provider/simulator/main-job.ts'
import { builtIn, builtInIds } from '../../../src/providers/catalogue/registry.ts'

// Every provider of the catalogue runs the whole main job, as `gatepass providers test --simulate` runs one: the app in
// this process, one simulator after another. `odd-servers.test.ts` runs it over HTTP.

test('every provider of the catalogue runs the main job against its simulator', async () => {
  const failed: string[] = []
  await withSimulation({ environment: {} }, async (simulated) => {
    for (const id of builtInIds()) {
      const definition = builtIn(id)
      if (definition === undefined) throw new Error(`${id} is in the catalogue`)
      const { ok, steps } = await runMainJob(simulated, catalogueEntry(definition))
      const last = steps.at(-1)
      if (!ok) failed.push(`${id}: ${last?.step}: ${last?.detail}`)
    }
  })
  expect(failed).toEqual([])
}, 300_000)
