import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleInput } from '../../src/cli/example-input.ts'
import { type Installation, install, type Started } from './gatepass.ts'

// `gatepass tools dev` beside `gatepass dev`, each as a process.

const SDK = new URL('../../src/sdk/tools/index.ts', import.meta.url).href
const CLIENT = new URL('../../src/sdk/client/gatepass.ts', import.meta.url).href
let gatepass: Installation
let server: Started
let key: string
beforeAll(async () => {
  gatepass = await install()
  server = gatepass.start('dev', '--commands')
  ;[key] = await server.prints(/\bgp_[\w-]{43}\b/)
})
afterAll(() => gatepass[Symbol.asyncDispose]())

function write(name: string, text: string): string {
  const file = join(gatepass.directory, name)
  writeFileSync(file, text)
  return file
}

const hub = (greeting: string) => `import { ToolApp } from '${SDK}'
import { Gatepass } from '${CLIENT}'
import { prefix } from './prefix.ts'
const app = new ToolApp({ name: 'hub', version: '1.0.0', gatepass: new Gatepass() })
app.tool('greet', {
  description: 'Greets.',
  input: {
    type: 'object',
    properties: { name: { type: 'string', examples: ["Ada's"] }, loud: { type: 'boolean' } },
    required: ['name'],
  },
  handler: ({ input }) => prefix + ${JSON.stringify(greeting)} + ' ' + input.name,
})
export default app
`

/** Pastes the printed command into a shell. */
async function paste(key: string, call: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `${key}\n${call}`])
  return JSON.parse(stdout)
}

test('serves a file, prints calls that work, reloads what it imports, and deletes its worker', async () => {
  write('prefix.ts', `export const prefix = ''\n`)
  const file = write('hub.ts', hub('Hello'))
  const dev = gatepass.start('tools', 'dev', file)
  const [, key = ''] = await dev.prints(/^export (GATEPASS_API_KEY='gp_.*')$/m)
  const [call] = await dev.prints(/^curl .*hub\.greet.*$/m)
  expect(await paste(key, call)).toMatchObject({ output: { value: "Hello Ada's" } })

  write('prefix.ts', `export const prefix = 'Oh! '\n`)
  await dev.prints(/Reloaded/)
  expect(await paste(key, call)).toMatchObject({ output: { value: "Oh! Hello Ada's" } })

  write('hub.ts', `${hub('Bye')}\nthis is no TypeScript`)
  await dev.reports(/hub\.ts cannot be served/)
  write('hub.ts', hub('Bye').replace("'greet'", "'farewell'"))
  const [other] = await dev.prints(/^curl .*hub\.farewell.*$/m)
  expect(await paste(key, other)).toMatchObject({ output: { value: "Oh! Bye Ada's" } })

  const { code, stderr } = await dev.stop()
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('dev-hub is deleted') })
  expect(JSON.parse((await gatepass.runHere('workers', '--json')).stdout).items).not.toContainEqual(
    expect.objectContaining({ id: 'dev-hub' }),
  )
})

test('prints only the key of development, no key that it was given', async () => {
  write('prefix.ts', `export const prefix = ''\n`)
  const dev = gatepass.start('tools', 'dev', write('given.ts', hub('Hello')), '--key', key)
  await dev.prints(/^export GATEPASS_API_KEY=<the key of --key>$/m)
  expect((await dev.stop()).stdout).not.toContain(key)
})

describe('says in one line what is wrong', () => {
  test.each([
    ['no such file', ['nothing.ts'], 3, /^There is no file nothing\.ts\.$/],
    [
      'no Gatepass',
      ['FILE', '--url', 'http://localhost:1', '--key', 'k'],
      6,
      /^No Gatepass answers at http:\/\/localhost:1\. Start one with `gatepass dev`/,
    ],
    ['a port in use', ['FILE', '--port', 'GATEPASS'], 1, /^The port \d+ is already in use\.$/],
    [
      'no key',
      ['FILE', '--url', 'http://localhost:1'],
      2,
      /^No API key: start `gatepass dev` in this folder/,
    ],
  ])('%s', async (what, args, code, message) => {
    const file = write('empty.ts', '')
    const given = args.map((one) => one.replace('FILE', file).replace('GATEPASS', new URL(gatepass.url).port))
    const env = what === 'no key' ? { GATEPASS_DATABASE_URL: `file:${gatepass.directory}/other.db` } : {}
    const outcome = await gatepass.runHereWith({ env }, 'tools', 'dev', ...given)
    expect(outcome.stderr.trim()).toMatch(message)
    expect(outcome.code).toBe(code)
  })

  test('a file without tools', async () => {
    const dev = gatepass.start('tools', 'dev', write('empty.ts', 'export const nothing = 1\n'))
    await dev.reports(/empty\.ts cannot be served: it exports no ToolApp: write `export default app`\./)
    await dev.stop()
  })
})

test.each([
  [{ type: 'object', properties: { a: { type: 'integer', minimum: 3 }, b: {} }, required: ['a'] }, { a: 3 }],
  [
    { type: 'object', properties: { when: { type: 'string', format: 'date' } }, required: ['when'] },
    { when: '2026-01-31' },
  ],
  [
    {
      type: 'object',
      properties: { x: { $ref: '#/$defs/x' } },
      required: ['x'],
      $defs: { x: { enum: ['one'] } },
    },
    { x: 'one' },
  ],
  [
    { type: 'object', properties: { l: { type: 'array', items: { type: 'boolean' } } }, required: ['l'] },
    { l: [true] },
  ],
  [{ type: 'object', properties: { n: { anyOf: [{ type: 'null' }] } }, required: ['n'] }, { n: null }],
  [
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/gone' }, b: { $ref: 'other.json#/b' } },
      required: ['a', 'b'],
    },
    { a: null, b: null },
  ],
])('an example input of %j', (schema, input) => {
  expect(exampleInput(schema)).toEqual(input)
})
