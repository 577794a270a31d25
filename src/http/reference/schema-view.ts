import { html } from 'hono/html'
import type { Html } from '../pages/layout.ts'

/** The parts of JSON Schema that the API reference shows. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema | boolean
  readonly additionalProperties?: JsonSchema | boolean
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
}

/** The deepest level of members that is shown. The limit also ends schemas that contain themselves. */
const MAX_DEPTH = 6

/** The type of a schema in words, with `$ref`s as links: "string", "array of Tool", "one of a, b". */
export function typeOf(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) {
    const referred = refName(schema.$ref)
    return html`<a href="/docs/schemas#${schemaAnchor(referred)}">${referred}</a>`
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (schema.enum !== undefined)
    return html`one of ${between(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ', ',
    )}`
  const choices = schema.properties === undefined ? (schema.oneOf ?? schema.anyOf) : undefined
  if (choices !== undefined) return html`${between(choices.map(typeOf), ' or ')}`
  if (schema.allOf !== undefined && schema.properties === undefined)
    return html`${between(schema.allOf.map(typeOf), ' and ')}`
  if (typeof schema.items === 'object') return html`array of ${typeOf(schema.items)}`
  if (typeof schema.additionalProperties === 'object' && schema.properties === undefined)
    return html`map of ${typeOf(schema.additionalProperties)}`
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any value'])
  return html`${types.join(' or ')}${schema.format !== undefined && ` (${schema.format})`}`
}

/** The members of the schema, of its items and of its alternatives; `false` when there are none. */
export function membersOf(schema: JsonSchema, depth = 0): Html | false {
  if (depth > MAX_DEPTH || schema.$ref !== undefined) return false
  const parts: (Html | false)[] = []
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length > 0)
    parts.push(
      html`<ul class="members">
${properties.map(([key, member]) => memberRow(key, member, isRequired(schema, key), depth))}
</ul>`,
    )
  for (const inner of [schema.items, schema.additionalProperties])
    if (typeof inner === 'object') parts.push(membersOf(inner, depth + 1))
  for (const inner of [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])])
    parts.push(membersOf(inner, depth + 1))
  return parts.some((part) => part !== false) && html`${parts}`
}

/** Where one of several members is required, it is the one that is not deprecated. */
function isRequired({ required = [], anyOf = [], properties }: JsonSchema, key: string): boolean {
  const isOneOf = anyOf.some((alternative) => alternative.required?.includes(key))
  return required.includes(key) || (isOneOf && properties?.[key]?.deprecated !== true)
}

function memberRow(key: string, member: JsonSchema, required: boolean, depth: number): Html {
  return html`<li><code>${key}</code> <span class="muted">${typeOf(member)}${required && html` · <strong>required</strong>`}${member.deprecated && ' · deprecated'}${limits(member)}</span>
${member.description !== undefined && prose(member.description)}${membersOf(member, depth + 1)}</li>
`
}

/** The other constraints of the schema, in a few words. */
export function limits(schema: JsonSchema): Html {
  const { minimum, maximum, minLength, maxLength, pattern } = schema
  return html`${minimum !== undefined && ` · at least ${minimum}`}${maximum !== undefined && ` · at most ${maximum}`}${
    minLength !== undefined && (minLength === 1 ? ' · not empty' : ` · ${minLength} characters or more`)
  }${maxLength !== undefined && ` · up to ${maxLength} characters`}${
    pattern !== undefined && html` · matches <code>${pattern}</code>`
  }${schema.default !== undefined && html` · default <code>${JSON.stringify(schema.default)}</code>`}`
}

/** Renders the two elements of CommonMark that the descriptions use: paragraphs and `code`. */
export function prose(text: string): Html {
  const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== '')
  return html`${paragraphs.map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`
}

export function inline(text: string): Html {
  const pieces = text.split(/`([^`]+)`/)
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))}`
}

/** `#/components/schemas/Tool` -> `Tool`. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

export function schemaAnchor(schema: string): string {
  return schema.replace(/[^A-Za-z0-9_-]+/g, '-')
}

function between(parts: readonly Html[], separator: string): (Html | string)[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]))
}
