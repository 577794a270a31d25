import { nameOfReference, propertiesOf, type Schema, type Schemas } from './openapi.ts'

// Python types of schemas, for Python 3.9: `TypedDict`, `Literal`, and `Union` in place of `|`.

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

const isName = (text: string) => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text)

/** The classes and aliases of schemas. Objects without a name get one from where they are used. */
export interface PythonTypes {
  /** The type of a schema; `name` is for an object in it that has none. */
  typeOf(schema: Schema, name: string): string
  /** Defines the named schemas. */
  defineAll(): void
  text(): string
}

export function createPythonTypes(schemas: Schemas): PythonTypes {
  const classes = new Map<string, string>()
  const aliases = new Map<string, string>()
  /** The class of each shape that an object without a name has. */
  const ofShapes = new Map<string, string>()

  function typeOf(schema: Schema, name: string): string {
    const { $ref, enum: values, type } = schema
    const choices = schema.properties === undefined ? (schema.oneOf ?? schema.anyOf) : undefined
    if ($ref !== undefined) return nameOfReference($ref)
    if (schema.const !== undefined) return literal([schema.const])
    if (values !== undefined) return values.join() === 'true,false' ? 'bool' : literal(values)
    if (choices !== undefined)
      return union(choices.map((choice, at) => typeOf(choice, `${name}${nameOfChoice(choice, at)}`)))
    if (schema.allOf !== undefined) return classOf(schema, name)
    if (type === undefined)
      throw new Error(`A schema without a type: ${JSON.stringify(schema).slice(0, 200)}`)
    const types = [type].flat()
    if (types.includes('array') && types.includes('object')) return 'Any' // any JSON
    return union(types.map((one) => ofType(one, schema, name)))
  }

  function ofType(type: string, schema: Schema, name: string): string {
    switch (type) {
      case 'string':
        return 'str'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'number':
        return 'float'
      case 'integer':
        return 'int'
      case 'array':
        return `list[${typeOf(schema.items ?? {}, `${name}Item`)}]`
      case 'object': {
        if (schema.properties !== undefined) return classOf(schema, name)
        const { additionalProperties: others } = schema
        return `dict[str, ${typeof others === 'object' ? typeOf(others, `${name}Value`) : 'Any'}]`
      }
      default:
        throw new Error(`No type for "${type}".`)
    }
  }

  /** The name of the `TypedDict` of an object without a name: objects of one shape share it. */
  function classOf(schema: Schema, wished: string): string {
    const shape = shapeOf(schema)
    const known = ofShapes.get(shape)
    if (known !== undefined) return known
    let name = wished
    while (name in schemas || classes.has(name)) name += '_'
    ofShapes.set(shape, name)
    defineClass(name, schema)
    return name
  }

  function defineClass(name: string, schema: Schema): void {
    classes.set(name, '') // its place is before the objects in it
    const required = requiredOf(schema, schemas)
    const members = Object.entries(propertiesOf(schema, schemas))
      .filter(([, { deprecated }]) => deprecated !== true)
      .map(([member, one]) => ({
        member,
        type: typeOf(one, `${name}${pascal(member)}`),
        isRequired: required.has(member),
      }))
    classes.set(name, classText(name, members))
  }

  function defineAll(): void {
    for (const [name, schema] of Object.entries(schemas).toSorted(byName)) {
      const isObject = schema.type === 'object' && schema.properties !== undefined
      if (isObject || schema.allOf !== undefined) defineClass(name, schema)
      else aliases.set(name, typeOf(schema, name))
    }
  }

  return {
    typeOf,
    defineAll,
    text: () => `${[...classes.values()].join('\n\n')}\n\n${inOrder(aliases).join('\n')}\n`,
  }
}

interface Member {
  readonly member: string
  readonly type: string
  readonly isRequired: boolean
}

