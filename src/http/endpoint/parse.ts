import type { z } from '@hono/zod-openapi'
import { BrokerError, type Fault } from '../../domain/errors.ts'
import {
  dotted,
  type Known,
  knownOf,
  MAX_FAULTS,
  type UnknownMember,
  unknownMembers,
} from './known-members.ts'

// The one place where what a schema finds wrong becomes what a caller reads.

/** What is checked: names it in messages about the whole. */
export type Part = 'the body' | 'the query' | 'the path' | 'the headers'

/** A schema as it is checked again and again. */
export interface Checked<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  readonly part: Part
  readonly known: Known
}

export function checked<Schema extends z.ZodType>(schema: Schema, part: Part): Checked<Schema> {
  return { schema, part, known: knownOf(schema) }
}

/**
 * The value as the schema has it. Throws `invalid_request` that names everything that is wrong, with members the
 * schema does not know among it, unless `onUnknown` takes those.
 */
export function parse<Schema extends z.ZodType>(
  { schema, part, known }: Checked<Schema>,
  value: unknown,
  onUnknown?: (faults: readonly Fault[]) => void,
): z.output<Schema> {
  const unknown = unknownMembers(known, value)
  const parsed = schema.safeParse(value, { error: sentence, reportInput: true })
  if (parsed.success && unknown.length === 0) return parsed.data
  const strangers = unknown.map((one) => toFault(one, part))
  if (parsed.success && onUnknown !== undefined) {
    onUnknown(strangers)
    return parsed.data
  }
  const paths = new Set(strangers.map(({ path }) => path))
  const wrong = parsed.success
    ? []
    : faultsOf(parsed.error.issues, part).filter(({ path }) => !paths.has(path))
  throw invalidRequest([...wrong, ...strangers])
}

/** For what is checked once; see `parse`. */
export function parseOnce<Schema extends z.ZodType>(schema: Schema, value: unknown, part: Part) {
  return parse(checked(schema, part), value)
}

export function invalidRequest(faults: readonly Fault[]): BrokerError {
  const told = faults.slice(0, MAX_FAULTS)
  const more = faults.length - told.length
  const message = [...told.map((fault) => fault.message), ...(more > 0 ? [`And ${more} more.`] : [])].join(
    ' ',
  )
  return new BrokerError('invalid_request', message, { faults: told })
}

function toFault({ path, meant, siblings }: UnknownMember, part: Part): Fault {
  const isParameter = part === 'the query'
  const name = shown(dotted(path))
  const what = part === 'the headers' ? 'header' : isParameter ? 'query parameter' : 'member'
  const there =
    siblings.length === 0 ? 'none is known here' : `known here: ${siblings.slice(0, 12).join(', ')}`
  return {
    path: name,
    code: isParameter ? 'unknown_parameter' : 'unknown_member',
    message:
      meant === undefined
        ? `${name} is no known ${what} (${there}).`
        : `${name} is no known ${what}: did you mean ${shown(meant)}?`,
  }
}

function faultsOf(
  issues: readonly z.core.$ZodIssue[],
  part: Part,
  above: readonly PropertyKey[] = [],
): Fault[] {
  return issues.flatMap((issue): Fault[] => {
    const path = [...above, ...issue.path]
    const name = shown(dotted(path))
    switch (issue.code) {
      case 'unrecognized_keys':
        return issue.keys.map((key) => toFault({ path: [...path, key], siblings: [] }, part))
      case 'invalid_union': {
        // the alternative that was most nearly met tells most; where none was begun, the sentence names the kinds
        const [nearest] = issue.errors.toSorted((a, b) => a.length - b.length)
        const isBegun = nearest?.some((one) => one.path.length > 0 || one.code !== 'invalid_type')
        if (nearest !== undefined && isBegun) return faultsOf(nearest, part, path)
        return [fault(name, 'wrong_type', issue.message, part)]
      }
      default:
        return [fault(name, codeOf(issue), issue.message, part)]
    }
  })
}

/** Messages of our own schemas go on after the name; those that do not begin with a verb say what is taken. */
function fault(path: string, code: string, message: string, part: Part): Fault {
  const subject = path || capital(part)
  const goesOn = /^(is|has|have|must|needs|names|means|takes|was|cannot) /.test(message)
  return { path, code, message: `${subject}${goesOn ? ' ' : ': '}${message.replace(/\.$/, '')}.` }
}

function codeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'missing' : 'wrong_type'
    case 'invalid_value':
      return issue.input === undefined ? 'missing' : 'not_one_of'
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_short' : 'too_small'
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_long' : 'too_large'
    case 'custom':
      return typeof issue.params?.code === 'string' ? issue.params.code : 'invalid'
    default:
      return 'invalid'
  }
}

/** What a message says where its schema says nothing of its own. Never the value: it may be a secret. */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  const isMissing = issue.input === undefined
  switch (issue.code) {
    case 'invalid_type':
      return isMissing
        ? 'is missing'
        : `must be ${TYPES[issue.expected as string] ?? `of the type ${issue.expected}`}`
    case 'invalid_value': {
      if (isMissing) return 'is missing'
      const values = (issue.values as readonly unknown[]).map((value) => JSON.stringify(value))
      return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
    }
    case 'too_small':
      return bound(issue.origin as string, 'at least', Number(issue.minimum), issue.inclusive !== false)
    case 'too_big':
      return bound(issue.origin as string, 'at most', Number(issue.maximum), issue.inclusive !== false)
    case 'invalid_format':
      return `must be ${FORMATS[issue.format as string] ?? 'in the form that is described in /docs'}`
    case 'invalid_union':
      return 'is of none of the kinds that it may be; /docs describes them'
    case 'invalid_key':
      return 'has a name that is not allowed here'
    default:
      return undefined
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
}
const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'a date and time such as 2026-11-21T00:00:00Z',
  url: 'a URL',
  email: 'an e-mail address',
}

function bound(origin: string, which: 'at least' | 'at most', limit: number, inclusive: boolean): string {
  if (origin === 'string')
    return which === 'at least' && limit === 1
      ? 'must not be empty'
      : `must have ${which} ${limit} character${limit === 1 ? '' : 's'}`
  if (origin === 'array' || origin === 'set')
    return `must have ${which} ${limit} item${limit === 1 ? '' : 's'}`
  if (inclusive) return `must be ${which} ${limit}`
  return `must be ${which === 'at least' ? 'more' : 'less'} than ${limit}`
}

/** Of a name that somebody else chose: bounded, and fit for a log line and a header. */
function shown(name: string): string {
  const plain = name.replaceAll(/[\p{C}"\\]/gu, '?')
  return plain.length > 120 ? `${plain.slice(0, 119)}…` : plain
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
