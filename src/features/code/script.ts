import { stripTypeScriptTypes } from 'node:module'
import { type CodeError, MAX_MESSAGE_CHARACTERS } from './code-error.ts'
import type { Language } from './thread-messages.ts'

/** JavaScript that evaluates to an async function with the code as its body. */
export interface Script {
  readonly outcome: 'script'
  readonly source: string
  /** The file name in stack traces. */
  readonly fileName: string
}

/** Written on the same line as the first line of the code, so that line numbers stay the same. */
const HEAD = '(async () => {'

/** Erases the types of TypeScript in place. Syntax that needs a transformation (`enum`, `namespace`) is refused. */
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

/** The position of the first stack frame that is in the code, counted from 1. */
export function placeOf(stack: string): { line?: number; column?: number } {
  // nine digits at most, because the code can set `stack` to any text
  const [, line, column] = /\bcode\.[jt]s:(\d{1,9})\b(?::(\d{1,9})\b)?/.exec(stack)?.map(Number) ?? []
  if (line === undefined) return {}
  if (column === undefined || Number.isNaN(column)) return { line }
  return { line, column: line === 1 ? Math.max(1, column - HEAD.length) : column }
}
