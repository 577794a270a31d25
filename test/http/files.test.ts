import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testClock } from '../gatepass.ts'
import { type Loopback, listen, type RecordedRequest, record } from '../loopback.ts'
import { connect, ERAS } from '../mcp/clients.ts'
import { startWorld, type World } from './world.ts'

// Answers of described requests that are files (docs/guides/http-tools.md, "Files"), and redirects to where they lie.

const clock = testClock()
let world: World
let api: Loopback
let storage: Loopback
let calls: RecordedRequest[] = []
let elsewhere: RecordedRequest[] = []
type Reply = { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
let reply: Reply = {}
let stored: Reply = {}

async function serve(replyOf: () => Reply, note: (request: RecordedRequest) => void) {
  return listen(async (req, res) => {
    note(await record(req))
    const { status = 200, headers = {}, body = '' } = replyOf()
    res.writeHead(status, headers).end(body)
  })
}

beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development', now: clock } })
  api = await serve(
    () => reply,
    (request) => calls.push(request),
  )
  storage = await serve(
    () => stored,
    (request) => elsewhere.push(request),
  )
  const hosts = [new URL(api.url).host]
  await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts } } })
  await world.connect('ada')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await api.close()
  await storage.close()
})
beforeEach(() => {
  calls = []
  elsewhere = []
})

async function tokenOfAda(): Promise<string> {
  const auth_requirement = { id: 'demo', provider_type: 'oauth2', oauth2: { scopes: ['read'] } }
  return (await world.call('POST', '/v1/auth/authorize', { auth_requirement, user_id: 'ada' })).body.context
    .token
}

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let workers = 0
async function register(request: object): Promise<string> {
  const id = `files${++workers}`
  const one = { name: 'Get', description: 'Reads it.', method: 'GET', url: `${api.url}/file`, ...request }
  const input_schema = { type: 'object', additionalProperties: true }
  const requests = [{ input_schema, authorization: { id: 'demo', scopes: ['read'] }, ...one }]
  const { status, body } = await world.call('POST', '/v1/workers', {
    id,
    pinning: 'record',
    openapi: { requests },
  })
  if (status !== 201) throw new Error(body.message)
  return id
}

const run = async (id: string, input: object = {}, user_id = 'ada') =>
  (await world.execute(`${id}.Get`, { input, user_id })).body.output
const png = { headers: { 'content-type': 'image/png' }, body: PNG }
const fetchFile = (url: string, key = world.gatepass.apiKey) =>
  fetch(`${world.gatepass.url}${new URL(url).pathname}`, { headers: { authorization: `Bearer ${key}` } })

