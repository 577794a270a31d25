import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalizeTags } from '../../src/domain/tags.ts'
import { toolId } from '../../src/domain/tool.ts'
import { parseToolId } from '../../src/domain/tool-id.ts'
import { parseConstraint, parseVersion } from '../../src/domain/version.ts'
import { toolFaults } from '../../src/tools/catalogue/validate-tool.ts'
import { metadata, startWorld, type World } from '../http/world.ts'

describe('the id of a tool', () => {
  test.each<[upstream: string, tool: Parameters<typeof toolId>[0], id: string]>([
    ['TestTool_ToolID: name only', { namespace: '', name: 'echo' }, 'echo'],
    ['TestTool_ToolID: namespace', { namespace: 'ns', name: 'echo' }, 'ns:echo'],
    ['TestTool_ToolID: version', { namespace: 'ns', name: 'echo', version: '1.0.0' }, 'ns:echo:1.0.0'],
  ])('%s, there and back (TestParseToolID_RoundTrip)', (_, tool, id) => {
    expect(toolId(tool)).toBe(id)
    expect(parseToolId(id)).toEqual(tool)
  })

  test.each<[upstream: string, text: string, parts: object]>([
    ['TestParseToolIDWithVersion', 'ns:a:1.0.0', { namespace: 'ns', name: 'a', version: '1.0.0' }],
    ['characters are not looked at', ' ', { namespace: '', name: ' ' }],
    ['characters are not looked at', 'ns:a b', { namespace: 'ns', name: 'a b' }],
    ['nor is SemVer', 'ns:a:not-semver', { namespace: 'ns', name: 'a', version: 'not-semver' }],
  ])('%s: "%s"', (_, text, parts) => {
    expect(parseToolId(text)).toEqual(parts)
  })

  test.each(['', ':a', 'a:', 'a:b:', ':', 'a:b:c:d', ':::', 'a::c', ':a:1.0.0', '::'])(
    'TestParseToolID: "%s" is none',
    (text) => {
      expect(() => parseToolId(text)).toThrow(expect.objectContaining({ code: 'invalid_tool' }))
    },
  )
})

describe('what a tool must be', () => {
  const tool = { name: 'echo', namespace: 'ns', inputSchema: { type: 'object' } }

  test.each<[upstream: string, more: Partial<Parameters<typeof toolFaults>[0]>]>([
    ['NameRules: every character', { name: 'azAZ09_.-' }],
    ['NameRules: 128 bytes', { name: 'a'.repeat(128) }],
    ['no namespace', { namespace: '' }],
    ['a version', { version: '1.0.0-rc.1+build' }],
    ['a version with a v', { version: 'v1.0.0' }],
    ['tags', { tags: ['a', 'b-c'] }],
    ['an output schema', { outputSchema: { type: 'string' } }],
  ])('TestToolValidate: %s', async (_, more) => {
    expect(await toolFaults({ ...tool, ...more }, 'p')).toEqual([])
  })

  test.each<[upstream: string, more: Partial<Parameters<typeof toolFaults>[0]>, fault: string]>([
    ['empty name', { name: '' }, 'name of the tool is empty'],
    ['NameRules: 129 bytes', { name: 'a'.repeat(129) }, 'more than 128 bytes'],
    ['NameRules: bytes, not characters', { name: 'é'.repeat(65) }, 'more than 128 bytes'],
    ['NameRules: a space', { name: 'a b' }, 'not " ".'],
    ['InvalidCharsMultiple: each once', { name: 'a b/c d/ü' }, 'not " ", "/", "ü".'],
    ['characters of the namespace', { namespace: 'n:s' }, 'namespace of the tool may have'],
    ['characters of the version', { version: '1.0.0:x' }, 'version of the tool may have'],
    ['an empty version', { version: '' }, 'version of the tool must have'],
    ['a version without a namespace', { namespace: '', version: '1.0.0' }, 'needs a namespace'],
    ['no input schema', { inputSchema: undefined }, 'no input schema'],
    ['a schema that is none', { inputSchema: { minLength: 'x' } }, 'Its input schema cannot be used.'],
    [
      'a schema from elsewhere',
      { outputSchema: { $ref: 'https://example.com' } },
      'Its output schema cannot be used.',
    ],
    ['tags that are not normal', { tags: ['Ok!'] }, 'The tags must be'],
    ['a tag twice', { tags: ['a', 'a'] }, 'The tags must be'],
  ])('TestToolValidate: %s', async (_, more, fault) => {
    expect((await toolFaults({ ...tool, ...more }, 'p')).join(' ')).toContain(fault)
  })
})

