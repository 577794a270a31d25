import { randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { signedStore } from '../../src/services/signed-store.ts'
import { createSigning } from '../../src/services/signing.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import { inProject, putTool, tool } from '../store/fixtures.ts'

test('the check of a tool parses neither its schema nor its document', async () => {
  const raw = openSqliteStore(':memory:')
  const { projectId } = await inProject(raw)
  const store = signedStore(
    raw,
    createSigning(randomBytes(32), () => {}),
  )
  const inputSchema = { type: 'object', description: 'a schema' }
  await putTool(store, tool({ projectId, inputSchema }))
  const parse = vi.spyOn(JSON, 'parse')
  const { rows } = await store.tools.page(projectId, '', 10)
  const texts = parse.mock.calls.map(([text]) => text)
  parse.mockRestore()
  expect(rows).toMatchObject([{ inputSchema }])
  expect(texts.filter((text) => text.includes('a schema') || text.includes('document'))).toEqual([])
  await raw.close()
})

test('a tool is genuine whatever its source has written into it', async () => {
  const raw = openSqliteStore(':memory:')
  const { projectId } = await inProject(raw)
  const altered = vi.fn()
  const store = signedStore(raw, createSigning(randomBytes(32), altered))
  const odd = JSON.parse('{"__proto__":1,"10":"a","2":"\\ud800","n":-0,"e":1e300,"u":"\\u0000\\u2028"}')
  const one = tool({
    projectId,
    namespace: '',
    title: 'Half a character: \ud83d',
    description: 'Half of \udc00 one\r\n',
    inputSchema: odd,
    annotations: { title: undefined, readOnlyHint: true } as never,
    meta: { odd, none: undefined },
    tags: [],
    source: { kind: 'metadata', document: { odd } },
  })
  const { version: _, ...versionless } = one
  await putTool(store, versionless)
  expect(await store.tools.list(projectId)).toHaveLength(1)
  expect(altered).not.toHaveBeenCalled()
  await raw.close()
})

test('a row that was signed before a member was added is genuine as long as it lacks the member', () => {
  type Note = Readonly<
    Record<'id' | 'projectId' | 'text', string> & { from?: string; until?: string; mac?: string }
  >
  const altered = vi.fn()
  const signing = createSigning(randomBytes(32), altered)
  const before = signing({ mac: { kind: 'notes', members: ({ id, text, from }: Note) => [id, text, from] } })
  const after = signing({
    mac: { kind: 'notes', members: ({ id, text, from, until }: Note) => [id, text, from, until] },
  })
  const old: Note = before.sign({ id: 'n1', projectId: 'default', text: 'hello' })
  expect(after.check(old)).toBe(old)
  expect(altered).not.toHaveBeenCalled()
  const now: Note = after.sign({ id: 'n1', projectId: 'default', text: 'hello', until: 'noon' })
  for (const forged of [
    { ...old, until: 'forged' },
    { ...old, from: 'forged' },
    { ...old, text: 'forged' },
    { ...now, until: undefined },
    { ...now, from: 'noon', until: undefined },
  ])
    expect(after.check(forged as Note)).toBeUndefined()
  expect(altered).toHaveBeenCalledTimes(5)
})
