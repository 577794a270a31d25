import { stripTypeScriptTypes } from 'node:module'
import { type CodeError, MAX_MESSAGE_CHARACTERS } from './code-error.ts'
import type { Language } from './thread-messages.ts'

/** JavaScript whose value is the async function that the code is the body of. */
export interface Script {
  readonly outcome: 'script'
  readonly source: string
  /** As stack traces have it. */
  readonly fileName: string
}

/** On one line with the code's first, so that its lines keep their numbers. */
const HEAD = '(async () => {'

/** Takes the types out of TypeScript, in place: only what can be erased is taken, no `enum` or `namespace`. */
export function toScript(
  code: string,
  language: Language,
): Script | { readonly outcome: 'error'; readonly error: CodeError } {
  const source = `${HEAD}${code}\n})`
  if (language === 'javascript') return { outcome: 'script', source, fileName: 'code.js' }
  try {
    return { outcome: 'script', source: stripTypeScriptTypes(source), fileName: 'code.ts' }
  } catch (error) {
    const { message, stack = '' } = error instanceof SyntaxError ? error : UNREADABLE
    const line = Number(/^[^\n]*:(\d+)\n/.exec(stack)?.[1])
    return {
      outcome: 'error',
      error: {
        kind: 'code_error',
        message: `SyntaxError: ${message}`.slice(0, MAX_MESSAGE_CHARACTERS),
        ...(line > 0 && { line }),
      },
    }
  }
}

const UNREADABLE = { message: 'the code nests too deep, or cannot be read', stack: '' }

/** Where in the code the stack trace begins, counted from 1. */
export function placeOf(stack: string): { line?: number; column?: number } {
  const [, line, column] = /\bcode\.[jt]s:(\d+)(?::(\d+))?/.exec(stack)?.map(Number) ?? []
  if (line === undefined) return {}
  if (column === undefined || Number.isNaN(column)) return { line }
  return { line, column: line === 1 ? Math.max(1, column - HEAD.length) : column }
}
