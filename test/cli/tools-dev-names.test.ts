import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { install } from './gatepass.ts'

const SDK = new URL('../../src/sdk/tools/index.ts', import.meta.url).href

/** An app with the tool `hub.greet`. The id of a tool has its version. */
const hub = (version: string, greeting: string) => `import { ToolApp } from '${SDK}'
const app = new ToolApp({ name: 'hub', version: '${version}' })
app.tool('greet', {
  description: 'Greets.',
  input: { type: 'object' },
  handler: () => ${JSON.stringify(greeting)},
})
export default app
`

test('takes no name of another worker, and says whose it is', async () => {
  await using gatepass = await install()
  const server = gatepass.start('dev', '--commands')
  const [key] = await server.prints(/\bgp_[\w-]{43}\b/)
  const write = (name: string, text: string) => {
    const file = join(gatepass.directory, name)
    writeFileSync(file, text)
    return file
  }
  const first = gatepass.start('tools', 'dev', write('first.ts', hub('1.0.0', 'First')))
  await first.prints(/^curl .*hub\.greet.*$/m)
  const second = gatepass.start('tools', 'dev', write('second.ts', hub('2.0.0', 'Second')))
  await second.reports(/The name hub.greet belongs to dev-first/i)
  write('second.ts', hub('2.0.0', 'Again'))
  await second.prints(/Reloaded/)
  const headers = { authorization: `Bearer ${key}` }
  const worker = await (await fetch(`${gatepass.url}/v1/workers/dev-second`, { headers })).json()
  expect(worker.acceptance.waiting.names).toEqual([
    { name: expect.stringMatching(/^hub.greet$/i), owner: 'dev-first' },
  ])
})
