import { type Command, InvalidArgumentError } from 'commander'
import { EVENT_TYPES, type EventType } from '../domain/webhook.ts'

/** The option for types of events. */
export function withTypes(command: Command): Command {
  return command.option(
    '--types <types>',
    'only these events, separated by commas; all: every event',
    parseTypes,
  )
}

function parseTypes(text: string): readonly EventType[] {
  if (text.trim() === 'all') return EVENT_TYPES
  const names = text.split(/[\s,]+/).filter(Boolean)
  const unknown = names.find((name) => !EVENT_TYPES.some((type) => type === name))
  if (names.length === 0 || unknown !== undefined)
    throw new InvalidArgumentError(
      `${unknown === undefined ? 'Name at least one' : `There is no event "${unknown}"`}: ${EVENT_TYPES.join(', ')}.`,
    )
  return EVENT_TYPES.filter((type) => names.includes(type))
}