describe('an answer that is a file', () => {
  test('is kept, and answered by a reference, with its name, type, size and end', async () => {
    const id = await register({ answer: { file: { name: ['{path}'] } } })
    reply = png
    const { artifact } = await run(id, { path: '/pictures/dot.png' })
    expect(artifact).toEqual({
      url: expect.stringMatching(/\/v1\/files\/file_[0-9a-f]{32}$/),
      name: 'dot.png',
      content_type: 'image/png',
      size: PNG.length,
      expires_at: new Date((clock() + 3600) * 1000).toISOString(),
      meta: { description: 'dot.png' },
    })
    const file = await fetchFile(artifact.url)
    expect([file.status, Buffer.from(await file.arrayBuffer())]).toEqual([200, PNG])
  })

  test('never runs in a page of Gatepass, by whichever type', async () => {
    const id = await register({ answer: { file: { name: ['{path}'] } } })
    reply = { headers: { 'content-type': 'image/svg+xml' }, body: '<svg><script>1</script></svg>' }
    const { artifact } = await run(id, { path: 'a/"\r\nx:\u202e.svg' })
    const { headers } = await fetchFile(artifact.url)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-disposition': "attachment; filename*=UTF-8''x%3A.svg",
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
  })

  test('is fetched by the key that ran the tool alone, and by its user', async () => {
    const id = await register({ answer: { file: {} } })
    reply = png
    const { artifact } = await run(id)
    const other = await world.call('POST', '/v1/admin/keys', { name: 'other', role: 'admin' })
    expect((await fetchFile(artifact.url, other.body.key)).status).toBe(404)
    expect((await fetch(artifact.url)).status).toBe(401)
    const ofBob = { name: 'bob', role: 'caller', user_id: 'bob' }
    const { body } = await world.call('POST', '/v1/admin/keys', ofBob)
    expect((await fetchFile(artifact.url, body.key)).status).toBe(404)
  })

  test('is gone after an hour, and with the data of its user', async () => {
    const id = await register({ answer: { file: {} } })
    reply = png
    const first = await run(id)
    clock.advance(3599)
    expect((await fetchFile(first.artifact.url)).status).toBe(200)
    clock.advance(1)
    expect((await fetchFile(first.artifact.url)).status).toBe(404)
    const second = await run(id)
    expect((await fetchFile(second.artifact.url)).status).toBe(200)
    await world.gatepass.broker.store.storedFiles.forgetUser({
      projectId: (await world.gatepass.broker.store.projects.findByName('default'))?.id ?? '',
      userId: 'ada',
    })
    expect((await fetchFile(second.artifact.url)).status).toBe(404)
  })

  test('is a text where it is one, also where the API does not say so', async () => {
    const id = await register({ answer: { file: {}, long_texts: { limit: 100, from: 'text_from' } } })
    for (const type of ['text/csv', 'application/json', 'application/octet-stream', undefined]) {
      reply = { body: '{"a": 1}', headers: type === undefined ? {} : { 'content-type': type } }
      expect([type, await run(id)]).toEqual([type, { value: '{"a": 1}' }])
    }
    reply = { body: 'x'.repeat(150), headers: { 'content-type': 'text/plain' } }
    expect((await run(id)).value).toContain('50 more of 150 characters')
    reply = { body: new Uint8Array([0x61, 0, 0x62]), headers: { 'content-type': 'text/plain' } }
    expect(await run(id)).toMatchObject({ artifact: { size: 3 } })
  })

  test('is refused where it is too large', async () => {
    const id = await register({ answer: { file: {} } })
    reply = { headers: { 'content-type': 'application/pdf' }, body: new Uint8Array(4 * 1024 * 1024 + 1) }
    expect((await run(id)).error.message).toBe(
      'The file has 4194305 bytes; a tool may answer one of at most 4194304.',
    )
    reply = { headers: { 'content-type': 'application/pdf' }, body: new Uint8Array(4 * 1024 * 1024) }
    const { artifact } = await run(id)
    expect((await (await fetchFile(artifact.url)).arrayBuffer()).byteLength).toBe(artifact.size)
  })

  test('is no file where the API refuses the request', async () => {
    const id = await register({ answer: { file: {} } })
    reply = { status: 404, headers: { 'content-type': 'application/json' }, body: '{"message": "gone"}' }
    expect((await run(id)).error.message).toBe('The API answered 404: gone.')
  })
})

describe('a member that is a file in base64', () => {
  const file = { at: 'files[0].data', name: ['files[0].name'], content_type: ['files[0].type'] }
  const answered = (data: string, more: object = {}) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, files: [{ data, name: 'dot.png', ...more }] }),
  })

  test('becomes a reference, or its text', async () => {
    const id = await register({ answer: { file, members: ['files[].name', 'files[].data'] } })
    reply = answered(PNG.toString('base64url'))
    const { value } = await run(id)
    expect(value).toEqual({
      files: [{ name: 'dot.png', data: expect.objectContaining({ content_type: 'image/png', size: 70 }) }],
    })
    const fetched = await fetchFile(value.files[0].data.url)
    expect(Buffer.from(await fetched.arrayBuffer())).toEqual(PNG)
    reply = answered(PNG.toString('base64'), { type: 'image/x-dot' })
    expect((await run(id)).value.files[0].data.content_type).toBe('image/x-dot')
    reply = answered(Buffer.from(`a text with ${await tokenOfAda()}`).toString('base64'))
    expect((await run(id)).value.files[0].data).toBe('a text with [redacted]')
    reply = answered('')
    expect((await run(id)).value.files[0].data).toBe('')
  })

  test('may have 4 MiB, and is read in a thread', async () => {
    const id = await register({ answer: { file } })
    const large = Buffer.alloc(4 * 1024 * 1024, 0xff)
    reply = answered(large.toString('base64'))
    const { value } = await run(id)
    expect(Buffer.from(await (await fetchFile(value.files[0].data.url)).arrayBuffer()).equals(large)).toBe(
      true,
    )
  })
})

