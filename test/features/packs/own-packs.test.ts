import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from '../../cli/gatepass.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { packsFolder, TOOL, writePack } from './pack-folders.ts'

// GATEPASS_PACKS: the packs that operators write themselves.

const folder = packsFolder()
const elsewhere = packsFolder()
let gatepass: Gatepass
let faults: Readonly<Record<string, string>>

beforeAll(async () => {
  writePack(folder)
  writePack(folder, { head: { id: 'gmail', namespace: 'OwnMail' } })
  writePack(folder, { head: { id: 'other-mail', namespace: 'gmail' } })
  writePack(folder, { head: { id: 'z-notes', namespace: 'NOTES' } })
  writePack(folder, { head: { id: 'wrong-head', namespace: 'A1', nmae: 'x' } })
  writePack(folder, { head: { id: 'renamed', namespace: 'A2' }, as: 'name' })
  writePack(folder, {
    head: { id: 'wrong-tools', namespace: 'A3' },
    tools: [
      { ...TOOL, aproval: 'ask' },
      { ...TOOL, name: 'ListNotes', approval: 'asks' },
    ],
  })
  const broken = writePack(folder, { head: { id: 'broken', namespace: 'A4' } })
  writeFileSync(join(broken, 'GetNote.json'), '{\n  "name": secret\n}')
  const large = writePack(folder, { head: { id: 'large', namespace: 'A5' } })
  writeFileSync(join(large, 'GetNote.json'), JSON.stringify({ ...TOOL, description: 'x'.repeat(300_000) }))
  const many = writePack(folder, { head: { id: 'many', namespace: 'A6' } })
  for (let i = 0; i < 201; i++) writeFileSync(join(many, `Tool${i}.json`), '{}')
  mkdirSync(join(folder, 'empty'))
  // what lies outside the folder
  const outside = writePack(elsewhere, { head: { id: 'linked', namespace: 'A7' } })
  symlinkSync(outside, join(folder, 'linked'))
  const inside = writePack(folder, { head: { id: 'link-inside', namespace: 'A8' }, tools: [] })
  symlinkSync(join(outside, 'GetNote.json'), join(inside, 'GetNote.json'))
  const pipe = writePack(folder, { head: { id: 'pipe', namespace: 'A9' }, tools: [] })
  execFileSync('mkfifo', [join(pipe, 'GetNote.json')])
  // what is no pack
  writeFileSync(join(folder, 'README.md'), 'Our packs.')
  mkdirSync(join(folder, '.git'))
  gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder } })
  const { body } = await gatepass.call('GET', '/v1/packs?limit=1')
  faults = Object.fromEntries(
    body.faults.map((fault: { folder: string; message: string }) => [fault.folder, fault.message]),
  )
})
afterAll(async () => {
  await gatepass.close()
  for (const path of [folder, elsewhere]) rmSync(path, { recursive: true })
})

test('an own pack is listed beside those that Gatepass ships, and told apart', async () => {
  const { body } = await gatepass.call('GET', '/v1/packs?limit=100')
  const sources = body.items.filter(({ source }: { source: string }) => source === 'own')
  expect(sources).toMatchObject([
    { id: 'notes', compared: { description: 0, client: 0, nothing: 1 }, checked_count: 0 },
  ])
  expect(body.total_count).toBe(37)
  const { body: shipped } = await gatepass.call('GET', '/v1/packs/gmail')
  expect([shipped.source, shipped.worker.openapi.namespace]).toEqual(['gatepass', 'Gmail'])
})

test('an own pack is added as one that Gatepass ships', async () => {
  const { body } = await gatepass.call('GET', '/v1/packs/notes')
  expect(body.tools).toMatchObject([{ name: 'GetNote', scopes: ['notes.readonly'] }])
  expect((await gatepass.call('POST', '/v1/workers', body.worker)).status).toBe(201)
})

