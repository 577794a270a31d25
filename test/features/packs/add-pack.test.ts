import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { DELETE, HEAD, packsFolder, TOOL, writePack } from './pack-folders.ts'

// POST /v1/packs and POST /v1/packs/{id}/update.

let folder: string
let gatepass: Gatepass
const call: Gatepass['call'] = (...request) => gatepass.call(...request)
const statuses = async () => ({
  policy: (await call('GET', '/v1/admin/policies/notes-approvals')).status,
  provider: (await call('GET', '/v1/admin/auth_providers/google')).status,
  toolset: (await call('GET', '/v1/toolsets/notes')).status,
  worker: (await call('GET', '/v1/workers/notes')).status,
})
const NOTHING = { policy: 404, provider: 404, toolset: 404, worker: 404 }
const group = { approvals: { group: 'support' } }

async function start(): Promise<void> {
  gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder } })
  await call('POST', '/v1/admin/keys', { role: 'approver', groups: ['support'] })
}

beforeEach(async () => {
  folder = packsFolder()
  writePack(folder, { tools: [TOOL, DELETE] })
  await start()
})
afterEach(async () => {
  await gatepass.close()
  rmSync(folder, { recursive: true })
})

describe('a pack is added', () => {
  test('with its policy, provider, toolset and worker, and says what is missing', async () => {
    const { status, body } = await call('POST', '/v1/packs', { id: 'notes', ...group })
    expect([status, body.made]).toEqual([
      201,
      ['policy notes-approvals', 'provider google', 'toolset notes', 'worker notes'],
    ])
    expect(body.tools).toMatchObject([
      { name: 'DeleteNote', scopes: ['notes'], approval: 'ask' },
      { name: 'GetNote', scopes: ['notes.readonly'] },
    ])
    expect(body.toolset.url).toBe(`${gatepass.url}/mcp/notes`)
    expect(body.providers).toMatchObject([
      {
        id: 'google',
        status: 'missing',
        missing: expect.arrayContaining(['client_id']),
        oauth2: { redirect_uri: expect.stringContaining(`${gatepass.url}/callback/`) },
      },
    ])
    expect(await statuses()).toEqual({ policy: 200, provider: 200, toolset: 200, worker: 200 })
    const { body: policy } = await call('GET', '/v1/admin/policies/notes-approvals')
    expect(policy).toMatchObject({
      effect: 'approve',
      match: { tools: ['Notes:DeleteNote'] },
      approve: { by: { group: 'support' } },
    })
  })

  test('with tools for reading alone, which need no policy', async () => {
    const { body } = await call('POST', '/v1/packs', { id: 'notes', read_only: true })
    expect([body.scopes, body.policy]).toEqual([['notes.readonly'], undefined])
    expect((await statuses()).policy).toBe(404)
    expect((await call('GET', '/v1/toolsets/notes')).body.tool_count).toBe(1)
  })

  test('with the provider entry that is there', async () => {
    await call('POST', '/v1/admin/auth_providers', { id: 'other', provider_id: 'google' })
    await call('POST', '/v1/admin/auth_providers', { id: 'mine', provider_id: 'google' })
    const { body } = await call('POST', '/v1/packs', { id: 'notes', provider_id: 'mine', ...group })
    expect(body.providers.map(({ id }: { id: string }) => id)).toEqual(['mine'])
    const { body: worker } = await call('GET', '/v1/workers/notes')
    expect(worker.openapi.requests[0].authorization).toMatchObject([{ id: 'mine' }])
    await call('POST', '/v1/packs/notes/update')
    const { body: updated } = await call('GET', '/v1/workers/notes')
    expect(updated.openapi.requests[0].authorization).toMatchObject([{ id: 'mine' }])
  })

  test('once by one idempotency key', async () => {
    const send = () =>
      call('POST', '/v1/packs', { id: 'notes', ...group }, { headers: { 'idempotency-key': 'k1' } })
    expect((await send()).body).toEqual((await send()).body)
  })
})

