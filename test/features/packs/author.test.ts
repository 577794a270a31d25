import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runHere } from '../../cli/gatepass.ts'
import { startGatepass } from '../../gatepass.ts'
import { DELETE, packsFolder, TOOL, writePack } from './pack-folders.ts'

// gatepass packs init and check: what authors of packs run. Both need neither a server nor a database.

const run = (...args: string[]) => runHere({}, 'packs', ...args)
const folder = () => mkdtempSync(join(tmpdir(), 'author-'))
const read = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'))

function fileOf(document: unknown): string {
  const path = join(folder(), 'openapi.json')
  writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document))
  return path
}

const SENTENCE = 'A sentence of the vendor.'
const NOTES = {
  openapi: '3.1.0',
  info: { title: 'Notes API', version: '7' },
  servers: [{ url: 'https://notes.googleapis.com/v2' }],
  components: {
    securitySchemes: {
      oauth: {
        type: 'oauth2',
        flows: { authorizationCode: { scopes: { notes: SENTENCE, 'notes.read': SENTENCE } } },
      },
    },
    schemas: {
      Note: {
        type: 'object',
        description: SENTENCE,
        required: ['text'],
        properties: {
          text: { type: 'string', description: SENTENCE },
          description: { type: 'string', title: SENTENCE },
          tags: { type: 'array', items: { type: 'string', example: SENTENCE } },
        },
      },
    },
  },
  security: [{ oauth: ['notes'] }],
  paths: {
    '/notes': {
      get: {
        operationId: 'notes.list',
        summary: SENTENCE,
        tags: ['reading'],
        security: [{ oauth: ['notes'] }, { oauth: ['notes.read'] }],
        parameters: [
          {
            name: 'labels',
            in: 'query',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
          },
          {
            name: 'ids',
            in: 'query',
            schema: { type: 'array', items: { type: 'string' } },
            description: SENTENCE,
          },
          { name: 'X-Tenant', in: 'header', schema: { type: 'string' } },
        ],
        responses: { 200: { description: SENTENCE } },
      },
      post: {
        operationId: 'createNote',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
        },
        responses: { 201: { description: SENTENCE } },
      },
    },
    '/notes/{note-id}': {
      delete: {
        operationId: 'deleteNote',
        parameters: [{ name: 'note-id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 204: { description: SENTENCE } },
      },
    },
  },
}

describe('gatepass packs init', () => {
  test('makes a pack of an OpenAPI document that its check and a server accept', async () => {
    const packs = folder()
    const made = await run('init', join(packs, 'notes'), '--from', fileOf(NOTES))
    expect([made.code, made.stderr, made.stdout]).toEqual([
      0,
      '',
      expect.stringContaining('3 tools of Notes API'),
    ])
    expect(readdirSync(join(packs, 'notes')).sort()).toEqual([
      'CreateNote.json',
      'DeleteNote.json',
      'ListNotes.json',
      'pack.json',
    ])
    expect(read(packs, 'notes', 'pack.json')).toMatchObject({
      id: 'notes',
      namespace: 'Notes',
      provider: 'google',
      base_url: 'https://notes.googleapis.com/v2',
      sources: ['openapi.json'],
      checked: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })
    expect(read(packs, 'notes', 'ListNotes.json')).toMatchObject({
      method: 'GET',
      url: '/notes',
      query: { labels: { $join: '{labels}' }, ids: '{ids}' },
      headers: { 'X-Tenant': '{X-Tenant}' },
      annotations: { readOnlyHint: true, destructiveHint: false },
      scopes: ['notes.read'],
      alternatives: [['notes']],
    })
    expect(read(packs, 'notes', 'DeleteNote.json')).toMatchObject({
      method: 'DELETE',
      url: '/notes/{note-id}',
      approval: 'ask',
      scopes: ['notes'],
    })
    const create = read(packs, 'notes', 'CreateNote.json')
    expect(create.body).toMatchObject({ text: '{text}', tags: '{tags}' })
    expect(Object.keys(create.input_schema.properties)).toEqual(['text', 'description', 'tags'])
    for (const name of readdirSync(join(packs, 'notes')))
      expect(readFileSync(join(packs, 'notes', name), 'utf8')).not.toContain(SENTENCE)

    const checked = await run('check', join(packs, 'notes'))
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('ok: 3 tools, 0 examples')])
    expect(checked.stdout).toContain('its description is not written yet')
    await using gatepass = await startGatepass({ environment: { GATEPASS_PACKS: packs } })
    const added = await gatepass.call('POST', '/v1/packs', { id: 'notes', approvals: false })
    expect([added.status, added.body.tools?.length]).toEqual([201, 3])
  })

  test('makes one of a Google discovery document', async () => {
    const packs = folder()
    const discovery = {
      kind: 'discovery#restDescription',
      title: 'Memo API',
      version: 'v1',
      rootUrl: 'https://memo.googleapis.com/',
      servicePath: 'memo/v1/',
      schemas: {
        Memo: { id: 'Memo', type: 'object', properties: { text: { type: 'string', description: SENTENCE } } },
      },
      resources: {
        users: {
          resources: {
            memos: {
              methods: {
                list: {
                  path: 'users/{userId}/memos',
                  httpMethod: 'GET',
                  parameters: {
                    userId: { type: 'string', required: true, location: 'path', description: SENTENCE },
                    labels: { type: 'string', repeated: true, location: 'query' },
                    limit: { type: 'integer', minimum: '1', maximum: '500', location: 'query' },
                  },
                  scopes: ['https://mail.google.com/', 'https://www.googleapis.com/auth/memo.readonly'],
                },
                insert: {
                  path: 'users/{userId}/memos',
                  httpMethod: 'POST',
                  parameters: { userId: { type: 'string', required: true, location: 'path' } },
                  request: { $ref: 'Memo' },
                  scopes: ['https://www.googleapis.com/auth/memo'],
                },
              },
            },
          },
        },
      },
    }
    const made = await run(
      'init',
      join(packs, 'memo'),
      '--from',
      fileOf(discovery),
      '--operations',
      'users.memos.list',
    )
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(readdirSync(join(packs, 'memo')).sort()).toEqual(['ListUsersMemos.json', 'pack.json'])
    expect(read(packs, 'memo', 'pack.json')).toMatchObject({
      provider: 'google',
      base_url: 'https://memo.googleapis.com/memo/v1',
    })
    const tool = read(packs, 'memo', 'ListUsersMemos.json')
    expect(tool).toMatchObject({
      method: 'GET',
      url: '/users/{userId}/memos',
      query: { labels: '{labels}', limit: '{limit}' },
      scopes: ['https://www.googleapis.com/auth/memo.readonly'],
      alternatives: [['https://mail.google.com/']],
    })
    expect(tool.input_schema.properties.limit).toEqual({ type: 'integer', minimum: 1, maximum: 500 })
    expect(JSON.stringify(tool)).not.toContain(SENTENCE)
    expect((await run('check', join(packs, 'memo'))).code).toBe(0)
  })

  test.each<[string, unknown, readonly string[], string]>([
    ['an unknown operation', NOTES, ['--operations', 'createNot'], 'Did you mean "createNote"?'],
    ['a host of no provider', { ...NOTES, servers: [{ url: 'https://notes.example' }] }, [], '--provider'],
    ['no server', { ...NOTES, servers: [] }, [], 'names no server'],
    ['no document', 'a: b', [], 'OpenAPI 3.1 and 3.0 are read'],
  ])('refuses %s, and makes nothing', async (_, document, args, message) => {
    const path = join(folder(), 'notes')
    const refused = await run('init', path, '--from', fileOf(document), ...args)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)])
    expect(() => readdirSync(path)).toThrow()
  })

  test('replaces no folder, and says what an id looks like', async () => {
    const path = writePack(folder())
    const there = await run('init', path, '--from', fileOf(NOTES))
    expect([there.code, there.stderr]).toEqual([2, expect.stringContaining('exists already')])
    const wrong = await run('init', join(folder(), 'My_Notes'), '--from', fileOf(NOTES))
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('lower-case letters')])
  })
})

