import { type Command, InvalidArgumentError, Option } from 'commander'
import { didYouMean } from '../domain/nearest.ts'
import { isRecord } from '../parsing/json-record.ts'
import type { Operations } from '../sdk/generated/wire.ts'
import INPUTS from './generated/inputs.json' with { type: 'json' }
import { parseMoment, parseNames, parseWholeNumber } from './shell.ts'

// The options of a command that are members of an operation's input. Their names, choices, limits and help come from the
// schema of the operation, so a new member of the input is an option without a change here.

/** The schema of a member, as `npm run wire-types` writes it. Members that no option can hold are left out there. */
export interface InputMember {
  readonly type: 'string' | 'integer' | 'boolean' | 'array'
  readonly isRequired?: boolean
  readonly description?: string
  readonly format?: string
  /** The allowed values, or items of an array. */
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

type Id = keyof Operations
/** The members of the body; of the query, if the operation has no body. */
type Input<Of extends Id> = NonNullable<
  Operations[Of]['body'] extends undefined ? Operations[Of]['query'] : Operations[Of]['body']
>

/** What differs from the option that the schema gives. A text is the help; `false`: the member has no option. */
type OwnFlag<Value> = false | string | FlagDetails<Value>

interface FlagDetails<Value> {
  /** Such as `--user <id>`. */
  readonly flags?: string
  readonly help?: string
  /** Reads the value; `bySchema` reads it as the schema has it. Throws `InvalidArgumentError`. */
  readonly parse?: (text: string, bySchema: (text: string) => Value) => Value | undefined
  readonly default?: Value
}

type OwnFlags<Of extends Id> = {
  readonly [Name in keyof Input<Of>]?: OwnFlag<Exclude<Input<Of>[Name], undefined>>
}
type WithoutOption<Own> = { [Name in keyof Own]: Own[Name] extends false ? Name : never }[keyof Own]

/** The options of one command. */
export interface InputFlags<Read> {
  addTo(command: Command): Command
  /** The input that the options of the command line give, without the members that were not given. */
  read(options: object): Read
}

/** The options for the input of the operation. */
export function inputFlags<Of extends Id, const Own extends OwnFlags<Of>>(
  id: Of,
  own: Own,
): InputFlags<Omit<Input<Of>, WithoutOption<Own>>> {
  const members: Readonly<Record<string, InputMember>> = (INPUTS as Inputs)[id] ?? {}
  const options = Object.entries(members).flatMap(([name, member]) => {
    const flag = (own as Readonly<Record<string, OwnFlag<unknown>>>)[name]
    if (flag === false) return []
    const details = typeof flag === 'string' ? { help: flag } : (flag ?? {})
    return [{ name, option: optionOf(name, member, details) }]
  })
  return {
    addTo(command) {
      for (const { option } of options) command.addOption(option)
      return command
    },
    read(given) {
      const values = given as Readonly<Record<string, unknown>>
      const entries = options.map(
        ({ name, option }) => [name, unwrapped(values[option.attributeName()])] as const,
      )
      // each option was checked by the schema of its member
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as never
    },
  }
}

/** Commander takes `null` and `undefined` for missing values, so a value that `parse` has read is a member. */
function unwrapped(given: unknown): unknown {
  return isRecord(given) ? given.value : given
}

/** The help does not list more. */
const MOST_CHOICES = 12

type Inputs = Readonly<Record<string, Readonly<Record<string, InputMember>>>>

function optionOf(name: string, member: InputMember, details: FlagDetails<unknown>): Option {
  const { flags = flagsOf(name, member), help = helpOf(member), parse } = details
  const bySchema = (text: string) => parseValue(text, member)
  const option = new Option(flags, help)
  if (details.default !== undefined) option.default(details.default)
  if (member.isRequired) option.makeOptionMandatory()
  if (parse !== undefined) return option.argParser((text: string) => ({ value: parse(text, bySchema) }))
  const { type, enum: choices = [] } = member
  if (type === 'string' && choices.length > 0 && choices.length <= MOST_CHOICES)
    return option.choices(choices)
  return option.isBoolean() || option.variadic ? option : option.argParser(bySchema)
}

function flagsOf(name: string, { type }: InputMember): string {
  const flag = `--${name.replaceAll('_', '-')}`
  if (type === 'boolean') return flag
  return `${flag} <${{ string: 'text', integer: 'n', array: 'list' }[type]}>`
}

/** The description as other options have theirs: it begins with a small letter. */
function helpOf({ description = '', type, enum: choices }: InputMember): string {
  const help = description.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replaceAll('`', '')
  return type === 'array' && choices !== undefined && help === ''
    ? `comma-separated: ${choices.join(', ')}`
    : help
}

function parseValue(text: string, member: InputMember): unknown {
  if (member.type === 'integer') return parseInteger(text, member)
  if (member.type === 'array') return parseItems(text, member)
  if (member.enum !== undefined) return parseChoice(text, member.enum)
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = member
  // nearly always an unset shell variable
  if (minLength > 0 && text.trim() === '') throw new InvalidArgumentError('It is empty.')
  if (text.length > maxLength) throw new InvalidArgumentError(`Give at most ${maxLength} characters.`)
  return format === 'date-time' ? parseMoment(text) : text
}

function parseInteger(text: string, { minimum = 0, maximum }: InputMember): number {
  const value = parseWholeNumber(text)
  if (value >= minimum && value <= (maximum ?? value)) return value
  throw new InvalidArgumentError(
    maximum === undefined ? `Give ${minimum} or more.` : `Give a number from ${minimum} to ${maximum}.`,
  )
}

function parseItems(text: string, { enum: choices }: InputMember): readonly string[] {
  const items = new Set(parseNames(text))
  return choices === undefined ? [...items] : Array.from(items, (item) => parseChoice(item, choices))
}

function parseChoice(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw new InvalidArgumentError(
    `There is no "${text}".${didYouMean(text, choices)} Choose one of ${choices.join(', ')}.`,
  )
}
