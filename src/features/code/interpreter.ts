import wasmfile from '@jitl/quickjs-ng-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core'
import type { CodeError } from './code-error.ts'
import { CALLS_AT_ONCE, MAX_ARGUMENT_CHARACTERS, MAX_OUTPUT_BYTES, MAX_VALUE_CHARACTERS } from './limits.ts'
import { type CodeOutcome, prelude } from './prelude.ts'
import type { Script } from './script.ts'
import { type Ended, REQUEST_KINDS, type RequestKind } from './thread-messages.ts'
import { STALLED, toCodeError, tooLargeValue } from './thrown.ts'

type Stream = 'stdout' | 'stderr'

export interface InterpreterOptions {
  readonly quickjs: WebAssembly.Module
  readonly memoryMb: number
  readonly maxRequests: number
  readonly tooManyRequests: CodeError
  readonly outOfMemory: CodeError
  readonly timedOut: CodeError
  /** QuickJS calls it again and again while code runs; `true` interrupts the code. */
  readonly isOver: () => boolean
  readonly random: () => number
  readonly write: (stream: Stream, text: string) => void
  /** Whether the stream's limit is reached. */
  readonly isFull: (stream: Stream) => boolean
  /** At most `CALLS_AT_ONCE` requests are unanswered at a time. `payload` is JSON from the code and not trusted. */
  readonly onRequest: (id: number, what: RequestKind, payload: string) => void
  /** Called when the code waits for answers; `answers`: how many it has got. */
  readonly onIdle: (answers: number) => void
  /** Called once. */
  readonly onEnded: (ended: Ended) => void
}

export interface Interpreter {
  run(script: Script): void
  answer(id: number, answer: string): void
}

/** The types of the package describe its CommonJS build, where `default` is nested one level deeper. */
const VARIANT = wasmfile as unknown as QuickJSSyncVariant
const MIB = 1024 * 1024
const PAGES_PER_MIB = 16
/** The initial memory of QuickJS: its stack and its own data. */
const FIRST_MIB = 16
/** Memory beyond the limit of the code: the initial memory, and fragmentation. WebAssembly memory cannot grow further. */
const SPARE_MIB = 32
/**
 * The stack of the code, inside the WebAssembly memory. The thread's own stack, for the interpreter, is much larger.
 */
const STACK_BYTES = 256 * 1024
/** WebAssembly memory that has grown to this share of its maximum counts as full. */
const FULL_SHARE = 0.9
const MAX_ERROR_CHARACTERS = 4_000
const MAX_OUTCOME_CHARACTERS = MAX_VALUE_CHARACTERS + 1024

/**
 * QuickJS in WebAssembly, with one context for one run. Everything that leaves it is text of a limited length. Functions
 * of the library that read a thrown value are not used, because the value may be hostile.
 */