describe('gatepass packs check', () => {
  test('runs the examples of a pack, and counts them', async () => {
    const path = writePack(packsFolder(), { tools: [TOOL, DELETE] })
    const { code, stdout } = await run('check', path)
    expect([code, stdout]).toEqual([0, expect.stringContaining('ok: 2 tools, 2 examples.')])
  })

  test('a pack that Gatepass ships has no fault', async () => {
    const { code, stdout } = await run('check', 'src/features/packs/library/gmail')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/ok: 20 tools, \d+ examples/)])
  })

  test.each<[string, object, string]>([
    ['a placeholder that is no input', { url: '/notes/{other}' }, 'other'],
    [
      'an input that the schema refuses',
      { examples: [{ input: { id: 5 }, answer: {} }] },
      'examples.0: input',
    ],
    [
      'an example without a member that the tool promises',
      { answer: { members: ['id', 'title'] } },
      'answer.members names title, which no example has',
    ],
    [
      'a schema that cannot be used',
      { input_schema: { type: 'object', properties: { id: { pattern: '(' } } } },
      'input_schema',
    ],
    ['a member that does not exist', { aproval: 'ask' }, 'did you mean approval?'],
  ])('names %s', async (_, tool, message) => {
    const path = writePack(packsFolder(), { tools: [{ ...TOOL, ...tool }] })
    const { code, stdout, stderr } = await run('check', path)
    expect([code, stderr]).toEqual([1, expect.stringContaining('1 fault in')])
    expect(stdout).toContain('notes/GetNote.json: ')
    expect(stdout).toContain(message)
  })

  test('says where tokens are not sent', async () => {
    const path = writePack(packsFolder(), { head: { base_url: 'https://notes.example' } })
    const { code, stdout } = await run('check', path)
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('tokens of google are not sent to notes.example'),
    ])
  })
})
