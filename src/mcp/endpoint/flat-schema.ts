import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { valueAtReference } from '../../sdk/worker/json-pointer.ts'

// Converts the schema of a tool's arguments to a form that model APIs accept: its root has `type: "object"` and no
// keyword that combines schemas. Clients drop a tool with another root, or even all tools. The flat schema is less exact
// than the real one, by which each call is still checked.

/** Removed from the root. The properties of their schemas, except those of `not` and `if`, are moved to the root. */
const COMBINING = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', '$ref']
const NOT_KEPT = new Set([
  ...COMBINING,
  ...['$schema', '$id', '$dynamicRef', '$recursiveRef', 'enum', 'const', 'unevaluatedProperties'],
  ...['type', 'properties', 'required'], // replaced
])
/** Finds references to keywords that were removed from the root, or into their values; `$ref` holds no schema. */
const TO_REMOVED = new RegExp(`"\\$ref":"#/(?:${COMBINING.slice(0, -1).join('|')})[/"]`)

/**
 * What reading a schema may cost, since it may come from a hostile server: each name that is copied or compared is a step.
 * No further schema is read when half of them are used up; the rest is for the names that have been read.
 */
const MAX_STEPS = 10_000
/** The characters of a reference that cost a step. */
const REFERENCE_STEP = 4
/** How deep schemas may be combined, by nesting or by references. */
const MAX_DEPTH = 100
/** In characters of JSON: references can put one schema into many properties of the root. */
const MAX_MOVED = 256 * 1024

/** Returns the flat schema as JSON text. */
export function flatSchemaJson(schema: JsonRecord): string {
  const reader = createReader(schema)
  const members = reader.read(schema)
  const required = members.required.size === 0 ? undefined : JSON.stringify([...members.required])
  const properties = propertiesJson(members, reader)
  if (properties !== undefined) {
    const kept = Object.entries(schema).filter(([keyword]) => !NOT_KEPT.has(keyword))
    const flat = objectSchemaJson(Object.fromEntries(kept), properties, required)
    if (!TO_REMOVED.test(flat)) return flat
  }
  // some references would lead nowhere, or the text would be too long, so only the names of the properties are kept
  const { title, description } = schema
  const names = new Set([...Object.keys(members.own), ...members.more.keys()])
  const empty = [...names].map((name) => `${JSON.stringify(name)}:{}`)
  return objectSchemaJson({ title, description }, `{${empty.join()}}`, required)
}

function objectSchemaJson(kept: JsonRecord, properties: string, required: string | undefined): string {
  const first = JSON.stringify({ ...kept, type: 'object' }).slice(0, -1)
  return `${first},"properties":${properties}${required === undefined ? '' : `,"required":${required}`}}`
}

/** `undefined` if the properties of `more` have too long a text. */
function propertiesJson({ own, more }: Members, { combinedIn }: Reader): string | undefined {
  const texts: string[] = []
  let left = MAX_MOVED
  const write = (text: string): void => {
    left -= text.length
    texts.push(text)
  }
  const writeSchema = (schema: unknown): void => {
    if (left < 0) return
    const combined = combinedIn(schema)
    if (combined === undefined) {
      write(JSON.stringify(schema))
      return
    }
    write(`{"${combined.keyword}":[`)
    for (const [i, branch] of combined.schemas.entries()) {
      if (i > 0) write(',')
      writeSchema(branch)
    }
    write(']}')
  }
  // copying thousands of properties takes ten times as long as writing them
  const isWhole = ![...more.keys()].some((name) => Object.hasOwn(own, name))
  const kept = isWhole ? own : Object.fromEntries(Object.entries(own).filter(([name]) => !more.has(name)))
  write(JSON.stringify(kept).slice(0, -1))
  left = MAX_MOVED
  for (const [name, schema] of more) {
    write(`${texts.at(-1) === '{' ? '' : ','}${JSON.stringify(name)}:`)
    writeSchema(schema)
    if (left < 0) return undefined
  }
  return `${texts.join('')}}`
}

/** The properties that a schema names, directly or by schemas that it combines, and those of them that it requires. */
interface Members {
  /** The schema's `properties`. */
  readonly own: JsonRecord
  /** Those of the schemas that it combines. They replace own ones of the same name. */
  readonly more: Map<string, unknown>
  readonly required: Set<string>
}

/** The schemas of a property that several schemas name. */
interface Combined {
  readonly keyword: 'allOf' | 'anyOf'
  readonly schemas: unknown[]
}

interface Reader {
  read(schema: unknown): Members
  /** The schemas that were combined to this one; `undefined` for a schema of the document. */
  combinedIn(schema: unknown): Combined | undefined
}

