import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleMetadata } from '../src/dev-provider/sample-metadata.ts'
import { startFakeWorker } from './fake-worker.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { metadata, WORKER_SECRET } from './http/world.ts'
import { expectListedNamesToRun } from './listed-names.ts'
import { freePort } from './ports.ts'

// What a list hands to a model is what every way of running takes, for each sample of this repository. Samples of the kinds
// of workers are in kinds/every-kind.test.ts.

/** Without test/fixtures/run-tools.ts, two tools of which end only when their caller leaves. */
const SAMPLES = [
  'examples/local-tools.ts',
  ...['tools-module', 'clone-tools', 'told-tools'].map((name) => `test/fixtures/${name}.ts`),
]

let gatepass: Gatepass
let call: Gatepass['call']
const workers: ChildProcess[] = []

async function startWorker(script: string, ...more: string[]): Promise<string> {
  const port = String(await freePort())
  const env = { ...process.env, WORKER_SECRET, PORT: port }
  const worker = spawn(process.execPath, [script, ...more], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  workers.push(worker)
  await new Promise((resolve) => worker.stdout.once('data', resolve))
  return `http://127.0.0.1:${port}`
}

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const listed = async () =>
  (await call('GET', '/v1/tools?limit=100')).body.items.map((one: { tool_id: string }) => one.tool_id)

async function addWorker(id: string, uri: string): Promise<void> {
  const http = { uri, secret: WORKER_SECRET, timeout: 60, retry: 0 }
  const { status, body } = await call('POST', '/v1/workers', { id, http })
  expect([status, body.sync_error]).toEqual([201, undefined])
}

async function importWith(worker: string, ...documents: unknown[]): Promise<void> {
  const { body } = await call('POST', `/v1/tools/import?worker_id=${worker}`, documents)
  for (const { result, warnings } of body.items) expect(result, JSON.stringify(warnings)).toBe('created')
}

beforeAll(async () => {
  gatepass = await startGatepass({ mode: 'development', environment: { GATEPASS_TOOLS: SAMPLES.join(',') } })
  call = gatepass.call
})
afterAll(async () => {
  for (const worker of workers) worker.kill()
  await gatepass.close()
})

test('an import with a worker binds to its tool, which lists then give once', async () => {
  const before = await listed()
  expect(before).toContain('Sandbox:Profile:1.0.0')
  await importWith('sandbox', sampleMetadata(new URL(gatepass.url)))
  await addWorker('github-worker', await startWorker('examples/github-worker.ts'))
  await importWith('github-worker', json('examples/github-repositories.json'))

  const after: string[] = await listed()
  expect(after).toEqual(
    expect.arrayContaining(['local:Sandbox_Profile:1.0.0', 'local:GitHub_Repositories:1.0.0']),
  )
  for (const twin of ['Sandbox:Profile:1.0.0', 'Github:Repositories:1.0.0']) expect(after).not.toContain(twin)
  expect(after).toHaveLength(before.length + 1)
  // the names of both are the names of one tool; a list of the worker's own toolkit still has what it is called there
  for (const name of ['Sandbox_Profile', 'sandbox_profile', 'Sandbox_Profile@1.0.0', 'Github_Repositories'])
    expect((await call('GET', `/v1/tools/${name}`)).body.toolkit, name).toMatchObject({ name: 'local' })
  for (const name of ['Sandbox.Profile', 'Sandbox:Profile:1.0.0', 'Github.Repositories@1.0.0'])
    expect((await call('GET', `/v1/tools/${name}`)).status, name).toBe(200)
  const { items } = (await call('GET', '/v1/tools?toolkit=Sandbox')).body
  expect(items).toMatchObject([{ tool_id: 'Sandbox:Profile:1.0.0' }])
})

test('tools whose names for models would be the same are listed, and run, under names of their own', async () => {
  const toolkit = (name: string) => ({ name, version: '1.0.0' })
  const toolNamed = (name: string) => ({ name, description: name, run: async () => ({ value: name }) })
  const short = await startFakeWorker({
    secret: WORKER_SECRET,
    tools: [toolNamed('b_c')],
    toolkit: toolkit('a'),
  })
  const long = await startFakeWorker({
    secret: WORKER_SECRET,
    tools: [toolNamed('c')],
    toolkit: toolkit('a_b'),
  })
  try {
    await addWorker('short', short.url)
    await addWorker('long', long.url)
    const { body } = await call('GET', '/v1/formatted_tools?format=anthropic&q=a_b_c')
    const names: string[] = body.items.map((one: { name: string }) => one.name)
    expect(names.toSorted()).toEqual(['a_b_c', expect.stringMatching(/^a_b_c_[0-9a-f]{8}$/)])
    const values = []
    for (const tool_name of names.toSorted())
      values.push((await call('POST', '/v1/tools/execute', { tool_name })).body.output.value)
    expect(values).toEqual(['b_c', 'c'])
    const [, digested = ''] = names.toSorted()
    const hostile = await startFakeWorker({
      secret: WORKER_SECRET,
      tools: [toolNamed(digested), toolNamed(digested.slice('a_'.length))],
      toolkit: toolkit('a'),
    })
    await addWorker('hostile', hostile.url)
    const again = await call('POST', '/v1/tools/execute', { tool_name: digested })
    expect(again.body.output.value).toBe('c')
    await call('DELETE', '/v1/workers/hostile')
    await hostile.close()
    await call('POST', '/v1/tools/import', [
      metadata('Sandbox.Profile'),
      metadata('dotted.name', { tool_set: 'x-y' }),
      metadata('name', { tool_set: 'x_y' }),
      metadata('x_y.name'),
    ])
    expect((await call('GET', '/v1/tools/Sandbox.Profile')).body.toolkit.name).toBe('Sandbox')
  } finally {
    await short.close()
    await long.close()
  }
})

test('every listed name of every format runs, of every sample in this repository', async () => {
  await addWorker('shinkai', await startWorker('examples/shinkai-worker/worker.ts'))
  await importWith(
    'shinkai',
    ...['profile', 'word-count'].map((name) => json(`examples/shinkai-worker/tools/${name}/metadata.json`)),
  )
  const names = await expectListedNamesToRun(call)
  expect(names.length).toBeGreaterThan(100)
})
