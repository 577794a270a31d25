import { z } from '@hono/zod-openapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attempt } from '../../../src/http/console/form-outcome.ts'
import { operationForm } from '../../../src/http/console/operation-form.ts'
import { outputView } from '../../../src/http/console/output-view.ts'
import { membersOf, schemaForm } from '../../../src/http/console/schema-form.ts'
import { schemaFormView } from '../../../src/http/console/schema-form-view.ts'
import { createApiKey, rotateApiKey } from '../../../src/operations/admin/keys.ts'
import { createProject } from '../../../src/operations/admin/projects.ts'
import { setSecret } from '../../../src/operations/admin/secrets.ts'
import { jsonSchemaOf } from '../../../src/operations/json-schema.ts'
import { createWorker, updateWorker } from '../../../src/operations/workers/workers.ts'
import { invalidRequest, parseOnce } from '../../../src/parsing/parse.ts'
import { UserAgent } from '../../user-agent.ts'
import { type BodyForm, consoleParts } from '../console-part.ts'
import { startWorld, type World } from '../world.ts'

let world: World
let admin: UserAgent
let keyId = ''
beforeAll(async () => {
  world = await startWorld()
  keyId = (await world.call('POST', '/v1/admin/keys', { role: 'caller' })).body.id
  for (const { prepare } of consoleParts) await prepare(world)
  admin = new UserAgent()
  const key = world.gatepass.apiKey
  await admin.submitForm(await admin.follow(`${world.gatepass.url}/dashboard`), { key })
})
afterAll(() => world[Symbol.asyncDispose]())

const members = (schema: z.ZodType) => membersOf(jsonSchemaOf(schema)).map(({ member }) => member)

