import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere, runHereReading } from '../../cli/gatepass.ts'
import { addProvider, type Scene, startScene } from '../../flows/fixtures.ts'
import { answerJson, listen } from '../../loopback.ts'
import { MASTER_KEY } from '../../served.ts'

// `gatepass connections import` and `export`, from one Gatepass to another that has the same client.

const folder = mkdtempSync(join(tmpdir(), 'gatepass-move-'))
let from: Scene
let to: Scene
beforeAll(async () => {
  from = await startScene()
  to = await startScene({ oauth2: false })
  await addProvider(to.gatepass, from.as)
})
afterAll(async () => {
  await from[Symbol.asyncDispose]()
  await to[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const settings = ({ gatepass }: Scene) => ({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey })
const database = ({ gatepass }: Scene) => ({
  GATEPASS_DATABASE_URL: `file:${gatepass.databasePath}`,
  GATEPASS_MASTER_KEY: MASTER_KEY,
})

async function importFile(path: string, ...more: readonly string[]) {
  const run = await runHere(settings(to), 'connections', 'import', path, '--json', ...more)
  return { ...run, json: run.stdout === '' ? undefined : JSON.parse(run.stdout) }
}

const usersOf = async (scene: Scene) =>
  (await scene.call('GET', '/v1/connections?limit=100')).body.items.map(
    (one: { user_id: string }) => one.user_id,
  )

describe('our own export', () => {
  const key = join(folder, 'export.key')
  const path = join(folder, 'all.gatepass')
  beforeAll(async () => {
    writeFileSync(key, Buffer.alloc(32, 7).toString('base64'))
    for (const user_id of ['ada', 'bob']) await from.connect({ user_id })
  })

  test('moves connections whole: fetched and refreshed at the other side', async () => {
    const out = await runHere(
      database(from),
      'connections',
      'export',
      '--to',
      path,
      '--key-file',
      key,
      '--json',
    )
    expect(out).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(out.stdout)).toEqual({ path, written: 2, left_out: 0 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const token = (await from.authorize({ user_id: 'ada' })).body.context.token
    expect(readFileSync(path, 'utf8')).not.toContain(token)

    const { code, json } = await importFile(path, '--key-file', key)
    expect({ code, counts: json.counts }).toMatchObject({
      code: 0,
      counts: { rows: 2, created: 2, refused: 0 },
    })
    expect((await to.authorize({ user_id: 'ada' })).body).toMatchObject({
      status: 'completed',
      context: { token },
    })
    const afterBlankLine = file('blank-line.gatepass', `\n${readFileSync(path, 'utf8')}`)
    for (const again of [path, afterBlankLine])
      expect((await importFile(again, '--key-file', key)).json.counts).toMatchObject({
        created: 0,
        present: 2,
      })
    const checked = await importFile(path, '--key-file', key, '--replace', '--check')
    expect(checked.json.counts).toMatchObject({ replaced: 2, checked: 2 })
    const trail = await from.call('GET', '/v1/admin/audit?action=connections.exported')
    expect(trail.body.items).toMatchObject([{ actor: { kind: 'cli' } }])
  })

  test('is not opened by another key, and rows that were changed, moved or cut off are noticed', async () => {
    const other = file('other.key', Buffer.alloc(32, 8).toString('base64'))
    expect(await importFile(path, '--key-file', other)).toMatchObject({ code: 2 })
    const [head = '', one = '', two = '', end = ''] = readFileSync(path, 'utf8').split('\n')
    const changed = (name: string, ...lines: readonly string[]) =>
      importFile(file(name, `${lines.join('\n')}\n`), '--key-file', key)
    expect((await changed('moved', head, two, one, end)).stderr).toMatch(/Line 2: it has been changed/)
    expect((await changed('left-out', head, two, end)).stderr).toMatch(/Line 2/)
    expect((await changed('cut', head, one, two)).stderr).toMatch(/end of the file is missing/)
    expect(
      (
        await changed(
          'bits',
          head,
          // not the last character, some of whose bits are padding
          one.replace(/.(?=.{9}$)/, (character) => (character === 'A' ? 'B' : 'A')),
          two,
          end,
        )
      ).code,
    ).toBe(2)
  })

  test('never replaces a file, and nothing is left of one that failed', async () => {
    const again = await runHere(database(from), 'connections', 'export', '--to', path, '--key-file', key)
    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/already exists/) })
    // nothing was exported, and so nothing is recorded
    expect((await from.call('GET', '/v1/admin/audit?action=connections.exported')).body.items).toHaveLength(1)
  })

  test.each([
    ['', 'is empty'],
    ['eleven char', 'fewer than 12 characters'],
  ])('is not sealed with the passphrase "%s"', async (typed, reason) => {
    const to = join(folder, 'short.gatepass')
    const refused = await runHereReading(`${typed}\n`, database(from), ['connections', 'export', '--to', to])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) })
    expect(readdirSync(folder)).not.toContain('short.gatepass')
  })

  test('is not hindered by what a killed export left behind', async () => {
    const to = join(folder, 'next.gatepass')
    file(`next.gatepass.${process.pid}-${randomUUID()}.partial`, 'the beginning of an export\n')
    const next = await runHere(database(from), 'connections', 'export', '--to', to, '--key-file', key)
    expect(next).toMatchObject({ code: 0 })
    expect(readdirSync(folder).filter((name) => name.startsWith('next'))).toEqual(['next.gatepass'])
  })
})

