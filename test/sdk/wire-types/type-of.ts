import { nameOfReference, type Schema } from './openapi.ts'

/** How an optional member is written. */
export interface TypeOptions {
  /** Whether an optional member may also be `undefined`: in requests, for programs that pass on an optional value. */
  readonly takesUndefined: boolean
}

/** The TypeScript type of a schema. Throws for a schema without a type. */
export function typeOf(schema: Schema, options: TypeOptions): string {
  const { $ref, enum: values, allOf, type } = schema
  // beside members, alternatives only say which of the members are required
  const choices = schema.properties === undefined ? (schema.oneOf ?? schema.anyOf) : undefined
  if ($ref !== undefined) return nameOfReference($ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (values !== undefined) return union(values.map((value) => JSON.stringify(value)))
  if (choices !== undefined) return union(choices.map((choice) => typeOf(choice, options)))
  if (allOf !== undefined) return allOf.map((part) => typeOf(part, options)).join(' & ')
  if (type === undefined) throw new Error(`A schema without a type: ${JSON.stringify(schema).slice(0, 200)}`)
  return union([type].flat().map((one) => ofType(one, schema, options)))
}

function ofType(type: string, schema: Schema, options: TypeOptions): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      if (schema.items === undefined) throw new Error('An array without the type of its items.')
      return `readonly (${typeOf(schema.items, options)})[]`
    case 'object':
      return braces(objectMembers(schema, options))
    default:
      throw new Error(`No type for "${type}".`)
  }
}

/** An object's type; one without members is an object that is always empty. */
export function braces(members: string): string {
  if (members === '') return 'Record<string, never>'
  return members.startsWith('/**') ? `{\n${members}\n}` : `{ ${members} }`
}

/**
 * The members between the braces of an object's type, without those that are deprecated: they are other names for programs
 * that have no types.
 */
export function objectMembers(schema: Schema, options: TypeOptions): string {
  const { properties = {}, additionalProperties: others } = schema
  const required = [schema, ...(schema.anyOf ?? [])].flatMap((one) => one.required ?? [])
  const current = Object.entries(properties).filter(([, { deprecated }]) => deprecated !== true)
  const named = current.map(([name, member]) => {
    const isRequired = required.includes(name)
    return memberOf(name, typeOf(member, options), { ...options, isRequired, doc: member })
  })
  return [...named, ...indexOf(others, named.length > 0, options)].join('\n')
}

/** In TypeScript the type of further members must fit the named ones too, so beside named members it is `unknown`. */
function indexOf(others: Schema['additionalProperties'], isBesideNamed: boolean, options: TypeOptions) {
  if (others === undefined || others === false) return []
  const type = isBesideNamed || others === true ? 'unknown' : typeOf(others, options)
  return [`readonly [name: string]: ${type}`]
}

/** One member of an object's type, with its comment. */
export function memberOf(
  name: string,
  type: string,
  {
    isRequired,
    takesUndefined,
    doc = {},
  }: TypeOptions & {
    readonly isRequired: boolean
    readonly doc?: Pick<Schema, 'description' | 'default'>
  },
): string {
  const optional = isRequired ? '' : '?'
  const orUndefined = !isRequired && takesUndefined ? ' | undefined' : ''
  return `${comment(doc)}readonly ${JSON.stringify(name)}${optional}: ${type}${orUndefined}`
}

/** A comment of the description and the default; empty without both. */
export function comment({
  description,
  default: otherwise,
}: Pick<Schema, 'description' | 'default'>): string {
  const shown = otherwise === undefined || otherwise === null ? undefined : JSON.stringify(otherwise)
  const paragraphs = [description?.trim(), shown && `Default: \`${shown}\``].filter(Boolean)
  if (paragraphs.length === 0) return ''
  const lines = paragraphs
    .join('\n')
    .replaceAll('*/', '*\\/')
    .split('\n')
    .flatMap((line) => wrapped(line))
  const [only] = lines
  if (lines.length === 1) return `/** ${only} */\n`
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

const LONGEST_LINE = 100

function wrapped(text: string): string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && longer.length > LONGEST_LINE) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}