function createReader(root: JsonRecord): Reader {
  let [stepsLeft, depth] = [MAX_STEPS, 0]
  /** The required names of each schema that has been read. */
  const known = new Map<JsonRecord, Members['required']>()
  const combinations = new Map<unknown, Combined>()

  /**
   * Reads each schema once, however many references lead to it: after that, its properties are in the result already, and
   * would multiply there.
   */
  function read(schema: unknown): Members {
    if (!isRecord(schema) || stepsLeft < MAX_STEPS / 2 || depth >= MAX_DEPTH) return noMembers()
    const required = known.get(schema)
    if (required !== undefined) return { ...noMembers(), required }
    const members = noMembers(isRecord(schema.properties) ? schema.properties : {})
    known.set(schema, members.required)
    depth++
    readInto(members, schema)
    depth--
    return members
  }

  function readInto(members: Members, schema: JsonRecord): void {
    for (const name of listOf(schema.required)) if (typeof name === 'string') members.required.add(name)
    stepsLeft -= 1 + Object.keys(members.own).length + members.required.size
    const { $ref, allOf, anyOf, oneOf, then: whenTrue, else: whenFalse, dependentSchemas } = schema
    if (typeof $ref === 'string') addAll(members, readReference($ref))
    for (const branch of listOf(allOf)) addAll(members, read(branch))
    for (const list of [anyOf, oneOf]) addAll(members, readAlternatives(listOf(list)))
    const dependent = isRecord(dependentSchemas) ? Object.values(dependentSchemas) : []
    for (const branch of [whenTrue, whenFalse, ...dependent]) addProperties(members, read(branch), 'allOf')
  }

  function readReference(reference: string): Members {
    stepsLeft -= reference.length / REFERENCE_STEP
    return read(stepsLeft < 0 ? undefined : valueAtReference(root, reference))
  }

  /** Adds the members of a schema that applies too. */
  function addAll(members: Members, more: Members): void {
    addProperties(members, more, 'allOf')
    for (const name of more.required) if (stepsLeft-- > 0) members.required.add(name)
  }

  /** The members of alternative schemas: a name is required only if all of them require it. */
  function readAlternatives(alternatives: readonly unknown[]): Members {
    const members = noMembers()
    const requiring = new Map<string, number>()
    for (const alternative of alternatives) {
      const more = read(alternative)
      addProperties(members, more, 'anyOf')
      for (const name of more.required)
        if (stepsLeft-- > 0) requiring.set(name, (requiring.get(name) ?? 0) + 1)
    }
    for (const [name, times] of requiring) if (times === alternatives.length) members.required.add(name)
    return members
  }

  function addProperties(members: Members, { own, more }: Members, keyword: Combined['keyword']): void {
    for (const name in own) {
      if (stepsLeft <= 0) break
      if (!more.has(name)) addProperty(members, name, own[name], keyword)
    }
    for (const [name, schema] of more) addProperty(members, name, schema, keyword)
  }

  /** A property that both name gets both schemas, combined by `keyword`, which is allowed below the root. */
  function addProperty({ own, more }: Members, name: string, schema: unknown, keyword: Combined['keyword']) {
    if (stepsLeft-- <= 0) return
    const before = more.get(name) ?? (Object.hasOwn(own, name) ? own[name] : undefined)
    more.set(name, before === undefined ? schema : combined(keyword, before, schema))
  }

  /** Adds `b` to the list that an earlier call has made: nested lists would overflow the stack of their reader. */
  function combined(keyword: Combined['keyword'], a: unknown, b: unknown): unknown {
    const list = combinations.get(a)
    if (list?.keyword === keyword) {
      list.schemas.push(b)
      return a
    }
    if (list === undefined && isSame(a, b)) return a
    const mark = {}
    combinations.set(mark, { keyword, schemas: [a, b] })
    return mark
  }

  /** Whether two JSON values are equal; `false` also when the steps are used up. */
  function isSame(a: unknown, b: unknown): boolean {
    if (a === b) return true
    if (stepsLeft-- <= 0) return false
    if (Array.isArray(a))
      return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]))
    if (!isRecord(a) || !isRecord(b)) return false
    let left = 0
    for (const name in a) {
      if (!Object.hasOwn(b, name) || !isSame(a[name], b[name])) return false
      left++
    }
    for (const _ in b) if (left-- === 0) return false
    return left === 0
  }

  return { read, combinedIn: (schema) => combinations.get(schema) }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function noMembers(own: JsonRecord = {}): Members {
  return { own, more: new Map(), required: new Set() }
}
