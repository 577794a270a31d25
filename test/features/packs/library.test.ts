import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { PackFault, packIds, readPack, shippedPack } from '../../../src/features/packs/wire-library.ts'
import { workerOfPack } from '../../../src/features/packs/wire-worker.ts'
import { builtIn } from '../../../src/providers/catalogue/registry.ts'
import { prepareConversions } from '../../../src/tools/openapi/answers/convert-answer.ts'
import { valuesAt } from '../../../src/tools/openapi/answers/member-path.ts'
import { shortenTexts } from '../../../src/tools/openapi/answers/shape-answer.ts'
import { readApiAnswer } from '../../../src/tools/openapi/read-response.ts'
import { planOf } from '../../../src/tools/openapi/request-plan.ts'
import { defined } from '../../store/fixtures.ts'
import { differences, type Recording, requestOf, toolOf } from './recordings.ts'

// What Gatepass ships as packs, compared with the vendors' own descriptions and clients (docs/guides/tool-packs.md says what that
// shows and what it does not).

interface DescribedOperation {
  /** `POST /tasks/{task_gid}/stories`, below the base URL of the description. */
  readonly operation: string
  readonly accepted_scopes?: readonly string[]
}

const { tools: OPERATIONS } = JSON.parse(
  readFileSync(new URL('./operations.json', import.meta.url), 'utf8'),
) as { readonly tools: Readonly<Record<string, DescribedOperation>> }

const BUDGET = 8_000
const ajv = new Ajv2020({ strict: false, validateFormats: false })

/** Where the client and the description differ, as `known_difference` says: the tool does what the description says. */
const DIFFERENT = ['github.GetFile', 'github.WriteFile', 'spotify.AddToPlaylist']

function recordingsOf(id: string): readonly Recording[] {
  const file = new URL(`./recorded/${id}.json`, import.meta.url)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

const packs = packIds().map((id) => defined(shippedPack(id)))

describe.each(packs)('the pack $id', (pack) => {
  const named = (name: string) => pack.tools.find((tool) => tool.name === name)

  test.each([...new Set(pack.tools.map(({ provider }) => provider ?? pack.provider))])(
    'has the provider %s of the catalogue, whose tokens may be sent to its hosts',
    (id) => {
      const { provider } = defined(builtIn(id))
      const tools = pack.tools.filter((tool) => (tool.provider ?? pack.provider) === id)
      const { openapi } = workerOfPack(pack, { tools: tools.map(({ name }) => name) })
      const hosts = openapi.requests.map(({ url }) => /^https:\/\/([^/]+)/.exec(url)?.[1] ?? url)
      const allowed = provider.api?.hosts ?? []
      const covers = (pattern: string, host: string) =>
        pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)))
      const others = hosts.filter(
        (host) => !host.includes('{{') && !allowed.some((pattern) => covers(pattern, host)),
      )
      expect([...new Set(others)]).toEqual([])
    },
  )

  test.each(pack.tools)('$name: its examples are answered as described, in few bytes', async (tool) => {
    const read = toolOf(pack, tool.name)
    const { answer: plan } = planOf(read.document)
    expect(`${pack.namespace}_${tool.name}`.length).toBeLessThanOrEqual(48)
    const validate = ajv.compile(read.inputSchema)
    const seen = new Set<string>()
    expect(tool.examples?.length).toBeGreaterThan(0)
    for (const { input, answer } of tool.examples ?? []) {
      expect([validate(input), ajv.errorsText(validate.errors)]).toEqual([true, 'No errors'])
      await requestOf(pack, tool.name, input)
      await prepareConversions(Object.values(plan?.convert ?? {}))
      const isText = typeof answer === 'string'
      const body = answer == null ? '' : isText ? answer : JSON.stringify(answer)
      const headers = { 'content-type': isText ? 'text/plain' : 'application/json' }
      const response = { status: 200, headers, body: Buffer.from(body) }
      const place = { id: 'file_1', url: 'https://gatepass.example.com/v1/files/file_1', expiresAt: 1 }
      const shaped = readApiAnswer({ response, isSafe: true, plan, input, place })
      if (shaped.outcome !== 'value') throw new Error(JSON.stringify(shaped))
      const value = plan?.longTexts ? shortenTexts(plan.longTexts, shaped.value, input) : shaped.value
      expect(JSON.stringify(value).length).toBeLessThan(BUDGET)
      for (const path of plan?.members ?? []) if (valuesAt(answer, path).length > 0) seen.add(path)
    }
    expect((plan?.members ?? []).filter((path) => !seen.has(path))).toEqual([])
  })

  test.each(recordingsOf(pack.id))('$tool: sends what $client sends', async (recording) => {
    const { tool, args, known_difference } = recording
    const properties = defined(named(tool)).input_schema.properties as object
    // an input that names a page has one name in all tools, and values of the connection are no inputs
    const input = Object.entries(args)
      .filter(([name]) => !['cloud_id', 'subdomain', 'instance_url'].includes(name))
      .map(([name, value]) => (name in properties ? [name, value] : ['page', String(value)]))
    const found = differences(await requestOf(pack, tool, Object.fromEntries(input)), recording)
    if (!DIFFERENT.includes(`${pack.id}.${tool}`)) expect(found).toEqual([])
    else expect([known_difference, found.length]).toEqual([expect.any(String), 1])
    expect(defined(named(tool)).checks).toContain('client')
  })

  test.each(
    pack.tools.flatMap((tool) => {
      const described = OPERATIONS[`${pack.id}.${tool.name}`]
      return described === undefined ? [] : [{ name: tool.name, tool, described }]
    }),
  )('$name: is the operation of the description, with scopes that it accepts', ({ tool, described }) => {
    const [method = '', path = ''] = described.operation.split(' ')
    if (/^(GET|PUT|POST|DELETE|PATCH)$/.test(method) && path.startsWith('/')) {
      const { url } = defined(workerOfPack(pack, { tools: [tool.name] }).openapi.requests[0])
      expect(tool.method).toBe(method)
      if (!OTHER_PATHS.includes(`${pack.id}.${tool.name}`)) expect(url).toMatch(patternOf(path))
    }
    const accepted = (described.accepted_scopes ?? []).map((scope) => RENAMED_SCOPES[scope] ?? scope)
    if (accepted.length === 0) return
    const isAccepted = (scope: string) => accepted.some((one) => scope === one || scope.startsWith(`${one}.`))
    for (const scopes of [tool.scopes, ...(tool.alternatives ?? [])])
      expect(scopes.filter((scope) => !isAccepted(scope))).toEqual([])
  })
})