export async function openInterpreter(options: InterpreterOptions): Promise<Interpreter> {
  const { memoryMb, onEnded } = options
  const memory = new WebAssembly.Memory({
    initial: FIRST_MIB * PAGES_PER_MIB,
    maximum: (memoryMb + SPARE_MIB) * PAGES_PER_MIB,
  })
  const quickjs = await newQuickJSWASMModuleFromVariant(
    newVariant(VARIANT, { wasmModule: options.quickjs, wasmMemory: memory }),
  )
  const runtime = quickjs.newRuntime({
    memoryLimitBytes: memoryMb * MIB,
    maxStackSizeBytes: STACK_BYTES,
    interruptHandler: options.isOver,
  })
  const context = runtime.newContext()
  const queue: { readonly id: number; readonly what: RequestKind; readonly payload: QuickJSHandle }[] = []
  let requestCount = 0
  let underWay = 0
  let answers = 0
  let hasEnded = false
  /** The result of the code's promise, while calls that the code did not await are still running. */
  let returned: Ended | undefined

  const isMemoryFull = () => memory.buffer.byteLength >= (memoryMb + SPARE_MIB) * MIB * FULL_SHARE

  function end(ended: Ended): void {
    if (hasEnded) return
    hasEnded = true
    onEnded(ended)
  }
  const fail = (error: CodeError) => end({ outcome: 'error', error })

  /** `undefined` for a value that is not a string, or that is longer than `maxLength`. */
  function read(handle: QuickJSHandle, maxLength: number): string | undefined {
    if (context.typeof(handle) !== 'string') return undefined
    const length = context.getProp(handle, 'length').consume((property) => context.getNumber(property))
    return length > maxLength ? undefined : context.getString(handle)
  }

  const ask = context.newFunction('ask', (whatHandle, payload) => {
    const what = REQUEST_KINDS.find((known) => known === read(whatHandle, 10))
    const id = ++requestCount
    if (id > options.maxRequests) fail(options.tooManyRequests)
    else if (what !== undefined && !hasEnded) queue.push({ id, what, payload: payload.dup() })
    return context.newNumber(id)
  })
  const write = context.newFunction('write', (streamHandle, textHandle) => {
    const stream = read(streamHandle, 10) === 'stderr' ? 'stderr' : 'stdout'
    if (options.isFull(stream)) return
    const text = read(textHandle, MAX_OUTPUT_BYTES * 6 + 10) // JSON writes one character as six at most (\u0000)
    if (text !== undefined) options.write(stream, JSON.parse(text))
  })
  const random = context.newFunction('random', () => context.newNumber(options.random()))

  function call(fn: QuickJSHandle, ...given: QuickJSHandle[]): QuickJSHandle | undefined {
    const result = context.callFunction(fn, context.undefined, given)
    if (result.error === undefined) return result.value
    result.error.dispose()
    return undefined
  }

  const host = context.newObject()
  for (const [name, member] of Object.entries({
    global: context.global,
    ask,
    write,
    random,
    maxLine: context.newNumber(MAX_OUTPUT_BYTES),
    maxError: context.newNumber(MAX_ERROR_CHARACTERS),
    maxValue: context.newNumber(MAX_VALUE_CHARACTERS),
  }))
    context.setProp(host, name, member)
  const made = context.evalCode(`(${prelude.toString()})`, 'prelude.js', { type: 'global' })
  const started = made.error === undefined ? call(made.value, host) : undefined
  if (started === undefined) throw new Error('QuickJS could not run its prelude.')
  const [run, settle] = [context.getProp(started, 'run'), context.getProp(started, 'settle')]
  let promise: QuickJSHandle | undefined

  /** Runs all pending jobs, then sends queued requests, then ends the run if nothing is left. */
  function advance(): void {
    do {
      if (!runJobs()) fail(options.timedOut)
    } while (!hasEnded && sendQueued())
    returned ??= readOutcome()
    if (returned === undefined) {
      if (underWay === 0) fail(STALLED)
    } else if (returned.outcome === 'error' || underWay === 0) end(returned)
    // else the code has returned a value, and the run waits for calls that the code did not await
    if (!hasEnded) options.onIdle(answers)
  }

  /** Runs all pending jobs. Returns `false` if the time limit ended them. */
  function runJobs(): boolean {
    for (;;) {
      const jobs = runtime.executePendingJobs()
      if (options.isOver()) return false
      if (jobs.error === undefined) return true
      jobs.error.dispose() // an error that the code cannot catch, such as one in queueMicrotask
    }
  }

  /** Sends queued requests. Returns `true` if one was refused at once, so that there are new jobs to run. */
  function sendQueued(): boolean {
    while (underWay < CALLS_AT_ONCE) {
      const next = queue.shift()
      if (next === undefined) return false
      const payload = read(next.payload, MAX_ARGUMENT_CHARACTERS)
      next.payload.dispose()
      if (payload === undefined) {
        settleWith(next.id, TOO_LONG)
        return true
      }
      underWay++
      options.onRequest(next.id, next.what, payload)
    }
    return false
  }

  function settleWith(id: number, answer: string): void {
    const [idHandle, answerHandle] = [context.newNumber(id), context.newString(answer)]
    call(settle, idHandle, answerHandle)?.dispose()
    idHandle.dispose()
    answerHandle.dispose()
  }

  /** How the code ended; `undefined` while it runs. */
  function readOutcome(): Ended | undefined {
    if (promise === undefined) return undefined
    const state = context.getPromiseState(promise)
    if (state.type === 'pending') return undefined
    const text = state.type === 'fulfilled' ? read(state.value, MAX_OUTCOME_CHARACTERS) : undefined
    // the value is not parsed here: a megabyte of JSON can exceed the thread's memory, and V8 would end the process
    if (text?.startsWith('{"value":')) return { outcome: 'value', json: text }
    const outcome: CodeOutcome = text === undefined ? NO_OUTCOME : JSON.parse(text)
    const error =
      'tooLarge' in outcome
        ? tooLargeValue(outcome.tooLarge)
        : toCodeError('thrown' in outcome ? outcome.thrown : NO_ERROR, options.outOfMemory, isMemoryFull())
    return { outcome: 'error', error }
  }

  return {
    run({ source, fileName }) {
      const code = context.evalCode(source, fileName, { type: 'global' })
      if (code.error !== undefined) {
        const part = (name: string) => read(context.getProp(code.error, name), MAX_OUTPUT_BYTES) ?? ''
        const thrown = { name: part('name'), message: part('message') || 'null', stack: part('stack') }
        if (options.isOver()) return fail(options.timedOut)
        return fail(toCodeError(thrown, options.outOfMemory, isMemoryFull()))
      }
      promise = call(run, code.value)
      if (promise === undefined) return fail(options.isOver() ? options.timedOut : options.outOfMemory)
      advance()
    },
    answer(id, answer) {
      if (hasEnded) return
      underWay--
      answers++
      settleWith(id, answer)
      advance()
    },
  }
}

const TOO_LONG = JSON.stringify({
  error: {
    kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
    message: `The arguments are more than ${MAX_ARGUMENT_CHARACTERS} characters of JSON. Send less.`,
    canRetry: false,
  },
})

/** For a failure of the prelude itself. */
const NO_ERROR = { name: '', message: 'null', stack: '' }
const NO_OUTCOME: CodeOutcome = { thrown: NO_ERROR }
