import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { HEAD, TOOL } from './pack-folders.ts'

// The JSON Schemas that editors use for the files of a pack.

const LIBRARY = new URL('../../../src/features/packs/library/', import.meta.url)
let gatepass: Gatepass
let ofPack: ValidateFunction
let ofTool: ValidateFunction

beforeAll(async () => {
  gatepass = await startGatepass()
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const compiled = async (path: string) => {
    const { status, headers, body } = await gatepass.call('GET', path, undefined, { key: null })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/schema+json'])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body.$id).toBe(`${gatepass.url}${path}`)
    return ajv.compile(body)
  }
  ofPack = await compiled('/schemas/toolpack.json')
  ofTool = await compiled('/schemas/toolpack-tool.json')
})
afterAll(() => gatepass.close())

test('every file that Gatepass ships has the form that the schemas describe', () => {
  const files = readdirSync(LIBRARY, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  )
  const wrong = files.flatMap((name) => {
    const validate = name.endsWith('/pack.json') ? ofPack : ofTool
    const isValid = validate(JSON.parse(readFileSync(new URL(name, LIBRARY), 'utf8')))
    return isValid ? [] : [`${name}: ${JSON.stringify(validate.errors)}`]
  })
  expect(files.length).toBeGreaterThan(400)
  expect(wrong).toEqual([])
})

test('what Gatepass refuses in a file, the schemas refuse', () => {
  expect([ofPack(HEAD), ofTool(TOOL)]).toEqual([true, true])
  expect(ofPack({ ...HEAD, nmae: 'x' })).toBe(false)
  expect(ofPack({ ...HEAD, version: '1' })).toBe(false)
  expect(ofTool({ ...TOOL, aproval: 'ask' })).toBe(false)
  expect(ofTool({ ...TOOL, approval: 'asks' })).toBe(false)
  expect(ofTool({ ...TOOL, scopes: undefined })).toBe(false)
})
