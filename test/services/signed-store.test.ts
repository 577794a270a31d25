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