describe('tags', () => {
  test.each<[upstream: string, tags: readonly string[], normal: readonly string[]]>([
    ['TestNormalizeTags', ['Café Au Lait'], ['caf-au-lait']],
    ['TestNormalizeTags: of several one', ['C++', 'C#', 'c'], ['c']],
    ['TestNormalizeTags', ['ok!'], ['ok']],
    ['TestNormalizeTags: order', ['b', 'A', ' a\t \nb '], ['b', 'a', 'a-b']],
    ['TestNormalizeTags: what is kept', ['a-b_c.d9'], ['a-b_c.d9']],
    ['AllSpecialChars', ['日本', '!!!'], []],
    ['WhitespaceOnly', [' ', '\t\n', ''], []],
    ['cut to 64', ['a'.repeat(70)], ['a'.repeat(64)]],
    ['the same after cutting', [`${'a'.repeat(64)}b`, `${'a'.repeat(64)}c`], ['a'.repeat(64)]],
    [
      'MaxCount',
      Array.from({ length: 30 }, (_, at) => `t${at}`),
      Array.from({ length: 20 }, (_, at) => `t${at}`),
    ],
    ['MaxCount counts each once', [...Array(30).fill('a'), 'b'], ['a', 'b']],
  ])('%s', (_, tags, normal) => {
    expect(normalizeTags(tags)).toEqual(normal)
    expect(normalizeTags(normal)).toEqual(normal)
  })
})

describe('versions', () => {
  const version = (text: string) => {
    const parsed = parseVersion(text)
    if (parsed === undefined) throw new Error(`${text} is no version`)
    return parsed
  }

  test('precedence, as SemVer section 11 has it', () => {
    const inOrder = [
      ...[
        '0.0.1',
        '0.0.9',
        '0.0.10',
        '0.1.0',
        '1.0.0-alpha',
        '1.0.0-alpha.1',
        '1.0.0-alpha.beta',
        '1.0.0-beta',
      ],
      ...[
        '1.0.0-beta.2',
        '1.0.0-beta.11',
        '1.0.0-rc.1',
        '1.0.0-rc.2',
        '1.0.0-rc.10',
        '1.0.0',
        '1.0.1',
        '1.10.0',
      ],
      ...['2.0.0-9007199254740993', '2.0.0-9007199254740994', '2.0.0'],
    ]
    const shuffled = inOrder.toReversed().sort((a, b) => version(a).compare(version(b)))
    expect(shuffled).toEqual(inOrder)
    for (const [at, text] of inOrder.slice(1).entries())
      expect(version(inOrder[at] ?? '').compare(version(text)), text).toBeLessThan(0)
  })

  test.each([
    ['v1.2.3', '1.2.3'],
    ['1.2.3+a', '1.2.3+b'],
    ['01.02.03', '1.2.3'],
    ['1.0.0-rc.01', '1.0.0-rc.1'],
  ])('%s and %s are of the same precedence', (a, b) => {
    expect(version(a).compare(version(b))).toBe(0)
  })

  test.each(['', '1', '1.2', '1.2.3.4', 'vv1.2.3', '1.2.x', '1.2.3-', '1.2.3-a..b', ' 1.2.3', 'latest'])(
    '"%s" is no version',
    (text) => {
      expect(parseVersion(text)).toBeUndefined()
    },
  )

  test.each<[constraint: string, allowed: readonly string[], others: readonly string[]]>([
    ['1.2.3', ['1.2.3', '1.2.3+build'], ['1.2.4', '1.2.3-rc.1']],
    ['=1.2.3', ['1.2.3'], ['1.2.2']],
    ['v1.2.3', ['1.2.3'], ['1.2.2']],
    ['1', ['1.0.0'], ['1.0.1', '1.2.0', '2.0.0']],
    ['1.2', ['1.2.0'], ['1.2.1', '1.0.0']],
    ['>1.2.3', ['1.2.4', '2.0.0'], ['1.2.3', '1.0.0', '2.0.0-rc.1']],
    ['>=1.2', ['1.2.0', '9.0.0'], ['1.1.9']],
    ['<2', ['1.9.9', '0.0.1'], ['2.0.0', '2.0.0-rc.1', '1.0.0-rc.1']],
    ['<=1.2.3', ['1.2.3'], ['1.2.4']],
    ['^1.2.3', ['1.2.3', '1.9.0'], ['1.2.2', '2.0.0', '2.0.0-rc.1', '1.3.0-rc.1']],
    ['^1', ['1.0.0', '1.9.9'], ['0.9.9', '2.0.0']],
    ['^0.1.0', ['0.1.0', '0.1.9'], ['0.2.0', '0.9.0', '1.0.0']],
    ['^0.0.3', ['0.0.3'], ['0.0.4', '0.1.0']],
    ['^0.0', ['0.0.0', '0.0.9'], ['0.1.0']],
    ['^0', ['0.0.1', '0.9.0'], ['1.0.0']],
    ['~1.2.3', ['1.2.3', '1.2.9'], ['1.3.0', '1.2.2']],
    ['~1.2', ['1.2.0', '1.2.9'], ['1.3.0']],
    ['~1', ['1.0.0', '1.9.0'], ['2.0.0']],
    ['>=1 <3', ['1.0.0', '2.9.9'], ['0.9.0', '3.0.0']],
    ['>=1,<3', ['1.0.0', '2.9.9'], ['3.0.0']],
    ['>= 1.2, < 2', ['1.2.0'], ['1.1.0', '2.0.0']],
    ['^1.2.0-rc.1', ['1.2.0-rc.1', '1.2.0-rc.10', '1.2.0', '1.3.0'], ['1.2.0-beta', '1.3.0-rc.1']],
    ['=1.0.0-rc.1', ['1.0.0-rc.1'], ['1.0.0', '1.0.0-rc.2']],
  ])('the constraint %s', (text, allowed, others) => {
    const constraint = parseConstraint(text)
    for (const one of allowed) expect(constraint?.test(version(one)), one).toBe(true)
    for (const one of others) expect(constraint?.test(version(one)), one).toBe(false)
  })

  test.each(['', ' ', '^', 'latest', '1.x', '*', '>=1 or <3', '^^1', '1.2.3.4', '>=<1'])(
    '"%s" is no constraint',
    (text) => {
      expect(parseConstraint(text)).toBeUndefined()
    },
  )
})

