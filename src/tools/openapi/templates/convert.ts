import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { BadArgument, encode } from '../write-parameter.ts'
import type { ConversionName } from './conversion-names.ts'
import { toMailMessage } from './mail-message.ts'
import { toAdf, toRichText } from './plain-text.ts'

/** Those that need nothing but the value and their options. */
type Plain = Exclude<ConversionName, '$literal' | '$call_id' | '$text' | '$when' | '$map'>

/** Converts a value. `$scalar` makes text of a text, number or boolean. Throws `BadArgument`. */
export function convert(conversion: Plain | '$scalar', value: unknown, options: JsonRecord): unknown {
  switch (conversion) {
    case '$scalar':
      return scalar(value)
    case '$join':
      return [value]
        .flat()
        .map(scalar)
        .join(typeof options.with === 'string' ? options.with : ',')
    case '$plus':
      return sum(value, Number(options.by))
    case '$base64':
      return Buffer.from(scalar(value)).toString('base64')
    case '$base64url':
      return Buffer.from(scalar(value)).toString('base64url')
    case '$rfc5322':
      return toMailMessage(isRecord(value) ? value : {})
    case '$adf':
      return toAdf(scalar(value))
    case '$rich_text':
      return toRichText(scalar(value))
    case '$json':
      return ascii(shortText(JSON.stringify(value)))
    case '$quoted':
      return options.quote === "'"
        ? `'${shortText(value).replaceAll("'", "''")}'`
        : `"${shortText(value).replaceAll(/["\\]/g, '\\$&')}"`
    case '$encoded':
      return options.where === 'slashes' && !/^\/|\/\//.test(shortText(value))
        ? value
        : encode(shortText(value))
    case '$segments': // build-request.ts and write-parameter.ts write these two
    case '$brackets':
      return value
  }
}

function sum(value: unknown, by: number): number {
  const number = Number(scalar(value))
  if (!Number.isFinite(number)) throw new BadArgument('A value that is added to must be a number.')
  return number + by
}

function scalar(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw new BadArgument('A value must be a text, a number or a boolean, not a list or an object.')
}

/** In characters: these conversions are for queries, paths and headers. */
const MOST_OF_TEXT = 16_000

function shortText(value: unknown): string {
  const text = scalar(value)
  if (text.length > MOST_OF_TEXT)
    throw new BadArgument(
      `A text has ${text.length} characters, of which at most ${MOST_OF_TEXT} can be sent.`,
    )
  return text
}

/** Headers hold ASCII alone, so other characters are written as JSON's escapes. */
function ascii(json: string): string {
  return json.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
