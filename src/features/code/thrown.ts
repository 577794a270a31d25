import { type CodeError, MAX_MESSAGE_CHARACTERS } from './code-error.ts'
import { MAX_VALUE_CHARACTERS } from './limits.ts'
import { placeOf } from './script.ts'

/** An error that the code has thrown, as text. The code can choose every part of it. */
export interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack: string
}

/** Translates an error that the code threw. Returns `outOfMemory` if the code threw because its memory was full. */
export function toCodeError(
  { name, message, stack }: Thrown,
  outOfMemory: CodeError,
  isMemoryFull: boolean,
): CodeError {
  if (name === 'InternalError' && message === 'out of memory') return outOfMemory
  // QuickJS throws null when there is no memory left for an error object
  if (name === '' && message === 'null' && isMemoryFull) return outOfMemory
  const text =
    name === '' ? `The code threw ${message || 'a value that cannot be read'}` : `${name}: ${message}`
  return { kind: 'code_error', message: text.slice(0, MAX_MESSAGE_CHARACTERS), ...placeOf(stack) }
}

export const tooLargeValue = (characters: number): CodeError => ({
  kind: 'output_limit',
  message: `The code returns ${characters} characters of JSON; at most ${MAX_VALUE_CHARACTERS} are allowed. Return less.`,
})

export const STALLED: CodeError = {
  kind: 'code_error',
  message:
    'The code awaits a promise that nothing can settle anymore: no tool call is under way and nothing is left to run.',
}
