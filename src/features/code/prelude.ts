/** What the host provides to the prelude. Strings that the two exchange are JSON. */
export interface PreludeHost {
  /** The global object of the sandbox. */
  readonly global: object
  /** Sends a request and returns its number. The host later calls `settle` with that number. */
  ask(what: string, payload: string): number
  write(stream: 'stdout' | 'stderr', text: string): void
  random(): number
  /** The limit of characters in one printed line. */
  readonly maxLine: number
  /** The limit of characters for an error's name, message and stack each. */
  readonly maxError: number
  /** The limit of characters for the JSON of the returned value. */
  readonly maxValue: number
}

/** What the prelude returns to the host. */
export interface Prelude {
  /** Resolves with the JSON of a `CodeOutcome`. */
  run(code: () => Promise<unknown>): Promise<string>
  /** `answer`: JSON, `{ value }` or `{ error }`. */
  settle(id: number, answer: string): void
}

/** How the code ended. */
export type CodeOutcome =
  | { readonly value: unknown }
  | { readonly tooLarge: number }
  | { readonly thrown: { readonly name: string; readonly message: string; readonly stack: string } }

/**
 * Runs inside of the sandbox before the code: it defines `tools` and `console` and returns the functions that run the
 * code. It is no security boundary. It keeps its own references to the built-ins that it uses, so that code which
 * changes them does not break it by accident. The sandbox gets it as source text, so it cannot use imports of this
 * file.
 */
export function prelude(host: PreludeHost): Prelude {
  const { global, ask, write, random, maxLine, maxError, maxValue } = host
  const { stringify, parse } = JSON
  const { freeze, defineProperty, create, assign, hasOwn } = Object
  const toText = String
  const BaseError = Error
  const BaseTypeError = TypeError
  const BasePromise = Promise
  const cut: (whole: string, start: number, end: number) => string = Function.prototype.call.bind(
    String.prototype.slice,
  )

  /** Returns JSON. The copy has no prototype, so a `toJSON` that the code adds to `Object.prototype` is not called. */
  const json = (members: object): string => stringify(assign(create(null), members))

  class ToolError extends BaseError {
    readonly kind: string
    readonly canRetry: boolean
    constructor({ kind, message, canRetry }: { kind: string; message: string; canRetry: boolean }) {
      super(message)
      this.kind = kind
      this.canRetry = canRetry
    }
  }
  defineProperty(ToolError.prototype, 'name', { value: 'ToolError' })

  const waiting: Record<number, (answer: string) => void> = create(null)
  const settle = (id: number, answer: string): void => {
    waiting[id]?.(answer)
    delete waiting[id]
  }

  const reply = (what: string, payload: object): Promise<string> => {
    const id = ask(what, json(payload))
    return new BasePromise((resolve) => {
      waiting[id] = resolve
    })
  }

  const request = async (what: string, payload: object): Promise<unknown> => {
    const { stack } = new BaseError() // the stack of the caller, which is gone when the answer arrives
    return unwrapped(await reply(what, payload), stack)
  }

  /** The value of an answer. Throws a `ToolError` with the given stack if the answer is an error. */
  const unwrapped = (answerJson: string, stack: string | undefined): unknown => {
    const answer = parse(answerJson)
    if (!hasOwn(answer, 'error')) return answer.value
    const error = new ToolError(answer.error)
    defineProperty(error, 'stack', { value: stack, writable: true, configurable: true })
    throw error
  }

  /** The answer to the only `list` request. */
  let catalogue: Promise<string> | undefined

  const checkedToolId = (id: unknown): string => {
    if (typeof id !== 'string') throw new BaseTypeError('A tool is called by its id, which is a string.')
    return id
  }

  const tools = freeze({
    call: async (id: unknown, args: unknown = {}) => request('call', { toolId: checkedToolId(id), args }),
    chain: async (steps: unknown) => request('chain', { steps }),
    list: async () => {
      const { stack } = new BaseError()
      catalogue ??= reply('list', {})
      return unwrapped(await catalogue, stack)
    },
  })

  /** The text of what `read` returns; empty if it throws. */
  const safeText = (read: () => unknown): string => {
    try {
      return toText(read())
    } catch {
      return ''
    }
  }

  const printed = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (value instanceof BaseError) return safeText(() => `${value.name}: ${value.message}`)
    try {
      const written = typeof value === 'object' ? stringify(value) : undefined
      if (written !== undefined) return written
    } catch {
      // a cycle, or a getter that throws: only the type is shown
    }
    return safeText(() => value)
  }

  const printer =
    (stream: 'stdout' | 'stderr') =>
    (...values: unknown[]): void => {
      let line = ''
      for (let i = 0; i < values.length && line.length < maxLine; i++)
        line += (i === 0 ? '' : ' ') + printed(values[i])
      write(stream, stringify(`${cut(line, 0, maxLine)}\n`))
    }
  const out = printer('stdout')
  const err = printer('stderr')

  const globals = {
    tools,
    console: { log: out, info: out, debug: out, dir: out, warn: err, error: err, trace: err },
  }
  for (const [name, value] of Object.entries(globals))
    defineProperty(global, name, { value, writable: true, configurable: true })
  defineProperty(Math, 'random', { value: random, writable: true, configurable: true })

  const run: Prelude['run'] = async (code) => {
    try {
      const value = stringify(await code()) ?? 'null'
      return value.length > maxValue ? json({ tooLarge: value.length }) : `{"value":${value}}`
    } catch (error) {
      const isError = error instanceof BaseError
      const part = (read: () => unknown) => cut(safeText(read), 0, maxError)
      return json({
        thrown: assign(create(null), {
          name: isError ? part(() => error.name) : '',
          message: isError ? part(() => error.message) : cut(printed(error), 0, maxError),
          stack: isError ? part(() => error.stack) : '',
        }),
      })
    }
  }
  return { run, settle }
}
