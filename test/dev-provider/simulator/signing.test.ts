import { expect, test } from 'vitest'
import { withSimulation } from '../../../src/cli/simulation.ts'
import { catalogueEntry } from '../../../src/dev-provider/simulator/catalogue-entry.ts'
import { runMainJob } from '../../../src/dev-provider/simulator/main-job.ts'
import { builtIn } from '../../../src/providers/catalogue/registry.ts'

// The job of OAuth 1.0a finds what a definition has wrong, and not only what is right.

async function run(change: (body: Record<string, unknown>) => Record<string, unknown> = (body) => body) {
  const definition = builtIn('discogs')
  if (definition === undefined) throw new Error('discogs is in the catalogue')
  const entry = catalogueEntry(definition)
  const steps: unknown[] = []
  await withSimulation({ environment: {} }, async (simulated) => {
    const result = await runMainJob(simulated, { ...entry, body: { ...entry.body, ...change(entry.body) } })
    steps.push(...result.steps.map(({ step, ok }) => [step, ok]))
  })
  return steps
}

test('every step of a right definition is played', async () => {
  expect(await run()).toEqual([
    ['definition', true],
    ['consent refused', true],
    ['consent', true],
    ['call', true],
    ['token refused', true],
    ['deletion', true],
  ])
})

test.each([
  [
    'an account that no answer names',
    { account: { id: ['$.id'], name: ['$.login[0].name.x y'] } },
    'definition',
  ],
  ['a method that does not exist', { signature_method: 'MD5' }, 'definition'],
])('%s fails', async (_, oauth1, step) => {
  expect((await run((body) => ({ oauth1: { ...Object(body.oauth1), ...oauth1 } }))).at(-1)).toEqual([
    step,
    false,
  ])
})