describe('nothing is left half', () => {
  test('where nobody could approve', async () => {
    const { status, body } = await call('POST', '/v1/packs', { id: 'notes' })
    expect([status, body.message]).toEqual([400, expect.stringMatching(/approvals.*Nothing was added/s)])
    expect(body.errors[0].path).toBe('approvals')
    expect(await statuses()).toEqual(NOTHING)
  })

  test('where the provider needs a value that was not given', async () => {
    writePack(folder, { head: { id: 'desk', namespace: 'Desk', provider: 'zendesk' }, tools: [DELETE] })
    await gatepass.close()
    await start()
    const { status, body } = await call('POST', '/v1/packs', { id: 'desk', ...group })
    expect([status, body.errors[0].path]).toEqual([400, 'oauth2.variables.subdomain.value'])
    expect((await call('GET', '/v1/admin/policies/desk-approvals')).status).toBe(404)
  })

  test('where the tools cannot be read', async () => {
    const tool = { ...TOOL, url: '/notes/{other}' }
    writePack(folder, { head: { id: 'faulty', namespace: 'Faulty' }, tools: [tool, DELETE] })
    await gatepass.close()
    await start()
    const { status } = await call('POST', '/v1/packs', { id: 'faulty', ...group })
    expect(status).toBe(400)
    const paths = [
      'admin/policies/faulty-approvals',
      'admin/auth_providers/google',
      'toolsets/faulty',
      'workers/faulty',
    ]
    for (const path of paths) expect([path, (await call('GET', `/v1/${path}`)).status]).toEqual([path, 404])
  })

  test.each([
    ['an unknown pack', { id: 'nots' }, 404, '"notes"'],
    ['an unknown tool', { id: 'notes', tools: ['GetNot'] }, 400, '"GetNote"'],
    ['no tool', { id: 'notes', read_only: true, tools: ['DeleteNote'] }, 400, 'No tool of the pack'],
    ['an unknown member', { id: 'notes', readonly: true }, 400, 'read_only'],
    ['an unknown provider entry', { id: 'notes', approvals: false, provider_id: 'none' }, 404, 'none'],
  ])('by %s', async (_, body, status, message) => {
    const refused = await call('POST', '/v1/packs', body)
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining(message)])
    expect(await statuses()).toEqual(NOTHING)
  })

  test('and a repeat completes what a crash left', async () => {
    await call('POST', '/v1/packs', { id: 'notes', ...group })
    await call('DELETE', '/v1/workers/notes')
    const { status, body } = await call('POST', '/v1/packs', { id: 'notes', ...group })
    expect([status, body.made]).toEqual([201, ['worker notes']])
    const again = await call('POST', '/v1/packs', { id: 'notes', ...group })
    expect([again.status, again.body.name]).toEqual([409, 'already_exists'])
  })

  test('and a policy that does not ask as was wanted is not taken for one that does', async () => {
    await call('POST', '/v1/packs', { id: 'notes', ...group })
    await call('DELETE', '/v1/workers/notes')
    for (const change of [{ enabled: false }, { enabled: true, match: { tools: ['Notes:Other'] } }]) {
      await call('PATCH', '/v1/admin/policies/notes-approvals', change)
      const { status, body } = await call('POST', '/v1/packs', { id: 'notes', ...group })
      expect([status, body.name]).toEqual([409, 'already_exists'])
      expect((await call('GET', '/v1/workers/notes')).status).toBe(404)
    }
  })

  test('and only an administrator adds and updates', async () => {
    for (const role of ['readonly', 'caller'] as const) {
      const key = await gatepass.makeKey(role)
      expect((await call('POST', '/v1/packs', { id: 'notes', approvals: false }, { key })).status).toBe(403)
      expect((await call('POST', '/v1/packs/notes/update', {}, { key })).status).toBe(403)
    }
    expect(await statuses()).toEqual(NOTHING)
  })
})

