import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metadata, oauthEntry, startWorld, type World } from './world.ts'

// Imported tools: trying an import out, and taking one away again.

let world: World

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const imported = (body: unknown, query = '') => world.call('POST', `/v1/tools/import${query}`, body)
const remove = (name: string, key?: string) =>
  world.call('DELETE', `/v1/tools/${encodeURIComponent(name)}`, undefined, key === undefined ? {} : { key })
const exists = async (name: string) =>
  (await world.call('GET', `/v1/tools/${encodeURIComponent(name)}`)).status === 200
const trail = async () => (await world.call('GET', '/v1/admin/audit?limit=1000')).body.items

describe('a dry run', () => {
  test('answers what an import would, and writes nothing', async () => {
    const documents = [
      metadata('Dry One', { oauth: [oauthEntry('dry-provider', world.as)] }),
      metadata('Dry Two', { oauth: [oauthEntry('dry-provider', world.as)] }),
      metadata('Dry One', { oauth: [oauthEntry('dry-provider', world.as)] }),
      { no: 'tool' },
    ]
    const before = await trail()
    const dry = await imported(documents, '?dry_run=true')
    expect(dry.status).toBe(200)
    expect(dry.body.items.map(({ result }: { result: string }) => result)).toEqual([
      'created',
      'created',
      'unchanged',
      'refused',
    ])
    expect(dry.body.items[0].providers[0]).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      missing: [],
    })
    expect(await exists('Dry One')).toBe(false)
    expect((await world.call('GET', '/v1/admin/auth_providers')).body.items).toHaveLength(1)
    expect(await trail()).toEqual(before)

    const real = await imported(documents)
    const plain = (items: { providers: { redirect_uri?: string }[] }[]) =>
      items.map((item) => ({
        ...item,
        providers: item.providers.map(({ redirect_uri: _, ...rest }) => rest),
      }))
    expect(plain(real.body.items)).toEqual(plain(dry.body.items))
    const again = await imported(documents.slice(0, 1), '?dry_run=true')
    expect(again.body.items[0]).toMatchObject({
      result: 'unchanged',
      providers: [{ redirect_uri: real.body.items[0].providers[0].redirect_uri }],
    })
  })

  test('of what is refused is refused', async () => {
    expect(await imported({ name: 'package', scripts: {} }, '?dry_run=true')).toMatchObject({
      status: 422,
      body: { items: [{ result: 'refused' }] },
    })
  })

  test('is said by true or false alone', async () => {
    expect((await imported(metadata('x'), '?dry_run=yes')).status).toBe(400)
  })
})

describe('deleting a tool', () => {
  test.each([
    ['its id', (id: string) => id],
    ['its name', () => 'Goes Away'],
    ['Arcade’s spelling', () => 'local.Goes_Away@1.0.0'],
  ])('by %s', async (_, spelling) => {
    const { tool_id: id } = (await imported(metadata('Goes Away'))).body.items[0]
    expect((await remove(spelling(id))).status).toBe(204)
    expect(await exists('Goes Away')).toBe(false)
    expect(await remove(spelling(id))).toMatchObject({ status: 404, body: { name: 'not_found' } })
    expect(await trail()).toContainEqual(expect.objectContaining({ action: 'tool.deleted', tool: id }))
    expect((await world.call('POST', '/v1/tools/execute', { tool_name: id })).status).toBe(404)
  })

  test('of several versions takes one that says which', async () => {
    for (const version of ['1.0.0', '2.0.0']) await imported(metadata('Versioned', { version }))
    expect(await remove('Versioned')).toMatchObject({ status: 400, body: { name: 'ambiguous_tool' } })
    expect((await remove('local:Versioned:1.0.0')).status).toBe(204)
    expect(await exists('local:Versioned:2.0.0')).toBe(true)
    expect((await remove('Versioned')).status).toBe(204)
  })

  test('without a version takes its id, also when another version is there', async () => {
    for (const version of ['', '1.0.0']) await imported(metadata('Once Plain', { version }))
    expect(await remove('Once Plain')).toMatchObject({ status: 400, body: { name: 'ambiguous_tool' } })
    expect((await remove('local:Once_Plain')).status).toBe(204)
    expect(await exists('local:Once_Plain:1.0.0')).toBe(true)
    expect((await remove('local:Once_Plain')).status).toBe(204)
  })

  test('leaves the provider with its connections', async () => {
    await imported(metadata('With Provider', { oauth: [oauthEntry('stays', world.as)] }))
    await remove('With Provider')
    const { body } = await world.call('GET', '/v1/admin/auth_providers')
    expect(body.items.map(({ id }: { id: string }) => id)).toContain('stays')
  })

  test('of a worker is refused: the worker would bring it again', async () => {
    const answer = await remove('Demo.Echo')
    expect([answer.status, answer.body.name]).toEqual([400, 'invalid_request'])
    expect(await exists('Demo.Echo')).toBe(true)
  })

  test('of another project answers like one that does not exist', async () => {
    await imported(metadata('Of Ours'))
    const key = await world.gatepass.makeKey('admin', 'elsewhere')
    expect((await remove('Of Ours', key)).status).toBe(404)
    expect(await exists('Of Ours')).toBe(true)
  })
})
