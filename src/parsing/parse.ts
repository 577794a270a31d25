import type { z } from 'zod'
import { BrokerError, FAULT_CODES, type Fault, type FaultCode } from '../domain/errors.ts'
import { nearest } from '../domain/nearest.ts'
import {
  dotted,
  type KnownMembers,
  knownOf,
  MAX_FAULTS,
  type UnknownMember,
  unknownMembers,
} from './known-members.ts'

// Turns the faults that a schema finds into the messages that callers read. No other file does.

/** The part of a request that is checked. Messages about the whole part name it. */
export type Part = 'the body' | 'the query' | 'the path' | 'the headers' | 'the definition'

/** A schema that is used for many requests, together with the members that it knows. */
export interface Checked<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  readonly part: Part
  readonly known: KnownMembers
}

/** Prepares a schema for `parse`. */
export function checked<Schema extends z.ZodType>(schema: Schema, part: Part): Checked<Schema> {
  let known: KnownMembers | undefined
  return {
    schema,
    part,
    // read with the first request, because most processes serve only a few of the endpoints
    get known() {
      known ??= knownOf(schema)
      return known
    },
  }
}

/**
 * Parses the value by the schema. Throws `invalid_request` with every fault. Members that the schema does not have are
 * faults too; with `onUnknown`, a value that has no other faults is accepted, and `onUnknown` is called with them.
 */
export function parse<Schema extends z.ZodType>(
  { schema, part, known }: Checked<Schema>,
  value: unknown,
  onUnknown?: (faults: readonly Fault[]) => void,
): z.output<Schema> {
  const unknown = unknownMembers(known, value)
  const parsed = schema.safeParse(value, PARSING)
  if (parsed.success && unknown.length === 0) return parsed.data
  const unknownFaults = unknown.map((member) => toFault(member, part))
  if (parsed.success && onUnknown !== undefined) {
    onUnknown(unknownFaults)
    return parsed.data
  }
  const paths = new Set(unknownFaults.map(({ path }) => path))
  const wrong = parsed.success
    ? []
    : faultsOf(parsed.error.issues, part).filter(({ path }) => !paths.has(path))
  throw invalidRequest([...wrong, ...unknownFaults])
}

const PARSING = { error: defaultMessage, reportInput: true }

/** `parse` for a schema that is not prepared by `checked`. */
export function parseOnce<Schema extends z.ZodType>(schema: Schema, value: unknown, part: Part) {
  return parse(checked(schema, part), value)
}

/** The error for these faults. Its message joins theirs; only the first `MAX_FAULTS` are listed. */
export function invalidRequest(faults: readonly Fault[]): BrokerError {
  const listed = faults.slice(0, MAX_FAULTS)
  const more = faults.length - listed.length
  const message = [...listed.map((fault) => fault.message), ...(more > 0 ? [`And ${more} more.`] : [])].join(
    ' ',
  )
  return new BrokerError('invalid_request', message, { faults: listed })
}

function toFault({ path, meant, siblings }: UnknownMember, part: Part): Fault {
  const isParameter = part === 'the query'
  const name = printable(dotted(path))
  const what = part === 'the headers' ? 'header' : isParameter ? 'query parameter' : 'member'
  const there =
    siblings.length === 0 ? 'none is known here' : `known here: ${siblings.slice(0, 12).join(', ')}`
  return {
    path: name,
    code: isParameter ? 'unknown_parameter' : 'unknown_member',
    message:
      meant === undefined
        ? `${name} is not a known ${what} (${there}).`
        : `${name} is not a known ${what}: did you mean ${printable(meant)}?`,
  }
}

function faultsOf(
  issues: readonly z.core.$ZodIssue[],
  part: Part,
  above: readonly PropertyKey[] = [],
): Fault[] {
  return issues.flatMap((issue): Fault[] => {
    const path = [...above, ...issue.path]
    const name = printable(dotted(path))
    switch (issue.code) {
      case 'unrecognized_keys':
        return issue.keys.map((key) => toFault({ path: [...path, key], siblings: [] }, part))
      case 'invalid_union': {
        // the alternative with the fewest faults is probably the one that was meant
        const [nearest] = issue.errors.toSorted((a, b) => a.length - b.length)
        const isBegun = nearest?.some((nearby) => nearby.path.length > 0 || nearby.code !== 'invalid_type')
        if (nearest !== undefined && isBegun) return faultsOf(nearest, part, path)
        return [fault(name, 'wrong_type', issue.message, part)]
      }
      default:
        return [fault(name, codeOf(issue), issue.message, part)]
    }
  })
}

/** Makes a sentence of the path and the message, with a colon between them unless the message begins with a verb. */
function fault(path: string, code: FaultCode, message: string, part: Part): Fault {
  const subject = path || capital(part)
  const beginsWithVerb = /^(is|has|have|must|needs|names|means|takes|was|cannot) /.test(message)
  return {
    path,
    code,
    message: `${subject}${beginsWithVerb ? ' ' : ': '}${message.replace(/\.$/, '')}${message.endsWith('?') ? '' : '.'}`,
  }
}

function codeOf(issue: z.core.$ZodIssue): FaultCode {
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
      return FAULT_CODES.find((code) => code === issue.params?.code) ?? 'invalid'
    default:
      return 'invalid'
  }
}

/** The message of an issue for which the schema has none. It never quotes the value, which may be a secret. */
function defaultMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const isMissing = issue.input === undefined
  switch (issue.code) {
    case 'invalid_type':
      return isMissing
        ? 'is missing'
        : `must be ${TYPES[issue.expected as string] ?? `of the type ${issue.expected}`}`
    case 'invalid_value': {
      if (isMissing) return 'is missing'
      const values = (issue.values as readonly unknown[]).map((value) => JSON.stringify(value))
      if (values.length === 1) return `must be ${values[0]}`
      return `must be one of ${values.join(', ')}${meantValue(issue.input, issue.values)}`
    }
    case 'too_small':
      return bound(issue.origin as string, 'at least', Number(issue.minimum), issue.inclusive !== false)
    case 'too_big':
      return bound(issue.origin as string, 'at most', Number(issue.maximum), issue.inclusive !== false)
    case 'invalid_format':
      return `must be ${FORMATS[issue.format as string] ?? 'in the form that is described in /docs'}`
    case 'invalid_union':
      return 'has none of the accepted forms; /docs describes them'
    case 'invalid_key':
      return 'has a name that is not allowed here'
    default:
      return undefined
  }
}

/** The allowed value that was probably meant. Only allowed values are quoted. */
function meantValue(input: unknown, values: unknown): string {
  const known = (values as readonly unknown[]).filter((value) => typeof value === 'string')
  const meant = typeof input === 'string' ? nearest(input, known) : undefined
  return meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
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

/** A name that the sender chose: shortened, and without characters that a log line or a header cannot hold. */
function printable(name: string): string {
  const plain = name.replaceAll(/[\p{C}"\\]/gu, '?')
  return plain.length > 120 ? `${plain.slice(0, 119)}…` : plain
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
