import { describe, expect, test } from 'vitest'
import { checkTemplate, hasPlaceholder, renderParams, renderTemplate } from '../../src/providers/template.ts'

const values = {
  client_id: 'id-1',
  client_secret: '{{client_id}}',
  scopes: ['read', 'write'],
  existing_scopes: ['profile', 'read'],
  access_token: 'tok',
  scopeSeparator: ' ',
} as const

describe('a template', () => {
  test.each([
    ['plain text', 'code', 'code'],
    ['a placeholder', '{{client_id}}', 'id-1'],
    ['spaces inside the braces', '{{ client_id }}', 'id-1'],
    ['a placeholder within text', 'Bearer {{access_token}}', 'Bearer tok'],
    ['a value that looks like a template is not read again', '{{client_secret}}', '{{client_id}}'],
    ['the union of scopes', '{{scopes}} {{existing_scopes}}', 'read write profile'],
    [
      'scopes beside a fixed one',
      '{{scopes}} {{existing_scopes}} offline_access',
      'read write profile offline_access',
    ],
    ['a fixed scope that is asked for too', 'read {{scopes}}', 'read write'],
    ['nothing to put in', '{{redirect_uri}}', ''],
    ['nothing to put in at the start', '{{redirect_uri}} b', 'b'],
    ['nothing to put in at the end', 'a {{redirect_uri}}', 'a'],
    ['nothing to put in between', 'a {{redirect_uri}} b', 'a b'],
    ['nothing twice', 'a {{redirect_uri}} {{refresh_token}} b', 'a b'],
    ['nothing but nothing', '{{redirect_uri}} {{refresh_token}}', ''],
    ['an inherited name', '{{constructor}}', ''],
  ])('renders %s', (_, template, rendered) => {
    expect(renderTemplate(template, values)).toBe(rendered)
  })

  test.each([
    [',', ['a', 'b'], ['c'], 'a,b,c'],
    [',', ['a', 'b'], [], 'a,b'],
    [' ', [], ['c'], 'c'],
    [' ', [], [], ''],
    [',', ['read,activity:read'], [], 'read,activity:read'],
  ] as const)('joins scopes by %j', (scopeSeparator, scopes, existing_scopes, joined) => {
    const filled = { scopes, existing_scopes, scopeSeparator }
    expect(renderTemplate('{{scopes}} {{existing_scopes}}', filled)).toBe(joined)
  })

  test('keeps the spaces of a value', () => {
    expect(renderTemplate('{{client_id}} {{redirect_uri}}', { client_id: 'a  ' })).toBe('a  ')
  })

  test('an empty parameter is left out', () => {
    const params = { client_id: '{{client_id}}', scope: '{{scopes}} {{existing_scopes}}', empty: '' }
    expect(renderParams(params, { client_id: 'id-1', scopes: [] })).toEqual({ client_id: 'id-1' })
  })

  test.each([
    ['{{client_id}}', undefined],
    ['{{scopes}} {{scopes}}', undefined],
    ['{ "a": {} }', undefined],
    ['{{client_secret}}', /client_secret.*has no value/],
    ['{{constructor}}', /constructor.*has no value/],
    ['{{}}', /begins no placeholder/],
    ['{{a.b}}', /begins no placeholder/],
    ['user:{{scopes}}', /set it off by spaces/],
    ['{{scopes}}{{client_id}}', /set it off by spaces/],
  ])('%j is checked when it is registered', (template, fault) => {
    const found = checkTemplate(template, ['client_id', 'scopes'])
    if (fault === undefined) expect(found).toBeUndefined()
    else expect(found).toMatch(fault)
  })

  test('knows what it mentions', () => {
    expect(hasPlaceholder('a {{ client_secret }}', 'client_secret')).toBe(true)
    expect(hasPlaceholder('client_secret', 'client_secret')).toBe(false)
  })
})