describe('several versions side by side', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld()
    for (const version of ['0.9.0', '1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.2', '2.0.0-rc.10'])
      await world.call(
        'POST',
        '/v1/tools/import?worker_id=demo',
        metadata('Null', { version, tool_set: 'many' }),
      )
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
  })

  const found = async (spelling: string) =>
    (await world.call('GET', `/v1/tools/${encodeURIComponent(spelling)}`)).body.toolkit?.version

  test.each([
    ['many.Null', '2.0.0-rc.10'],
    ['many.Null@^1.2', '1.10.0'],
    ['many:Null:^1.2', '1.10.0'],
    ['many:Null:~1.2', '1.2.0'],
    ['many:Null:>=1.0.0 <1.10', '1.2.0'],
    ['Many_Null@<1', '0.9.0'],
    ['many.Null@1', '1.0.0'],
    ['many.Null@v1.2.0', '1.2.0'],
    ['many.Null@1.2', '1.2.0'],
    ['many.Null@^2.0.0-rc.1', '2.0.0-rc.10'],
    ['many:Null:2.0.0-rc.2', '2.0.0-rc.2'],
  ])('%s is answered by %s', async (spelling, version) => {
    expect(await found(spelling)).toBe(version)
  })

  test('a constraint in tool_version, which counts more than one in the name', async () => {
    const { call } = world
    const run = async (tool_name: string, tool_version: string) =>
      (await call('POST', '/v1/tools/execute', { tool_name, tool_version })).status
    expect(await run('many.Null', '^1.2')).toBe(200)
    expect(await run('many.Null@0.9.0', '1')).toBe(200)
    expect(await run('many:Null:9.9.9', '>=1, <2')).toBe(200)
    expect(await run('many.Null@1.0.0', '^7')).toBe(404)
  })

  test.each(['many.Null@^3', 'many:Null:1.1.0', 'many.Null@latest', 'many.Null@^2'])(
    '%s is answered by those there are',
    async (spelling) => {
      const answer = await world.call('GET', `/v1/tools/${encodeURIComponent(spelling)}`)
      expect(answer).toMatchObject({ status: 404, body: { name: 'not_found' } })
      expect(answer.body.message).toContain('there are 2.0.0-rc.10, 2.0.0-rc.2, 1.10.0, 1.2.0, 1.0.0, 0.9.0.')
    },
  )

  test('a tool that there is not is not found by any version', async () => {
    const answer = await world.call('GET', `/v1/tools/${encodeURIComponent('many.Nil@^1')}`)
    expect(answer).toMatchObject({ status: 404 })
    expect(answer.body.message).toContain('There is no tool "many.Nil@^1"')
  })
})