describe('every member of an operation has a field in its form', () => {
  const rows: readonly BodyForm[] = [
    ['createApiKey', { page: () => '/keys', body: createApiKey.body, without: ['project', 'expires_at'] }],
    [
      'rotateApiKey',
      { page: () => `/keys/${keyId}`, action: () => `/keys/${keyId}/rotate`, body: rotateApiKey.body },
    ],
    ['createProject', { page: () => '/projects', body: createProject.body }],
    ['setSecret', { page: () => '/secrets', body: setSecret.body }],
    ...consoleParts.flatMap(({ bodies = [] }) => bodies),
  ]
  test.each(rows)('%s', async (_, { page, action = page, body, without = [] }) => {
    const { body: shown } = await admin.get(`${world.gatepass.url}/dashboard${page()}`)
    const form = shown.split('<form').find((one) => one.includes(`action="/dashboard${action()}"`)) ?? ''
    const names = new Set([...form.matchAll(/name="([^"]+)"/g)].map(([, name]) => name))
    const expected = members(body ?? z.never()).filter((member) => !without.includes(member))
    const isOffered = (member: string) => [...names].some((name) => `${name}.`.startsWith(`${member}.`))
    expect(expected.filter((member) => !isOffered(member))).toEqual([])
  })
})

const blockOf = (schema: z.ZodType | undefined, type: string) =>
  membersOf(jsonSchemaOf(schema ?? z.never())).find(({ member }) => member === type)?.keywords ?? {}

test.each(['http', 'mcp', 'openapi', 'oxp'])(
  'every setting of a worker of the type %s has a field in the forms that register and change it',
  async (type) => {
    const settings = type === 'openapi' ? { url: 'http://127.0.0.1:9/' } : { uri: 'http://127.0.0.1:9' }
    const secret = type === 'http' && { secret: 'secret-of-the-tests' }
    await world.call('POST', '/v1/workers', { id: `of-${type}`, [type]: { ...settings, ...secret } })
    for (const [page, body] of [
      [`/worker/new?type=${type}`, createWorker.body],
      [`/workers/of-${type}`, updateWorker.body],
    ] as const) {
      const { body: shown } = await admin.get(`${world.gatepass.url}/dashboard${page}`)
      const names = [...shown.matchAll(/name="([^"]+)"/g)].map(([, name = '']) => name)
      const without = membersOf(blockOf(body, type)).filter(
        ({ member }) => !names.some((name) => `${name}.`.startsWith(`${type}.${member}.`)),
      )
      expect(without.map(({ member }) => member)).toEqual([])
    }
  },
)

describe('a form of an operation', () => {
  const body = z.object({
    name: z.string().max(100),
    size: z.enum(['small', 'large']).nullish(),
    rate: z.number().int().min(0).max(60).nullish().meta({ description: 'Requests; `0`: any number' }),
    at: z
      .object({
        uri: z.string().max(50),
        key: z.string().min(1).max(60).optional().meta({ writeOnly: true }),
      })
      .optional(),
    more: z.record(z.string(), z.string()).optional(),
  })
  const form = operationForm({ id: 'make', body }, { name: 'Name', 'at.key': 'Key' })
  const sent = (values: Record<string, string>) => new URLSearchParams(values)

  test('has fields for members that its layout does not name, with the hints and limits of the schema', () => {
    const view = String(form.view())
    expect(view.match(/name="[^"]+"/g)).toEqual(
      ['name', 'at.key', 'size', 'rate', 'at.uri', 'more'].map((name) => `name="${name}"`),
    )
    expect(view).toMatch(/<label for="input-rate">Rate<\/label>/)
    expect(view).toContain('Requests; <code>0</code>: any number. From 0 to 60.')
    expect(view).toMatch(/name="name"[^>]* required maxlength="100"/)
    expect(view).toMatch(/<option value="large">large<\/option>/)
  })

  test('has several lines for long texts by the rule of a tool’s form, unless the page says otherwise', () => {
    const long = z.object({
      note: z.string().max(201),
      line: z.string().max(200),
      shape: z.string().max(500).regex(/^a/),
      ident: z.string().max(500),
      any: z.string(),
    })
    const ofOperation = String(operationForm({ id: 'make', body: long }, { ident: { type: 'text' } }).view())
    const ofTool = String(schemaFormView(schemaForm(jsonSchemaOf(long))))
    const areas = (view: string) =>
      [...view.matchAll(/<textarea[^>]* name="\/?(\w+)"/g)].map(([, name]) => name)
    expect(areas(ofOperation)).toEqual(['note', 'any'])
    expect(areas(ofTool)).toEqual(['note', 'ident', 'any'])
  })

  test('is read as the body of the request; empty fields are left out', () => {
    const values = { name: ' a ', size: 'large', rate: '7', 'at.key': 'k', more: '{"b": "c"}' }
    const read = { name: 'a', size: 'large', rate: 7, at: { key: 'k' }, more: { b: 'c' } }
    expect(form.read(sent(values))).toEqual(read)
    expect(form.read(sent({ name: '', size: '', rate: '', 'at.key': '' }))).toEqual({})
  })

  test('shows the faults of the operation at their fields, and keeps what was typed but no secret', async () => {
    const values = sent({ name: '', size: 'huge', rate: 'many', 'at.key': 'kept-to-itself' })
    const refused = await attempt(async () => parseOnce(body, form.read(values), 'the body'))
    if (refused.outcome !== 'refused') throw new Error('it was accepted')
    const view = String(form.view({ values, refused }))
    for (const [id, said] of [
      ['name', 'name is missing.'],
      ['size', 'size must be one of &quot;small&quot;, &quot;large&quot;.'],
      ['rate', 'rate must be a number.'],
      ['at-uri', 'at.uri is missing.'],
    ])
      expect(view).toMatch(new RegExp(`<p class="fault" id="input-${id}-note">${said}`))
    expect(view).toContain('value="many"')
    expect(view).not.toContain('kept-to-itself')
  })

  test('says itself what is no JSON', () => {
    expect(() => form.read(sent({ name: 'a', more: '{' }))).toThrow(/^More is not JSON: /)
  })

  test('that changes a record requires nothing and offers no defaults', () => {
    const changes = z.object({ name: z.string().default('a'), kind: z.string() })
    const view = String(operationForm({ id: 'change', body: changes }, {}, { isChange: true }).view())
    expect(view).not.toMatch(/required|value="a"|>\na</)
  })

  test('opens the section of further members when one of them is wrong', () => {
    const closed = operationForm({ id: 'make', body }, { name: 'Name' }, { others: 'More settings' })
    expect(String(closed.view())).toContain('<details><summary>More settings')
    const fault = { path: 'rate', code: 'invalid' as const, message: 'rate is wrong.' }
    const { message } = invalidRequest([fault])
    const faults = new Map([['rate', message]])
    const refused = { outcome: 'refused', message, status: 400, faults } as const
    expect(String(closed.view({ values: sent({ name: 'a' }), refused }))).toContain('<details open>')
  })

  test('refuses a layout that names no member', () => {
    const wrong = operationForm({ id: 'make', body }, { 'at.nothing': 'Nothing' })
    expect(() => wrong.fields).toThrow('The operation make has no member at.nothing.')
  })
})

test('an output shows members that its layout does not name, in lists and on pages', () => {
  const output = z.object({
    id: z.string(),
    made_at: z.string(),
    tags: z.array(z.string()),
    hidden: z.string(),
    is_new: z.boolean(),
    note: z.string().optional(),
  })
  const view = outputView(output, { id: ['Name', ({ id }) => id.toUpperCase()], hidden: false })
  expect(view.heads).toEqual(['Name', 'Made at', 'Tags', 'Is new', 'Note'])
  const one = { id: 'a', made_at: '1970-01-01T00:00:10.000Z', tags: ['x', 'y'], hidden: 'h', is_new: true }
  expect(view.cells(one, 70).map(String)).toEqual([
    'A',
    expect.stringContaining('1 min ago'),
    '<bdi>x, y</bdi>',
    'yes',
    'undefined',
  ])
  expect(view.facts(one, 70).map(([label, value]) => [label, String(value)])).toContainEqual([
    'Made at',
    expect.stringContaining('1970-01-01 00:00:10 UTC'),
  ])
})

test('an output shows a member of an object by its path, and no whole object', () => {
  const output = z.object({
    at: z.object({ uri: z.string(), since_at: z.string() }),
    runs: z.array(z.object({ id: z.string() })),
    counts: z.array(z.number()),
  })
  const view = outputView(output, { 'at.uri': 'Address' })
  expect(view.heads).toEqual(['Address', 'Counts'])
  const given = { at: { uri: 'https://a.example', since_at: '' }, runs: [{ id: 'r' }], counts: [1, 2] }
  expect(view.cells(given, 0).map(String)).toEqual(['<bdi>https://a.example</bdi>', '<bdi>[1,2]</bdi>'])
})

describe('the form of a whole record', () => {
  const body = z.object({
    note: z.string().nullish(),
    key: z.string().nullish().meta({ writeOnly: true }),
    at: z
      .object({
        days: z.array(z.number().int()).optional(),
        per: z.enum(['user', 'tool']),
        rate: z.object({ limit: z.number().int(), per: z.enum(['user', 'tool']) }).optional(),
      })
      .optional(),
  })
  const days = [['1', 'Monday'] as const, ['2', 'Tuesday'] as const]
  const form = operationForm(
    { id: 'set', body },
    { 'at.days': { choices: days }, 'at.rate.limit': 'More than', 'at.rate.per': { initial: 'user' } },
    { isRecord: true, sections: { at: { title: 'At', isOpen: true }, 'at.rate': { title: 'Rate' } } },
  )
  const record = { note: 'a', key: 'secret', at: { days: [2], per: 'tool', rate: { limit: 3, per: 'tool' } } }

  test('is filled in with it, without secrets, and read as it was', () => {
    const values = form.valuesOf(record)
    expect(values.toString()).not.toContain('secret')
    const { key: _, ...others } = record
    expect(form.read(values)).toEqual(others)
    const view = String(form.view({ values }))
    expect(view).toMatch(/<input type="checkbox" name="at.days" value="2" checked>Tuesday/)
    expect(view).toMatch(/<details open><summary>Rate/)
  })

  test('removes what is empty, and makes no object of the values with which it begins', () => {
    const read = form.read(new URLSearchParams({ note: '', 'at.per': 'user', 'at.rate.per': 'user' }))
    expect(read).toEqual({ note: null, at: { per: 'user' } })
    expect(String(form.view())).toMatch(/<details><summary>Rate/)
  })
})