/** Tools that take another path to the same operation: a file by its path in place of its id. */
const OTHER_PATHS = ['onedrive.UploadFile']

/** Scopes of Slack that have another name since its description was published; narrower ones have a suffix (`.topic`). */
const RENAMED_SCOPES: Readonly<Record<string, string>> = {
  'chat:write:user': 'chat:write',
  'chat:write:bot': 'chat:write',
}

/** The end of URLs of the path. A placeholder is one segment, and Microsoft's `/users/{id}` is also `/me`. */
function patternOf(path: string): RegExp {
  const plain = path.replace(/\?.*$/, '').replace(/\/$/, '')
  const source = plain
    .split(/(\{[^{}]*\})/)
    .map((part) => (part.startsWith('{') ? '[^/]+' : part.replaceAll(/[.()'$]/g, '\\$&')))
    .join('')
    .replace('/users/[^/]+', '/(?:users/[^/]+|me)')
  return new RegExp(`${source}/?(?:\\?.*)?$`, 'i')
}

describe('a fault', () => {
  const folder = () => mkdtempSync(join(tmpdir(), 'packs-'))
  const head = {
    id: 'notes',
    name: 'Notes',
    namespace: 'Notes',
    version: '1.0.0',
    summary: 'Notes.',
    provider: 'google',
    base_url: 'https://notes.googleapis.com',
    sources: ['its reference'],
    checked: '2026-11-28',
  }
  const tool = {
    name: 'GetNote',
    description: 'Reads a note.',
    method: 'GET',
    url: '/notes/{id}',
    input_schema: { type: 'object', properties: { id: { type: 'string' } } },
    scopes: ['notes.readonly'],
  }
  const packOf = (headOf: object, toolOfPack: object) => {
    const path = join(folder(), 'notes')
    mkdirSync(path)
    writeFileSync(join(path, 'pack.json'), JSON.stringify({ ...head, ...headOf }))
    writeFileSync(join(path, 'GetNote.json'), JSON.stringify({ ...tool, ...toolOfPack }))
    return () => readPack(pathToFileURL(`${path}/`))
  }

  test.each<[string, object, object, string]>([
    [
      'a member that does not exist',
      {},
      { scope: 'x' },
      'notes/GetNote.json: scope is not a known member: did you mean scopes?',
    ],
    [
      'a value that does not exist',
      {},
      { approval: 'asks' },
      'notes/GetNote.json: approval must be one of "none", "ask"; did you mean "ask"?',
    ],
    ['another name than the file', {}, { name: 'ReadNote' }, 'it must be the name of the file'],
    ['another id than the folder', { id: 'note' }, {}, 'it must be the name of the folder'],
  ])('names the file, the member and what is near: %s', (_, headOf, toolOfPack, message) => {
    expect(packOf(headOf, toolOfPack)).toThrow(PackFault)
    expect(packOf(headOf, toolOfPack)).toThrow(message)
  })

  test('none: the pack is read', () => {
    expect(packOf({}, {})().tools.map(({ name }) => name)).toEqual(['GetNote'])
  })
})

// a comparison that finds nothing would prove nothing: a fault in each recorded tool is noticed
test.each(
  packs.flatMap((pack) =>
    recordingsOf(pack.id)
      .filter(({ known_difference }) => known_difference === undefined)
      .slice(0, 1)
      .map((recording) => ({ id: pack.id, pack, recording })),
  ),
)(
  'the comparison of $id notices another method, another path, and another value',
  async ({ pack, recording }) => {
    const { expected } = recording
    const faulty: Recording['expected'][] = [
      { ...expected, path: `${expected.path}x` },
      { ...expected, method: expected.method === 'PUT' ? 'POST' : 'PUT' },
      { ...expected, query: [...expected.query, ['extra', '1']] },
    ]
    const properties = defined(pack.tools.find(({ name }) => name === recording.tool)).input_schema
      .properties as object
    const input = Object.fromEntries(
      Object.entries(recording.args).map(([name, value]) =>
        name in properties ? [name, value] : ['page', String(value)],
      ),
    )
    if (recording.compare === 'slack') return
    const sent = await requestOf(pack, recording.tool, input)
    for (const one of faulty) expect(differences(sent, { ...recording, expected: one })).not.toEqual([])
  },
)