describe('files of others', () => {
  test('Nango’s answers: the end user, the scopes of the token response, and another name of the provider', async () => {
    const answer = (connection_id: string, more: object = {}) => ({
      id: 1,
      connection_id,
      provider_config_key: 'demo-of-nango',
      provider: 'demo',
      end_user: null,
      metadata: null,
      connection_config: {},
      credentials: {
        type: 'OAUTH2',
        access_token: `access-of-${connection_id}`,
        refresh_token: 'r',
        expires_at: '2099-01-01T00:00:00.000Z',
        raw: { scope: 'read write', access_token: 'x' },
      },
      ...more,
    })
    const lines = [
      answer('n1'),
      answer('n2', { end_user: { id: 'grace', email: null } }),
      answer('n3', { credentials: { type: 'API_KEY', apiKey: 'secret-api-key' } }),
    ]
    const path = file('nango.jsonl', lines.map((one) => JSON.stringify(one)).join('\n'))
    const { code, stdout, stderr, json } = await importFile(path, '--provider', 'demo-of-nango=demo')
    expect(json).toMatchObject({
      format: 'nango',
      counts: { rows: 3, created: 2, refused: 1 },
      items: [{ line: 1 }, { line: 2 }, { line: 3, member: 'credentials.type' }],
    })
    expect(code).toBe(1)
    expect(stdout + stderr).not.toContain('secret-api-key')
    const { items } = (await to.call('GET', '/v1/connections?user_id=grace')).body
    expect(items).toMatchObject([{ scopes: ['read', 'write'], provider_id: 'demo' }])
    expect(await usersOf(to)).toContain('n1')
    const array = file('nango.json', JSON.stringify({ connections: lines.slice(0, 2) }))
    expect((await importFile(array, '--provider', 'demo-of-nango=demo')).json.counts).toMatchObject({
      present: 2,
    })
  })

  test('CSV with quotes, and a report of refused rows by their lines', async () => {
    const csv = [
      'user_id,provider_id,Access Token,scopes,account',
      'csv-1,demo,token-1,"read, write",one@example.test',
      '"csv ""2""",demo,token-2,,"two',
      'lines"',
      '',
      'csv-3,demo,"token\u00003",,',
      'csv-4,demo',
    ].join('\r\n')
    const { code, json } = await importFile(file('users.csv', csv))
    expect(code).toBe(1)
    expect(json.items).toMatchObject([
      { line: 2, result: 'created' },
      { line: 3, result: 'refused', member: 'account.name' },
      { line: 6, result: 'refused', member: 'access_token' },
      { line: 7, result: 'refused', reason: expect.stringMatching(/2 cells instead of 5/) },
    ])
    expect((await to.call('GET', '/v1/connections?user_id=csv-1')).body.items).toMatchObject([
      { scopes: ['read', 'write'], account: { id: '', name: 'one@example.test' } },
    ])
  })

  test('an object alone is one row, also on several lines', async () => {
    const row = { user_id: 'alone', provider_id: 'demo', access_token: 't' }
    const { code, json } = await importFile(file('alone.json', JSON.stringify(row, undefined, 2)))
    expect(code).toBe(0)
    expect(json).toMatchObject({ format: 'json', items: [{ line: 1, result: 'created' }] })
  })

  test('more than the API takes at once is sent in several requests', async () => {
    const token = 't'.repeat(16_000)
    const row = { provider_id: 'demo', access_token: token, refresh_token: token }
    const rows = Array.from({ length: 300 }, (_, index) =>
      JSON.stringify({ ...row, user_id: `large-${index}` }),
    )
    const { code, json } = await importFile(file('large.jsonl', rows.join('\n')))
    expect({ code, counts: json?.counts }).toMatchObject({ code: 0, counts: { created: 300 } })
  })

  test('a check that the provider did not make possible is listed with its reason', async () => {
    const entry = '/v1/admin/auth_providers/demo'
    await to.call('PATCH', entry, { oauth2: { client_secret: 'a wrong one' } })
    const row = { user_id: 'unchecked', provider_id: 'demo', access_token: 't', refresh_token: 'r' }
    const path = file('unchecked.json', JSON.stringify(row))
    const { code, stdout } = await runHere(settings(to), 'connections', 'import', path, '--check')
    await to.call('PATCH', entry, { oauth2: { client_secret: from.as.clientSecret } })
    expect(stdout).toMatch(/invalid_client/)
    expect(stdout).toMatch(/0 refused by their provider, 1 could not be checked now/)
    expect(code).toBe(0)
  })

  test('a CSV whose end cannot be read is refused as a whole', async () => {
    const row = 'unread,demo,token,'
    const lines = ['user_id,provider_id,access_token,scopes', ...Array(501).fill(row), 'u,demo,t,"read']
    const { code, stdout, stderr } = await importFile(file('unread.csv', lines.join('\n')))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Line 503 of the file is not valid CSV/)
    expect(await usersOf(to)).not.toContain('unread')
  })

  test('a CSV without a heading is refused without quoting it', async () => {
    const { code, stdout, stderr } = await importFile(file('bare.csv', 'ada,demo,ya29.a-token\n'))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/column 1 has an unknown name/)
    expect(stderr).not.toContain('ya29')
  })

  test('a CSV that has a column twice is refused', async () => {
    const csv = 'user_id,provider_id,User Id,access_token\nada,demo,bob,t\n'
    const { code, stdout, stderr } = await importFile(file('twice.csv', csv))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/column user_id twice: column 3/)
  })

  test('says how many rows are stored when the server fails in between', async () => {
    let imports = 0
    await using server = await listen(async (req, res) => {
      if (req.method === 'GET')
        return answerJson(res, 200, { items: [], offset: 0, limit: 100, total_count: 0 })
      imports += 1
      if (imports > 1)
        return answerJson(res, 503, { name: 'store_unavailable', message: 'The database is away.' })
      const items = Array.from({ length: 500 }, (_, index) => ({ index, result: 'created' }))
      answerJson(res, 200, { items })
    })
    const row = JSON.stringify({ user_id: 'u', provider_id: 'demo', access_token: 't' })
    const path = file('outage.jsonl', Array(700).fill(row).join('\n'))
    const key = { GATEPASS_URL: server.url, GATEPASS_API_KEY: 'gp_key' }
    const { code, stderr } = await runHere(key, 'connections', 'import', path, '--json')
    expect(code).toBe(6)
    expect(stderr).toMatch(/The database is away\. Of the 500 rows before it, 500 are stored\./)
  })

  test('text for people, with the number of rows', async () => {
    const path = file(
      'rows.jsonl',
      JSON.stringify({ user_id: 'text', provider_id: 'demo', access_token: 't' }),
    )
    const { code, stdout, stderr } = await runHere(settings(to), 'connections', 'import', path)
    expect(code).toBe(0)
    expect(stdout).toMatch(/1 row.* \(json\): 1 created, 0 replaced, 0 already there, 0 refused/)
    expect(stderr).toMatch(/1 row, \d+ a second/)
  })
})