describe.each(ERAS)('over MCP, $version', ({ era }) => {
  test('a file is a resource link, which the same client reads', async () => {
    const whole = await register({ answer: { file: { name: ['{path}'] } }, name: 'Whole' })
    const member = await register({ answer: { file: { at: 'data' } }, name: 'Member' })
    await using connected = await connect(world.gatepass, { era, user: 'ada' })
    await using other = await connect(world.gatepass, { era, user: 'bob' })
    const { client } = connected
    const link = (name: string) => ({ type: 'resource_link', name, mimeType: 'image/png', size: PNG.length })
    const linkedBy = async (name: string, args: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: args })
      return (content as { type: string; uri: string }[]).at(-1)
    }
    reply = png
    const first = await linkedBy(`${whole}_Whole`, { path: 'dot.png' })
    expect(first).toMatchObject(link('dot.png'))
    const { contents } = await client.readResource({ uri: first?.uri ?? '' })
    expect(contents).toEqual([{ uri: first?.uri, mimeType: 'image/png', blob: PNG.toString('base64') }])
    reply = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: Buffer.concat([PNG]).toString('base64') }),
    }
    const second = await linkedBy(`${member}_Member`, {})
    expect(second).toMatchObject({ type: 'resource_link', name: 'file', size: PNG.length })
    await expect(other.client.readResource({ uri: first?.uri ?? '' })).rejects.toThrow(/not found/i)
    await expect(client.readResource({ uri: 'https://example.com/x' })).rejects.toThrow(/not found/i)
    expect((await client.listResources()).resources).toEqual([])
  })
})

describe('a redirect', () => {
  const SIGNED = '/blob/1?sig=secret-signature&sp=r'
  const redirect = (to: string, status = 302) => ({ status, headers: { location: to } })

  test('is followed where the description says so, without the token', async () => {
    const id = await register({
      follow_redirects: true,
      answer: { file: {} },
      headers: { 'x-own': 'of ours' },
    })
    const token = await tokenOfAda()
    reply = redirect(`${storage.url}${SIGNED}`)
    stored = { ...png, headers: { ...png.headers, 'content-disposition': 'attachment; filename="a.png"' } }
    expect(await run(id)).toMatchObject({ artifact: { name: 'a.png', size: PNG.length } })
    expect(calls[0]?.headers.authorization).toBe(`Bearer ${token}`)
    const [{ headers, search, method } = { headers: {}, search: '', method: '' }] = elsewhere
    expect([method, search]).toEqual(['GET', '?sig=secret-signature&sp=r'])
    expect(Object.keys(headers).sort()).toEqual(
      expect.not.arrayContaining(['authorization', 'x-own', 'cookie', 'referer']),
    )
    expect(JSON.stringify(headers)).not.toContain(token)
  })

  test('is not followed elsewhere', async () => {
    const id = await register({ answer: { file: {} } })
    reply = redirect(`${storage.url}${SIGNED}`)
    expect((await run(id)).error.message).toBe('The worker of the tool answered with a redirect.')
    expect(elsewhere).toEqual([])
    const refused = await world.call('POST', '/v1/workers', {
      id: 'posts',
      openapi: {
        request: {
          ...{ name: 'Post', description: 'Posts.', method: 'POST', url: `${api.url}/x` },
          ...{ input_schema: { type: 'object' }, follow_redirects: true },
        },
      },
    })
    expect(JSON.stringify(refused.body)).toContain('request.follow_redirects is for GET alone')
  })

  test.each([
    ['to plain http', () => 'http://storage.example.com/blob'],
    ['to another scheme', () => 'file:///etc/passwd'],
    ['to nowhere', () => ''],
  ])('is not followed %s', async (_, target) => {
    const id = await register({ follow_redirects: true, answer: { file: {} } })
    reply = redirect(target())
    expect((await run(id)).error.message).toBe('The API answered with a redirect that is not followed.')
  })

  test('is followed twice at most', async () => {
    const id = await register({ follow_redirects: true, answer: { file: {} } })
    reply = redirect(`${storage.url}${SIGNED}`)
    stored = redirect('/again')
    expect((await run(id)).error.message).toBe('The API answered with a redirect that is not followed.')
    expect(elsewhere).toHaveLength(2)
  })

  test('shows nothing of its address, and a refusal there is none of the token', async () => {
    const id = await register({ follow_redirects: true, answer: { file: {} } })
    reply = redirect(`${storage.url}${SIGNED}`)
    stored = {
      status: 401,
      body: 'secret-signature does not match',
      headers: { 'content-type': 'text/plain' },
    }
    const { error } = await run(id)
    expect(error.message).toBe('The API sent the file to another address, which answered 401.')
    expect(calls).toHaveLength(1)
    reply = redirect('https://storage.invalid/blob?sig=secret-signature')
    const lost = await run(id)
    expect(lost.error.message).toBe(
      'The API sent the file to another address, from which it could not be read.',
    )
    const shown = JSON.stringify([error, lost]) + world.gatepass.logLines.join('\n')
    expect(shown).not.toContain('secret-signature')
    expect(shown).not.toContain('storage.invalid')
  })
})