describe('what cannot be used is named and leaves the others alone', () => {
  test.each([
    ['the id of a shipped pack', 'gmail', 'id is "gmail", which a pack of Gatepass has'],
    ['the namespace of a shipped pack', 'other-mail', 'namespace is "gmail", which the pack gmail has'],
    ['the namespace of another own pack', 'z-notes', 'namespace is "NOTES", which the pack notes has'],
    ['another member', 'wrong-head', 'wrong-head/pack.json: nmae is not a known member: did you mean name?'],
    [
      'another id than the folder',
      'name',
      'name/pack.json: id is "renamed"; it must be the name of the folder',
    ],
    ['no JSON, without quoting it', 'broken', 'broken/GetNote.json is not JSON.'],
    ['a large file', 'large', 'large/GetNote.json is larger than 256 KiB.'],
    ['many files', 'many', 'many has more than 201 files'],
    ['no pack.json', 'empty', 'empty has no file pack.json.'],
    ['a symbolic link to a folder', 'linked', 'linked is a symbolic link, which is not followed.'],
    ['a symbolic link to a file', 'link-inside', 'link-inside/GetNote.json is a symbolic link'],
    ['a named pipe', 'pipe', 'pipe/GetNote.json is not a file.'],
  ])('%s', (_, name, message) => {
    expect(faults[name]).toContain(message)
  })

  test('every fault of every file', () => {
    expect(faults['wrong-tools']).toContain(
      'GetNote.json: aproval is not a known member: did you mean approval?',
    )
    expect(faults['wrong-tools']).toContain(
      'ListNotes.json: approval must be one of "none", "ask"; did you mean',
    )
  })

  test('nothing else is called a pack', () => {
    expect(Object.keys(faults)).toHaveLength(13)
  })

  test('by its own page too, and by the log at start', async () => {
    const { status, body } = await gatepass.call('GET', '/v1/packs/wrong-head')
    expect([status, body.message]).toEqual([404, expect.stringContaining('did you mean name?')])
    const logged = gatepass.logLines
      .map((line) => JSON.parse(line))
      .filter(({ pack }) => pack === 'wrong-head')
    expect(logged).toMatchObject([{ level: 'warn', faults: [expect.stringContaining('did you mean name?')] }])
  })

  test('by the commands, which work with the rest', async () => {
    const environment = { GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }
    const listed = await runHere(environment, 'packs')
    expect(listed.stdout).toMatch(/notes +1 +nothing 1 +own/)
    expect(listed.stdout).toMatch(/gmail +20 +description 20, client 9/)
    expect(listed.stdout).toContain('linked is a symbolic link, which is not followed.')
    const shown = await runHere(environment, 'packs', 'show', 'broken')
    expect([shown.code, shown.stderr]).toEqual([
      3,
      expect.stringContaining('broken/GetNote.json is not JSON'),
    ])
  })
})

test('doctor reads the folder again', async () => {
  const own = packsFolder()
  writePack(own, { head: { provider: 5 } })
  await using one = await startGatepass({ environment: { GATEPASS_PACKS: own } })
  const checks = async () => {
    const { body } = await one.call('GET', '/v1/admin/diagnosis')
    return body.checks.filter(({ name }: { name: string }) => name.startsWith('tool pack'))
  }
  expect(await checks()).toMatchObject([
    { name: 'tool pack notes', status: 'warning', message: 'notes/pack.json: provider must be text.' },
  ])
  rmSync(join(own, 'notes'), { recursive: true })
  writePack(own)
  expect(await checks()).toMatchObject([{ status: 'ok', message: 'own packs: notes' }])
})

test('a server has the packs that it found at its start, and each its own', async () => {
  const own = packsFolder()
  await using one = await startGatepass({ environment: { GATEPASS_PACKS: own } })
  await one.call('GET', '/v1/packs')
  cpSync(join(folder, 'notes'), join(own, 'notes'), { recursive: true })
  expect((await one.call('GET', '/v1/packs/notes')).status).toBe(404)
  await using other = await startGatepass({ environment: { GATEPASS_PACKS: own } })
  expect((await other.call('GET', '/v1/packs/notes')).status).toBe(200)
  await using without = await startGatepass()
  expect((await without.call('GET', '/v1/packs?limit=1')).body).toMatchObject({ total_count: 36, faults: [] })
})

test('a setting that names no folder stops the start', async () => {
  const start = startGatepass({ environment: { GATEPASS_PACKS: join(folder, 'README.md') } })
  await expect(start).rejects.toThrow(/GATEPASS_PACKS names .*README\.md, which is not a folder/)
})
