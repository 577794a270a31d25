import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type DefinedTool, definitionDigest } from '../../src/tools/definition.ts'

const TOOL: DefinedTool = {
  name: 'Send',
  description: 'Sends a mail.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, copies: { maximum: 1.0 } } },
  requirements: { authorization: [], secrets: [], metadata: [] },
  document: {},
}

describe('the digest of a definition', () => {
  test('is SHA-256 of its RFC 8785 JSON', () => {
    const json =
      '{"description":"Sends a mail.","inputSchema":{"properties":{"copies":{"maximum":1},"to":{"type":"string"}},"type":"object"},"name":"Send","requirements":{"authorization":[],"metadata":[],"secrets":[]},"title":"Send"}'
    expect(definitionDigest(TOOL)).toBe(createHash('sha256').update(json).digest('base64url'))
  })

  const digestOf = (change: object) => definitionDigest({ ...TOOL, ...change } as DefinedTool)

  test.each([
    ['its name', { name: 'send' }],
    ['its title', { title: 'Send a mail' }],
    ['its description', { description: 'Sends a mail' }],
    ['its input', { inputSchema: { type: 'object', properties: { to: { type: 'string' } } } }],
    ['its output', { outputSchema: { type: 'object' } }],
    ['its hints', { annotations: { readOnlyHint: true } }],
    ['its requirements', { requirements: { authorization: [], secrets: ['KEY'], metadata: [] } }],
    ['its execution', { document: { execution: { taskSupport: 'optional' } } }],
    ['its request', { document: { request: { method: 'POST', url: 'https://api.example.com/a' } } }],
  ])('changes with %s', (_, change) => {
    expect(digestOf(change)).not.toBe(definitionDigest(TOOL))
  })

  test.each([
    ['method', { method: 'PUT', url: 'https://api.example.com/users/{id}' }],
    ['path', { method: 'POST', url: 'https://api.example.com/admins/{id}' }],
    ['host', { method: 'POST', url: 'https://api.example.net/users/{id}' }],
  ])('changes with the %s of its HTTP request', (_, request) => {
    const before = { method: 'POST', url: 'https://api.example.com/users/{id}' }
    expect(digestOf({ document: { request } })).not.toBe(digestOf({ document: { request: before } }))
  })

  test.each([
    [
      'the order of members',
      { inputSchema: { properties: { copies: { maximum: 1 }, to: { type: 'string' } }, type: 'object' } },
    ],
    ['the toolkit and the version', { namespace: 'Mail', version: '2.0.0' }],
    ['icons and tags', { icons: [{ src: 'https://example.com/a.png' }], tags: ['mail'] }],
    [
      'the token for the server itself',
      {
        requirements: {
          authorization: [{ providerUid: 'p', scopes: ['read'], use: 'server' }],
          secrets: [],
          metadata: [],
        },
      },
    ],
  ])('stays the same for %s', (_, change) => {
    expect(digestOf(change)).toBe(definitionDigest(TOOL))
  })

  test('takes a number beyond those of JSON as null, which is stored of it', () => {
    const inputSchema = { type: 'object', maximum: JSON.parse('1e400') }
    expect(digestOf({ inputSchema })).toBe(digestOf({ inputSchema: { type: 'object', maximum: null } }))
  })
})
