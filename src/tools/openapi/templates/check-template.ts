import { didYouMean } from '../../../domain/nearest.ts'
import { isRecord } from '../../../parsing/json-record.ts'
import { quote, Refusal } from '../../read-json.ts'
import { CONVERSIONS, type ConversionName, conversionIn } from './conversion-names.ts'
import { MESSAGE_MEMBERS } from './mail-message.ts'

/** Where a template may have conversions that say how the whole value is written. */
export type TemplatePlace = 'path' | 'query' | 'header' | 'body' | 'form'

const ONLY_IN: Partial<Record<ConversionName, readonly TemplatePlace[]>> = {
  $segments: ['path'],
  $brackets: ['query', 'form'],
}

/** Levels of nesting. */
const MAX_DEPTH = 20

/** Refuses conversions and options that do not exist. `at` is the path of the template in the description. Throws `Refusal`. */
export function checkTemplate(
  template: unknown,
  place: TemplatePlace,
  at: string,
  isTop = true,
  depth = 0,
): void {
  if (depth > MAX_DEPTH) throw new Refusal(`${at} nests more than ${MAX_DEPTH} levels deep.`)
  const inner = (value: unknown, path: string) => checkTemplate(value, place, path, false, depth + 1)
  if (Array.isArray(template)) for (const [index, part] of template.entries()) inner(part, `${at}[${index}]`)
  if (!isRecord(template)) return
  const [first = ''] = Object.keys(template)
  if (!first.startsWith('$')) {
    // the members of a form are written one by one, as those of a query are
    for (const [name, part] of Object.entries(template))
      checkTemplate(part, place, `${at}.${name}`, place === 'form' && isTop, depth + 1)
    return
  }
  const conversion = conversionIn(template)
  if (conversion === undefined)
    throw new Refusal(
      `${at} has ${quote(first)}, which is no conversion.${didYouMean(first, Object.keys(CONVERSIONS))} A constant with such a name is {"$literal": …}.`,
    )
  const options: readonly string[] = CONVERSIONS[conversion]
  const unknown = Object.keys(template).find((name) => name !== conversion && !options.includes(name))
  if (unknown !== undefined)
    throw new Refusal(
      `${at} has ${quote(unknown)}, which ${conversion} does not take.${didYouMean(unknown, options)}`,
    )
  const places = ONLY_IN[conversion]
  if (places !== undefined && !(isTop && places.includes(place)))
    throw new Refusal(
      `${at} has ${conversion}, which has a meaning only as a whole value of ${places.join(' or ')}.`,
    )
  if (conversion === '$literal') return
  checkOptions(conversion, template, at)
  for (const [name, part] of Object.entries(template)) inner(part, `${at}.${name}`)
}

function checkOptions(
  conversion: ConversionName,
  template: Readonly<Record<string, unknown>>,
  at: string,
): void {
  const wrong = (rule: string) => new Refusal(`${at}: ${rule}`)
  if (conversion === '$text' && typeof template.$text !== 'string') throw wrong('$text must be a text.')
  if (conversion === '$map' && template.to === undefined)
    throw wrong('$map needs "to", the form of each element.')
  if (conversion === '$when' && template.use === undefined) throw wrong('$when needs "use".')
  if (conversion === '$plus' && typeof template.by !== 'number') throw wrong('$plus needs "by", a number.')
  if (conversion === '$call_id' && template.$call_id !== true) throw wrong('$call_id must be true.')
  if (template.with !== undefined && typeof template.with !== 'string') throw wrong('"with" must be a text.')
  if (template.where !== undefined && template.where !== 'slashes') throw wrong('"where" is "slashes".')
  if (template.quote !== undefined && template.quote !== '"' && template.quote !== "'")
    throw wrong(`"quote" is " or '.`)
  if (conversion !== '$rfc5322') return
  const message = template.$rfc5322
  if (!isRecord(message)) throw wrong('$rfc5322 must be an object.')
  const unknown = Object.keys(message).find((name) => !MESSAGE_MEMBERS.includes(name))
  if (unknown !== undefined)
    throw wrong(`$rfc5322 has no ${quote(unknown)}.${didYouMean(unknown, MESSAGE_MEMBERS)}`)
}
