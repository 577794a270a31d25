import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { placeholderOf } from '../request-plan.ts'
import { type ConversionName, conversionIn } from './conversion-names.ts'
import { convert } from './convert.ts'
import { placeholdersInText, propertiesIn } from './placeholders.ts'
import type { Work } from './work.ts'

/** What a template is filled with. */
export interface Filling {
  readonly input: JsonRecord
  /** A UUID, the same for repetitions of one call. */
  readonly callId: string
  /** What may still be done for the request. */
  readonly work: Work
  /** Whether objects that begin with `$` are ordinary ones. */
  readonly isPlain?: boolean
  /** The element of the list, within `$map`. */
  readonly item?: { readonly value: unknown } | undefined
}

/**
 * Fills a template with the values of the input. `undefined`: what the template is for was not given, so it is left out
 * of the object or list around it. That holds for an object or list within the template, too, if it has placeholders and
 * none of them has a value. A value is never read as a template. Throws `BadArgument`.
 */
export async function fillTemplate(template: unknown, filling: Filling): Promise<unknown> {
  if (typeof template === 'string') {
    const property = placeholderOf(template)
    return property === undefined ? template : inputValue(property, filling)
  }
  if (Array.isArray(template)) {
    const parts = await Promise.all(template.map((part) => fillPart(part, filling)))
    return parts.filter((part) => part !== undefined)
  }
  if (!isRecord(template)) return template
  const conversion = filling.isPlain === true ? undefined : conversionIn(template)
  if (conversion !== undefined) return fillConversion(conversion, template, filling)
  const members = await Promise.all(
    Object.entries(template).map(async ([name, part]) => [name, await fillPart(part, filling)] as const),
  )
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/** Fills a part of a template, which is left out if it depends on input of which nothing was given. */
async function fillPart(part: unknown, filling: Filling): Promise<unknown> {
  const isNested = Array.isArray(part) || (isRecord(part) && conversionIn(part) === undefined)
  if (isNested && filling.isPlain !== true) {
    const named = propertiesIn(part)
    if (named.length > 0 && named.every((name) => inputValue(name, filling) === undefined)) return undefined
  }
  return fillTemplate(part, filling)
}

async function fillConversion(
  conversion: ConversionName,
  template: JsonRecord,
  filling: Filling,
): Promise<unknown> {
  const given = template[conversion]
  switch (conversion) {
    case '$literal':
      return given
    case '$call_id':
      return filling.callId
    case '$text':
      return fillText(String(given), filling)
    case '$when': {
      const value = await fillTemplate(given, filling)
      const isGiven = value !== undefined && value !== null && value !== false
      return fillTemplate(isGiven ? template.use : template.else, filling)
    }
    case '$map': {
      const list = await fillTemplate(given, filling)
      if (list === undefined || list === null) return undefined
      const items = Array.isArray(list) ? list : [list]
      filling.work.spend(items.length)
      return Promise.all(items.map((value) => fillTemplate(template.to, { ...filling, item: { value } })))
    }
    default: {
      const value = await fillTemplate(given, filling)
      if (value === undefined || value === null) return undefined
      filling.work.spend(costOf(conversion, value))
      return convert(conversion, value, template)
    }
  }
}

/** In elements of lists. */
function costOf(conversion: ConversionName, value: unknown): number {
  if (conversion === '$rfc5322') return 1_000
  if (conversion === '$adf' && typeof value === 'string') return 1 + value.length / 20
  return Array.isArray(value) ? value.length : 1
}

/** The value of a property of the input, or of `{item}` within `$map`; `undefined`: it was not given. */
function inputValue(property: string, { input, item }: Filling): unknown {
  if (item !== undefined) {
    if (property === 'item') return item.value
    const { value } = item
    const member = /^item\.(.+)$/.exec(property)?.[1]
    if (member !== undefined)
      return isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined
  }
  return Object.hasOwn(input, property) ? input[property] : undefined
}

/** `undefined` if one of the values was not given, since half a text is another text. */
function fillText(text: string, filling: Filling): string | undefined {
  const values = placeholdersInText(text).map((name) => [name, inputValue(name, filling)] as const)
  if (values.some(([, value]) => value === undefined || value === null)) return undefined
  const known = new Map(values.map(([name, value]) => [name, convert('$scalar', value, {}) as string]))
  return text.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => known.get(name) ?? '')
}