describe('a pack is updated', () => {
  async function changed(): Promise<void> {
    await call('POST', '/v1/packs', { id: 'notes', ...group })
    const write = (tool: typeof TOOL) =>
      writeFileSync(join(folder, 'notes', `${tool.name}.json`), JSON.stringify(tool))
    writeFileSync(join(folder, 'notes', 'pack.json'), JSON.stringify({ ...HEAD, version: '1.1.0' }))
    write({ ...TOOL, url: '/v2/notes/{id}', scopes: ['notes.read'] })
    write({ ...TOOL, name: 'ListNotes', url: '/notes' })
    rmSync(join(folder, 'notes', 'DeleteNote.json'))
    const { databasePath } = gatepass
    await gatepass.close()
    gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder }, databasePath })
  }

  test('to its present definitions, with what differs; a dry run changes nothing', async () => {
    // the database outlives its first server
    const kept = packsFolder()
    const databasePath = join(kept, 'gatepass.db')
    await gatepass.close()
    gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder }, databasePath })
    await call('POST', '/v1/admin/keys', { role: 'approver', groups: ['support'] })
    await changed()
    const diff = {
      version: '1.1.0',
      unchanged: 0,
      changed: [
        {
          name: 'GetNote',
          members: [
            { at: '/url', before: `${HEAD.base_url}/notes/{id}`, after: `${HEAD.base_url}/v2/notes/{id}` },
            { at: '/authorization', before: expect.anything(), after: expect.anything() },
          ],
        },
      ],
      gone: ['DeleteNote'],
      new: ['ListNotes'],
    }
    const dry = await call('POST', '/v1/packs/notes/update', { dry_run: true })
    expect(dry.body).toMatchObject({ dry_run: true, ...diff })
    expect((await call('GET', '/v1/workers/notes/tools')).body.total_count).toBe(2)
    const { body } = await call('POST', '/v1/packs/notes/update')
    expect(body).toMatchObject({ dry_run: false, ...diff })
    const { body: worker } = await call('GET', '/v1/workers/notes')
    expect(worker.openapi.requests.map(({ name }: { name: string }) => name)).toEqual(['GetNote'])
    expect((await call('POST', '/v1/packs/notes/update')).body).toMatchObject({
      unchanged: 1,
      changed: [],
      gone: [],
    })
    rmSync(kept, { recursive: true })
  })

  test('and its policy asks about tools, too, that ask since then', async () => {
    const kept = packsFolder()
    const databasePath = join(kept, 'gatepass.db')
    await gatepass.close()
    gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder }, databasePath })
    await call('POST', '/v1/admin/keys', { role: 'approver', groups: ['support'] })
    await call('POST', '/v1/packs', { id: 'notes', ...group })
    const asks = JSON.stringify({ ...TOOL, approval: 'ask' })
    writeFileSync(join(folder, 'notes', `${TOOL.name}.json`), asks)
    await gatepass.close()
    gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder }, databasePath })
    const asking = async () => (await call('GET', '/v1/admin/policies/notes-approvals')).body.match.tools
    expect(await asking()).toEqual(['Notes:DeleteNote'])
    await call('POST', '/v1/packs/notes/update', { dry_run: true })
    expect(await asking()).toEqual(['Notes:DeleteNote'])
    expect((await call('POST', '/v1/packs/notes/update')).status).toBe(200)
    expect(await asking()).toEqual(['Notes:DeleteNote', 'Notes:GetNote'])
    await call('DELETE', '/v1/admin/policies/notes-approvals')
    expect((await call('POST', '/v1/packs/notes/update')).status).toBe(200)
    expect((await call('GET', '/v1/admin/policies/notes-approvals')).status).toBe(404)
    rmSync(kept, { recursive: true })
  })

  test('only where its tools were added from it', async () => {
    expect((await call('POST', '/v1/packs/notes/update')).status).toBe(404)
    await call('POST', '/v1/workers', {
      id: 'notes',
      openapi: { namespace: 'Mine', request: { ...workerRequest, url: 'https://notes.googleapis.com/x' } },
    })
    const { status, body } = await call('POST', '/v1/packs/notes/update')
    expect([status, body.message]).toEqual([400, expect.stringContaining('was not added from the pack')])
  })
})

const workerRequest = { name: 'X', description: 'X.', input_schema: { type: 'object' } }
