/** The values of the placeholders in request templates. The placeholder of an absent value becomes the empty text. */
export interface TemplateValues {
  readonly client_id?: string | undefined
  readonly client_secret?: string | undefined
  readonly redirect_uri?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly existing_scopes?: readonly string[] | undefined
  readonly refresh_token?: string | undefined
  readonly access_token?: string | undefined
  readonly installation_id?: string | undefined
  /** Has a value as the whole template of a JSON member alone: `scopeMembers`. */
  readonly scope_members?: undefined
  /** Values of placeholders that the entry declares. */
  readonly kept?: Readonly<Record<string, string>> | undefined
  /** Joins the scopes; the default is a space. */
  readonly scopeSeparator?: ' ' | ',' | undefined
}

export type Placeholder = Exclude<keyof TemplateValues, 'scopeSeparator' | 'kept'>

export const PLACEHOLDERS: readonly string[] = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'scopes',
  'existing_scopes',
  'refresh_token',
  'access_token',
  'installation_id',
  'scope_members',
] satisfies Placeholder[]

/** The placeholders whose values are lists, which are joined as a union. */
const LISTS: ReadonlySet<string> = new Set(['scopes', 'existing_scopes'] satisfies Placeholder[])

const PLACEHOLDER = /\{\{\s*([A-Za-z_]+)\s*\}\}/g

type Part = { readonly literal: string } | { readonly placeholder: string }

/**
 * The fault of a template, or `undefined`. It may contain only the allowed placeholders, and a list (`{{scopes}}`) must be
 * separated by spaces. All other text is used literally.
 */
export function checkTemplate(template: string, allowed: readonly string[]): string | undefined {
  const parts = partsOf(template)
  for (const [index, part] of parts.entries()) {
    if ('literal' in part) {
      if (part.literal.includes('{{')) return 'has a {{ that begins no placeholder'
      continue
    }
    if (!allowed.includes(part.placeholder)) {
      const known = allowed.map((name) => `{{${name}}}`).join(', ')
      return `has the placeholder {{${part.placeholder}}}, which has no value here; ${known === '' ? 'none is known' : `known are ${known}`}`
    }
    if (LISTS.has(part.placeholder) && !isSetOff(parts[index - 1], parts[index + 1]))
      return `has {{${part.placeholder}}} joined to other text; set it off by spaces`
  }
  return undefined
}

/** Whether a parameter's template carries the scopes that are asked for. */
export function placesScopes(template: string): boolean {
  return ['scopes', 'existing_scopes', 'scope_members'].some((name) => hasPlaceholder(template, name))
}

/** Whether the template holds the placeholder. */
export function hasPlaceholder(template: string, placeholder: string): boolean {
  return partsOf(template).some((part) => 'placeholder' in part && part.placeholder === placeholder)
}

/** The text with each value in place of its placeholder. A placeholder without a value stays. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : placeholder,
  )
}

/** The rendered parameters; empty ones are left out. */
export function renderParams(
  params: Readonly<Record<string, string>>,
  values: TemplateValues,
): Record<string, string> {
  const rendered = Object.entries(params).map(([name, template]) => [name, renderTemplate(template, values)])
  return Object.fromEntries(rendered.filter(([, value]) => value !== ''))
}

/**
 * Renders the template. An inserted value is never read as a template. An empty value is removed together with the space
 * beside it. A template with a list becomes the union of all its scopes, joined by the separator.
 */
export function renderTemplate(template: string, values: TemplateValues): string {
  const parts = partsOf(template)
  if (parts.some((part) => 'placeholder' in part && LISTS.has(part.placeholder))) {
    const entries = parts.flatMap((part) =>
      'literal' in part ? part.literal.split(/[\s,]+/) : valuesFor(values, part.placeholder),
    )
    return [...new Set(entries.filter((entry) => entry !== ''))].join(values.scopeSeparator ?? ' ')
  }
  const texts = parts.map((part) =>
    'literal' in part ? part.literal : valuesFor(values, part.placeholder).join(),
  )
  for (const [index, part] of parts.entries()) {
    if ('placeholder' in part && texts[index] === '') closeGap(parts, texts, index)
  }
  return texts.join('')
}

/** Whether the value of the template is the scopes as a JSON object. */
export function isScopeMembers(template: string): boolean {
  return /^\s*\{\{\s*scope_members\s*\}\}\s*$/.test(template)
}

/** The words of the template's own text, without its placeholders. */
export function literalWords(template: string): string[] {
  return partsOf(template)
    .flatMap((part) => ('literal' in part ? part.literal.split(/[\s,]+/) : []))
    .filter((word) => word !== '')
}

/** Removes the space on one side of an empty value, so that only the other side's space is left. */
function closeGap(parts: readonly Part[], texts: string[], index: number): void {
  const before = textOfLiteral(parts, texts, index - 1)
  const after = textOfLiteral(parts, texts, index + 1)
  if (index === 0 || before === '') {
    if (after !== undefined) texts[index + 1] = after.trimStart()
  } else if (before !== undefined && (index === parts.length - 1 || /^\s/.test(after ?? ''))) {
    texts[index - 1] = before.trimEnd()
  }
}

function textOfLiteral(parts: readonly Part[], texts: readonly string[], index: number): string | undefined {
  const part = parts[index]
  return part !== undefined && 'literal' in part ? texts[index] : undefined
}

function isSetOff(before: Part | undefined, after: Part | undefined): boolean {
  const apart = (part: Part | undefined, edge: RegExp) =>
    part === undefined || ('literal' in part && edge.test(part.literal))
  return apart(before, /[\s,]$/) && apart(after, /^[\s,]/)
}

function valuesFor(values: TemplateValues, placeholder: string): readonly string[] {
  const { kept = {} } = values
  const value = PLACEHOLDERS.includes(placeholder)
    ? values[placeholder as Placeholder] // it is one of the list
    : Object.hasOwn(kept, placeholder)
      ? kept[placeholder]
      : undefined
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/** Literals and placeholders in turn; empty literals are left out. */
function partsOf(template: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    if (match.index > end) parts.push({ literal: template.slice(end, match.index) })
    parts.push({ placeholder: match[1] ?? '' })
    end = match.index + match[0].length
  }
  if (end < template.length) parts.push({ literal: template.slice(end) })
  return parts
}
