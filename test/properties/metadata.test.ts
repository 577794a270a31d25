import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { authorizationRequestIn, tokenRequestIn } from '../../src/providers/provider-endpoints.ts'
import { readWorkerAnswer } from '../../src/tools/arcade/read-worker-answer.ts'
import { readWorkerTool } from '../../src/tools/arcade/read-worker-tool.ts'
import { readToolMetadata } from '../../src/tools/metadata/read-metadata.ts'

const options = { allowsHttp: () => false }
const json = fc.jsonValue({ maxDepth: 5 })

/** Objects with members of these names, so that what lies behind the first checks is reached. */
function shaped(names: readonly string[], depth = 3): fc.Arbitrary<unknown> {
  const { value } = fc.letrec<{ value: unknown; object: unknown; list: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: depth },
      fc.oneof(
        fc.constantFrom<unknown>(
          '',
          'text',
          'object',
          'string',
          'array',
          'integer',
          'true',
          'https://a.example/x',
          'code',
          'S256',
          '2.0',
          '1.0.0',
          null,
          true,
          false,
          0,
          1,
          -1,
        ),
        fc.string(),
        json,
      ),
      tie('object'),
      tie('list'),
    ),
    object: fc.dictionary(
      fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.string() }),
      tie('value'),
      { maxKeys: 12 },
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
  }))
  return value
}

const METADATA = [
  'name',
  'version',
  'description',
  'parameters',
  'input_args',
  'result',
  'oauth',
  'configurations',
  'tool_set',
  'type',
  'content',
  'properties',
  'required',
  'items',
  'enum',
  '$ref',
  '$defs',
  'anyOf',
  'default',
  'authorizationUrl',
  'tokenUrl',
  'clientId',
  'clientSecret',
  'scopes',
  'responseType',
  'pkceType',
  'refreshToken',
  'requestTokenAuthHeader',
  'requestTokenContentType',
  'redirectUrl',
  'key_name',
  'key_value',
  '__proto__',
  'constructor',
  'agent_id',
]
const WORKER = [
  'name',
  'fully_qualified_name',
  'description',
  'toolkit',
  'input',
  'output',
  'parameters',
  'value_schema',
  'val_type',
  'inner_val_type',
  'items',
  'properties',
  'required_keys',
  'enum',
  'requirements',
  'authorization',
  'id',
  'provider_id',
  'provider_type',
  'oauth2',
  'scopes',
  'secrets',
  'metadata',
  'key',
  'required',
  'inferrable',
  'nullable',
  '__proto__',
]
const ANSWER = [
  'success',
  'output',
  'value',
  'error',
  'message',
  'kind',
  'can_retry',
  'retry_after_ms',
  'status_code',
  'extra',
  'logs',
  'level',
  'requires_authorization',
  'authorization',
  'url',
  'scopes',
  'status',
  'artifact',
  'content_type',
  'size',
  'meta',
  'duration',
  'finished_at',
  '__proto__',
]

/** Merged over one that is right, so that one thing at a time is odd. */
const tool = {
  name: 'Tool',
  version: '1.0.0',
  description: 'Does.',
  parameters: { type: 'object', properties: {} },
  oauth: [
    {
      name: 'P',
      version: '2.0',
      authorizationUrl: 'https://a.example/a',
      tokenUrl: 'https://a.example/t',
      clientId: 'x',
      scopes: [],
      responseType: 'code',
    },
  ],
}
const nearly = fc
  .tuple(fc.constantFrom(...METADATA), shaped(METADATA))
  .map(([name, value]) => ({ ...tool, [name]: value }))
const entry = fc
  .tuple(fc.constantFrom(...METADATA), shaped(METADATA, 1))
  .map(([name, value]) => ({ ...tool, oauth: [{ ...tool.oauth[0], [name]: value }] }))

describe('threat 41 and 14: whatever is imported', () => {
  test('metadata is read or refused with a reason, never more', () => {
    fc.assert(
      fc.property(fc.oneof(json, shaped(METADATA), nearly, entry), (value) => {
        const reading = readToolMetadata(JSON.parse(JSON.stringify(value)), options)
        if (reading.outcome === 'refused') expect(reading.reason).toMatch(/\S/)
        else {
          expect(reading.tool.name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/)
          expect(reading.tool.inputSchema.type).toBe('object')
          for (const { provider } of reading.tool.oauth)
            for (const block of [authorizationRequestIn(provider), tokenRequestIn(provider)])
              expect(new URL(block.endpoint).protocol).toBe('https:')
        }
        for (const { path, message } of reading.warnings)
          expect([typeof path, typeof message]).toEqual(['string', 'string'])
      }),
    )
  })

  test('a worker’s definition too', () => {
    fc.assert(
      fc.property(fc.oneof(json, shaped(WORKER)), (value) => {
        const reading = readWorkerTool(JSON.parse(JSON.stringify(value)))
        if (reading.outcome === 'refused') expect(reading.reason).toMatch(/\S/)
        else expect(reading.tool.name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/)
      }),
    )
  })

  test('and a worker’s answer, which brings no link of its own', () => {
    fc.assert(
      fc.property(fc.oneof(json, shaped(ANSWER)), fc.boolean(), (value, success) => {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        const answer = readWorkerAnswer(JSON.parse(JSON.stringify(isObject ? { ...value, success } : value)))
        expect(['value', 'error', 'authorization_requested', 'artifact']).toContain(answer.outcome)
        if (answer.outcome === 'authorization_requested')
          expect(
            Object.keys(answer.requested).filter((name) => !['id', 'scopes', 'status'].includes(name)),
          ).toEqual([])
        if (answer.outcome === 'artifact') expect(new URL(answer.artifact.url).protocol).toMatch(/^https?:$/)
      }),
    )
  })

  test('its size bounds its time', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [
        `p${i}`,
        { $ref: `#/parameters/properties/p${(i + 1) % 5_000}` },
      ]),
    )
    const deep = JSON.parse(`${'{"properties":{"a":'.repeat(30)}{}${'}}'.repeat(30)}`)
    const fan = Array.from({ length: 24 }, (_, i) => [
      `d${i}`,
      { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ])
    for (const parameters of [
      { type: 'object', properties: wide },
      { type: 'object', properties: deep },
      { type: 'object', $defs: Object.fromEntries(fan), properties: { a: { $ref: '#/$defs/d0' } } },
      { type: 'object', properties: { a: { pattern: `${'(a+)+'.repeat(100)}$`, type: 'string' } } },
    ]) {
      const started = performance.now()
      readToolMetadata({ ...tool, parameters, result: parameters }, options)
      expect(performance.now() - started).toBeLessThan(60_000) // growth beyond measure, not the machine's speed
    }
  })
})
