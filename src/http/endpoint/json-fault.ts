/** The first place where a text is not JSON, and what JSON would have there. Line and column count from 1. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly expected: string
}

const SPACE = /[\t\n\r ]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y
const WORD = /(?:true|false|null)(?!\w)/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

type Expected =
  | 'a value'
  | 'a member name in double quotes'
  | '":"'
  | '"," or "}"'
  | '"," or "]"'
  | 'nothing more'

/**
 * Finds the fault that made `JSON.parse` fail, because its own message quotes the text, which may hold secrets, and does
 * not always name the place. Takes time linear in the text and does not recurse. Returns `undefined` for JSON (RFC 8259).
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const closers: ('}' | ']')[] = []
  let expected = 'a value' as Expected // without `as`, TypeScript would not see that a closure assigns other values
  let mayClose = false
  let at = 0

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.test(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const fault = (what: string = expected): JsonFault => {
    const before = text.slice(0, at)
    return {
      line: before.split('\n').length,
      column: at - before.lastIndexOf('\n'),
      expected: at >= text.length && what !== 'nothing more' ? `${what}, but the text ends` : what,
    }
  }
  /** Moves past the string. Returns what is expected at its first fault, `undefined` if the string has none. */
  const skipString = (): string | undefined => {
    for (at++; at < text.length; ) {
      const code = text.charCodeAt(at)
      if (code === 0x22) {
        at++
        return undefined
      }
      if (code < 0x20) return 'an escape in place of a control character'
      if (code !== 0x5c) at++
      else if (!skip(ESCAPE)) return 'an escape such as \\" or \\n'
    }
    return 'the end of the string'
  }
  const afterValue = () => {
    const closer = closers.at(-1)
    expected = closer === undefined ? 'nothing more' : closer === '}' ? '"," or "}"' : '"," or "]"'
    mayClose = closer !== undefined
  }

  for (;;) {
    skip(SPACE)
    const char = text[at]
    if (char === undefined) return expected === 'nothing more' ? undefined : fault()
    if (mayClose && char === closers.at(-1)) {
      closers.pop()
      at++
      afterValue()
      continue
    }
    mayClose = false
    switch (expected) {
      case 'nothing more':
        return fault()
      case '":"':
        if (char !== ':') return fault()
        at++
        expected = 'a value'
        break
      case '"," or "}"':
      case '"," or "]"':
        if (char !== ',') return fault()
        at++
        expected = closers.at(-1) === '}' ? 'a member name in double quotes' : 'a value'
        break
      case 'a member name in double quotes': {
        const wrong = char === '"' ? skipString() : expected
        if (wrong !== undefined) return fault(wrong)
        expected = '":"'
        break
      }
      case 'a value':
        if (char === '{' || char === '[') {
          closers.push(char === '{' ? '}' : ']')
          at++
          expected = char === '{' ? 'a member name in double quotes' : 'a value'
          mayClose = true
        } else if (char === '"') {
          const wrong = skipString()
          if (wrong !== undefined) return fault(wrong)
          afterValue()
        } else if (skip(NUMBER) || skip(WORD)) afterValue()
        else return fault()
    }
  }
}