/** One class, or two where some members are required. Members whose names are no names of Python are of a base class. */
function classText(name: string, members: readonly Member[]): string {
  const lines: string[] = []
  const bases: string[] = []
  const partOf = (isRequired: boolean, isLast: boolean) => {
    const own = members.filter((one) => one.isRequired === isRequired)
    const strange = own.filter(({ member }) => !isName(member))
    const plain = own.filter(({ member }) => isName(member))
    const total = isRequired ? '' : ', total=False'
    if (strange.length > 0) {
      const base = `_${name}${isRequired ? 'Named' : 'MayBeNamed'}`
      const entries = strange.map(({ member, type }) => `${JSON.stringify(member)}: ${JSON.stringify(type)}`)
      lines.push(`${base} = TypedDict("${base}", {${entries.join(', ')}}${total})\n\n`)
      bases.push(base)
    }
    if (plain.length === 0 && !isLast) return
    const part = isLast ? name : `_${name}Required`
    lines.push(`class ${part}(${[...bases, ...(bases.length > 0 ? [] : ['TypedDict'])].join(', ')}${total}):`)
    lines.push(
      ...(plain.length > 0 ? plain.map(({ member, type }) => `    ${member}: ${type}`) : ['    pass']),
    )
    lines.push(...(isLast ? [] : ['\n']))
    bases.splice(0, bases.length, part)
  }
  const hasOptional = members.some((one) => !one.isRequired)
  partOf(true, !hasOptional)
  if (hasOptional) partOf(false, true)
  return `${lines.join('\n')}\n`
}

/** An alias comes after those that it names. */
function inOrder(aliases: ReadonlyMap<string, string>): string[] {
  const done = new Set<string>()
  const lines: string[] = []
  const add = (name: string) => {
    if (done.has(name)) return
    done.add(name)
    const type = aliases.get(name) ?? ''
    for (const [used] of type.matchAll(/\b[A-Z]\w+/g)) if (aliases.has(used)) add(used)
    lines.push(`${name} = ${type}`)
  }
  for (const name of aliases.keys()) add(name)
  return lines
}

/** The names of the members that an object must have. */
export function requiredOf(schema: Schema, schemas: Schemas): ReadonlySet<string> {
  if (schema.$ref !== undefined) return requiredOf(schemas[nameOfReference(schema.$ref)] ?? {}, schemas)
  const parts = (schema.allOf ?? []).flatMap((one) => [...requiredOf(one, schemas)])
  return new Set([schema, ...(schema.anyOf ?? [])].flatMap((one) => one.required ?? []).concat(parts))
}

/** `toolId` and `$schema` -> `tool_id` and `schema`; `from` -> `from_`. */
export function argumentOf(name: string): string {
  const text = name
    .replace(/\W+/g, '_')
    .replace(/^_+/, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
  return isName(text) ? text : `${text}_`
}

/** `listTools`, `retry_after` -> `ListTools`, `RetryAfter`. */
export function pascal(name: string): string {
  return name
    .split(/\W|_/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}

/** What the type of an object is made of: without texts and limits, which types leave out. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value) =>
    typeof value !== 'object' && TEXTS_AND_LIMITS.test(key) ? undefined : value,
  )
}

const TEXTS_AND_LIMITS =
  /^(?:description|example|format|pattern|default|writeOnly|(?:min|max)[A-Z]\w+|minimum|maximum)$/

function nameOfChoice({ required, properties }: Schema, at: number): string {
  const [name] = [...(required ?? []), ...Object.keys(properties ?? {})]
  return name === undefined ? String(at + 1) : pascal(name)
}

function literal(values: readonly unknown[]): string {
  const shown = values.map((value) =>
    typeof value === 'boolean' ? (value ? 'True' : 'False') : value === null ? 'None' : JSON.stringify(value),
  )
  return `Literal[${[...new Set(shown)].join(', ')}]`
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  if (different.includes('Any')) return 'Any'
  const others = different.filter((type) => type !== 'None')
  const [only = 'None'] = others
  const shown = others.length > 1 ? `Union[${others.join(', ')}]` : only
  return others.length === different.length || others.length === 0 ? shown : `Optional[${shown}]`
}

function byName([one]: readonly [string, ...unknown[]], [other]: readonly [string, ...unknown[]]): number {
  return one < other ? -1 : 1
}
