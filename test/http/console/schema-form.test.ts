import { describe, expect, test } from 'vitest'
import { readSchemaForm } from '../../../src/http/console/read-schema-form.ts'
import { schemaForm } from '../../../src/http/console/schema-form.ts'
import { schemaFormView } from '../../../src/http/console/schema-form-view.ts'

const text = { type: 'string' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const formOf = (schema: unknown) => schemaForm(schema as Parameters<typeof schemaForm>[0])

/** The kinds of a form's fields, by their names. */
function kinds(schema: unknown): unknown {
  const form = formOf(schema)
  if (form.kind === 'whole') return 'whole'
  const all = form.fields.flatMap((one) => (one.kind === 'group' ? [one, ...one.fields] : [one]))
  return Object.fromEntries(all.map(({ name, kind }) => [name, kind]))
}

describe('a form of a schema', () => {
  test.each([
    [
      'texts, numbers and booleans',
      object({ a: text, b: { type: 'integer' }, c: { type: 'number' }, d: { type: 'boolean' } }),
      { '/a': 'text', '/b': 'number', '/c': 'number', '/d': 'boolean' },
    ],
    [
      'an enumeration and a constant',
      object({ a: { enum: ['x', 1, null] }, b: { const: 'x' } }),
      { '/a': 'choice', '/b': 'constant' },
    ],
    [
      'arrays of texts',
      object({ a: { type: 'array', items: text }, b: { type: 'array', items: { enum: ['x', 'y'] } } }),
      { '/a': 'texts', '/b': 'texts' },
    ],
    [
      'arrays of anything else',
      object({ a: { type: 'array', items: { type: 'object' } }, b: { type: 'array' } }),
      { '/a': 'json', '/b': 'json' },
    ],
    [
      'what may be null',
      object({
        a: { type: ['string', 'null'] },
        b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        c: { type: ['string', 'number'] },
      }),
      { '/a': 'text', '/b': 'number', '/c': 'json' },
    ],
    [
      'one level of objects',
      object({ a: object({ b: text, c: object({ d: text }) }) }),
      { '/a': 'group', '/a/b': 'text', '/a/c': 'json' },
    ],
    [
      'an object of any members',
      object({ a: object({}, { additionalProperties: text }), b: { type: 'object' } }),
      { '/a': 'json', '/b': 'json' },
    ],
    [
      'references and alternatives',
      object({ a: { $ref: '#/$defs/x' }, b: { oneOf: [text, { type: 'number' }] } }),
      { '/a': 'json', '/b': 'json' },
    ],
    [
      'alternatives beside a type that may be null',
      object({
        a: { type: ['string', 'null'], anyOf: [{ const: 'x' }, { pattern: '^y' }] },
        b: { anyOf: [text, { type: 'null' }], oneOf: [{ const: 'x' }, { const: null }] },
      }),
      { '/a': 'json', '/b': 'json' },
    ],
    ['names with slashes', object({ 'a/b~c': text }), { '/a~1b~0c': 'text' }],
    ['no members', object({}), {}],
    ['members that depend on each other', object({ a: text }, { dependentRequired: { a: ['b'] } }), 'whole'],
    ['alternatives of the whole', { type: 'object', oneOf: [object({ a: text })] }, 'whole'],
    ['any members', { type: 'object', additionalProperties: true }, 'whole'],
    ['any members, by the empty schema', { type: 'object', additionalProperties: {} }, 'whole'],
    ['members beside any others', object({ a: text }, { additionalProperties: {} }), { '/a': 'text' }],
    ['no object', { type: 'string' }, 'whole'],
    ['no schema', true, 'whole'],
    [
      'too many members',
      object(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`m${i}`, text]))),
      'whole',
    ],
  ])('of %s', (_, schema, expected) => {
    expect(kinds(schema)).toEqual(expected)
    expect(String(schemaFormView(formOf(schema)))).toContain('<')
  })

  const every = object(
    {
      text,
      whole: { type: 'integer' },
      number: { type: 'number' },
      flag: { type: 'boolean' },
      one: { enum: ['x', 2, null] },
      fixed: { const: 7 },
      texts: { type: 'array', items: text },
      some: { type: 'array', items: { enum: ['x', 'y'] } },
      json: { type: 'array' },
      group: object({ inner: text, other: { type: 'integer' } }, { required: ['inner'] }),
      __proto__: null,
    },
    { required: ['text', 'fixed'] },
  )

  test.each([
    ['only what is filled in', 'text=hi', { text: 'hi', fixed: 7 }],
    [
      'every kind',
      'text=a%0D%0Ab&whole=-3&number=1.5e2&flag=true&one=2&texts=x%0D%0A%0D%0A y &some=x&some=y&json=[1]',
      {
        text: 'a\nb',
        fixed: 7,
        whole: -3,
        number: 150,
        flag: true,
        one: 2,
        texts: ['x', 'y'],
        some: ['x', 'y'],
        json: [1],
      },
    ],
    [
      'false, and a choice of null',
      'text=a&flag=false&one=null',
      { text: 'a', fixed: 7, flag: false, one: null },
    ],
    [
      'a group',
      'text=a&group/inner=b&group/other=1',
      { text: 'a', fixed: 7, group: { inner: 'b', other: 1 } },
    ],
  ])('reads %s', (_, sent, input) => {
    expect(readSchemaForm(formOf(every), fieldsOf(sent))).toEqual({ outcome: 'read', input })
  })

  const withConstant = object({
    to: object(
      { kind: { const: 'user' }, name: text, tags: { type: 'array', items: text } },
      { required: ['kind', 'name', 'tags'] },
    ),
  })

  test.each([
    ['is left out if none of its fields is filled in', 'to/kind=user&to/name=&to/tags=', {}],
    [
      'has its constants once a field is filled in',
      'to/kind=user&to/name=ada&to/tags=',
      { to: { kind: 'user', name: 'ada', tags: [] } },
    ],
  ])('an optional group %s', (_, sent, input) => {
    expect(readSchemaForm(formOf(withConstant), fieldsOf(sent))).toEqual({ outcome: 'read', input })
  })

  test('an optional group is left out while it has only its defaults', () => {
    const method = { type: 'string', default: 'GET' }
    const form = formOf(object({ call: object({ method, url: text }) }))
    expect(readSchemaForm(form, fieldsOf('call/method=GET&call/url='))).toEqual({
      outcome: 'read',
      input: {},
    })
    const input = { call: { method: 'PUT' } }
    expect(readSchemaForm(form, fieldsOf('call/method=PUT&call/url='))).toEqual({ outcome: 'read', input })
  })

  test.each([
    ['a required member', '', { '/text': 'is required.' }],
    [
      'a number',
      'text=a&whole=1.5&number=abc',
      { '/whole': 'must be a whole number.', '/number': 'must be a number, such as 12 or 0.5.' },
    ],
    [
      'a number that is not exact',
      'text=a&whole=9007199254740993',
      { '/whole': 'is too large to be exact.' },
    ],
    [
      'a choice',
      'text=a&one=3&flag=maybe',
      { '/one': 'must be one of the choices.', '/flag': 'must be one of the choices.' },
    ],
    ['JSON', 'text=a&json={', { '/json': expect.stringMatching(/^is not JSON: /) }],
    ['a member of a group that is begun', 'text=a&group/other=1', { '/group/inner': 'is required.' }],
  ])('says what is wrong with %s', (_, sent, faults) => {
    const form = formOf(every)
    const values = fieldsOf(sent)
    const read = readSchemaForm(form, values)
    if (read.outcome !== 'faulty') throw new Error('it was read')
    expect(Object.fromEntries(read.faults)).toEqual(faults)
    const shown = String(schemaFormView(form, { values, faults: read.faults }))
    expect(shown.match(/aria-invalid="true"/g)).toHaveLength(Object.keys(faults).length)
  })

  test('ties the fault of a group of checkboxes to the group', () => {
    const form = formOf(object({ some: { type: 'array', items: { enum: ['x', 'y'] } } }))
    const faults = new Map([['/some', 'is required.']])
    expect(String(schemaFormView(form, { values: new URLSearchParams(), faults }))).toMatch(
      /<fieldset aria-describedby="input-some-note">.*<p class="fault" id="input-some-note">/s,
    )
  })

  test('keeps what was sent, begins with defaults, and escapes all of it', () => {
    const form = formOf(
      object({
        a: { ...text, default: '"><script>' },
        b: { type: 'boolean', default: true },
        '<b>': { ...text, description: '<i>', title: '<u>' },
      }),
    )
    const fresh = String(schemaFormView(form))
    expect(fresh).toContain('&quot;&gt;&lt;script&gt;')
    expect(fresh).toContain('<option value="true" selected>yes</option>')
    expect(fresh).not.toMatch(/<(b|i|u|script)>/)
    const sent = {
      values: new URLSearchParams([
        ['/a', 'mine'],
        ['/b', ''],
      ]),
      faults: new Map(),
    }
    expect(String(schemaFormView(form, sent))).toContain('mine')
    expect(String(schemaFormView(form, sent))).not.toContain('selected')
  })

  test('takes names of every object as plain members', () => {
    const form = formOf(
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
      ),
    )
    const read = readSchemaForm(
      form,
      new URLSearchParams([
        ['/__proto__', 'a'],
        ['/constructor', 'b'],
      ]),
    )
    expect(read).toMatchObject({ outcome: 'read' })
    expect(JSON.stringify(read)).toContain('{"__proto__":"a","constructor":"b"}')
  })

  test.each([
    ['{"a": [1]}', { outcome: 'read', input: { a: [1] } }],
    ['', { outcome: 'read', input: {} }],
    ['[1]', { outcome: 'faulty' }],
    ['{', { outcome: 'faulty' }],
  ])('takes the input %s as JSON', (json, expected) => {
    expect(readSchemaForm(formOf(every), new URLSearchParams([['/', json]]), true)).toMatchObject(expected)
  })
})

/** `a=1&b/c=2` as the fields `/a` and `/b/c`. */
function fieldsOf(sent: string): URLSearchParams {
  return new URLSearchParams([...new URLSearchParams(sent)].map(([name, value]) => [`/${name}`, value]))
}
