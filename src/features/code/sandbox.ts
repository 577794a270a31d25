import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { EpochSeconds } from '../../domain/clock.ts'
import { jsonText, LARGE_BYTES, LargeJson } from '../../tools/large-json.ts'
import { inThread, ThreadFault, threadTask } from '../../tools/thread-pool.ts'
import { type CallError, type CodeError, outOfMemory, timedOut } from './code-error.ts'
import { type CodeLimits, MAX_ANSWER_CHARACTERS, MAX_DEPTH } from './limits.ts'
import { nestsTooDeep } from './nesting.ts'
import { createOutput, readOutput } from './output.ts'
import { run as checkValue, type ReadValue } from './read-value-task.ts'
import type { Ended, FromThread, Language, RequestKind, ThreadData, ToThread } from './thread-messages.ts'

// Runs untrusted code. QuickJS, compiled to WebAssembly, runs in its own thread, so endless loops, memory bombs and crashes
// of the interpreter affect only that thread, and this file terminates it in every case. The thread has no environment
// variables, no token, and no access to anything but `onRequest`. All data from the code is JSON text of a limited length.

export interface SandboxOptions<Stop> {
  readonly language: Language
  readonly limits: CodeLimits
  /** The time that the code sees; it does not advance. */
  readonly now: EpochSeconds
  /** The seed of the random numbers that the code gets: `SEED_BYTES`. */
  readonly seed: Uint8Array
  /** Serves a request of the code, in the context of the caller. `signal` is aborted when the run has ended. */
  onRequest(request: SandboxRequest, signal: AbortSignal): Promise<Reply<Stop>>
  readonly order?: AnswerOrder | undefined
  /** Ends the run if the code waits for something that `order` will never let it have. */
  onStuck?(): Stop
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined
}

export interface SandboxRequest {
  /** Counted from 1 in the order in which the code asks. */
  readonly id: number
  readonly what: RequestKind
  readonly payload: unknown
  /** The JSON of the payload. */
  readonly text: string
}

/** Decides in which order the code gets its answers. */
export interface AnswerOrder {
  /** Resolves when the request may be answered; `undefined`: now. */
  turn(requestId: number): Promise<void> | undefined
  /** Called when the answer is sent. */
  sent(requestId: number): void
  /** Whether code that waits after so many answers waits forever, since the next one answers a request that it never made. */
  isStuck(answers: number): boolean
}

export type Reply<Stop> =
  | { readonly reply: 'value'; readonly value: unknown }
  /** An error that the code can catch. */
  | { readonly reply: 'error'; readonly error: CallError }
  /** Ends the run without an answer to the code. */
  | { readonly reply: 'stop'; readonly stop: Stop }

export interface SandboxRun<Stop> {
  readonly end: SandboxEnd<Stop>
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

export type SandboxEnd<Stop> =
  | { readonly outcome: 'value'; readonly value: unknown }
  | { readonly outcome: 'error'; readonly error: CodeError }
  | { readonly outcome: 'stopped'; readonly stop: Stop }

/** The thread enforces the time limit itself; after this grace period it is terminated. */
const GRACE_MS = 250
/** The time to start a thread on a busy machine. */
const START_MS = 30_000
/**
 * Limits of V8 in the thread, besides the memory of QuickJS: texts in transit, and deep frames of the interpreter. They
 * must never be reached, because V8 may end the whole process when a thread is out of memory. For that reason the thread
 * parses no JSON from the code, and every text has a limit.
 */
const RESOURCES = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 }
/** A checkout runs the sources, a published package the built files. */
const THREAD = new URL(`./sandbox-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

/** Resolves when the thread has ended, for any reason. Throws when the sandbox could not be started. */
export async function runInSandbox<Stop>(
  code: string,
  options: SandboxOptions<Stop>,
): Promise<SandboxRun<Stop>> {
  const { language, limits, now, seed, signal, onRequest, order, onStuck } = options
  const data: ThreadData = {
    code,
    language,
    quickjs: await compiled(),
    timeoutMs: limits.timeoutMs,
    memoryMb: limits.memoryMb,
    toolCalls: limits.toolCalls,
    now,
    seed,
    reportsIdle: onStuck !== undefined,
    stdout: createOutput(),
    stderr: createOutput(),
  }
  const begun = performance.now()
  const { promise: ending, resolve: end, reject } = Promise.withResolvers<SandboxEnd<Stop>>()
  const fail = (error: CodeError) => end({ outcome: 'error', error })
  const runEnded = new AbortController()
  const inCallersContext = AsyncLocalStorage.snapshot()

  const onAbort = () => fail(CANCELLED)
  if (signal?.aborted === true) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })

  const thread = new Worker(THREAD, {
    name: 'gatepass code',
    workerData: data,
    resourceLimits: RESOURCES,
    // no variables of the broker, and the thread's own output is discarded
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  thread.unref()
  let hasStarted = false
  let hasEnded = false
  let timer = setTimeout(() => reject(new Error('A sandbox did not start in time.')), START_MS)

  async function answer({ id, what, payload }: Extract<FromThread, { type: 'request' }>): Promise<void> {
    const request = readJson(payload)
    if (request === undefined) return fail(BROKEN)
    const reply: Reply<Stop> = nestsTooDeep(request)
      ? { reply: 'error', error: TOO_DEEP }
      : await onRequest({ id, what, payload: request, text: payload }, runEnded.signal)
    if (reply.reply === 'stop') return end({ outcome: 'stopped', stop: reply.stop })
    await order?.turn(id)
    order?.sent(id)
    thread.postMessage({ id, answer: toAnswer(reply) } satisfies ToThread)
  }

  thread.on('message', (message: FromThread) => {
    switch (message.type) {
      case 'started':
        hasStarted = true
        clearTimeout(timer)
        timer = setTimeout(() => fail(timedOut(limits.timeoutMs)), limits.timeoutMs + GRACE_MS)
        break
      case 'request':
        inCallersContext(() => answer(message)).catch(reject)
        break
      case 'idle':
        if (onStuck !== undefined && order?.isStuck(message.answers) === true)
          end({ outcome: 'stopped', stop: onStuck() })
        break
      case 'ended':
        hasEnded = true
        clearTimeout(timer) // the code has ended; a large value may still wait for a thread that reads it
        toEnd(message.ended).then(end, reject)
        break
    }
  })
  thread.on('error', (error: Error & { readonly code?: string }) => {
    if (hasEnded) return
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') fail(outOfMemory(limits.memoryMb))
    else if (hasStarted) fail(BROKEN)
    else reject(error)
  })
  thread.on('exit', () => {
    if (hasEnded) return
    if (hasStarted) fail(BROKEN)
    else reject(new Error('A sandbox ended before it started.'))
  })

  let ended: SandboxEnd<Stop>
  try {
    ended = await ending
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    runEnded.abort()
    await thread.terminate()
  }
  const { stdout, stderr } = data
  const durationMs = performance.now() - begun
  return { end: ended, stdout: readOutput(stdout), stderr: readOutput(stderr), durationMs }
}

function toAnswer(reply: Exclude<Reply<unknown>, { reply: 'stop' }>): string {
  if (reply.reply === 'error') return JSON.stringify({ error: reply.error })
  const answer = jsonText({ value: reply.value ?? null })
  return answer.length > MAX_ANSWER_CHARACTERS ? JSON.stringify({ error: TOO_LARGE }) : answer
}

const readValue = threadTask<string, ReadValue>('./read-value-task', import.meta.url)

/** A large value is checked in a thread and stays text. */
async function toEnd(ended: Ended): Promise<Exclude<SandboxEnd<never>, { outcome: 'stopped' }>> {
  if (ended.outcome === 'error') return ended
  const { json } = ended
  const read = json.length > LARGE_BYTES ? await readLarge(json) : checkValue(json, [])
  if (read instanceof ThreadFault) return { outcome: 'error', error: unreadValue(read.reason) }
  if (read.outcome !== 'value')
    return { outcome: 'error', error: read.outcome === 'broken' ? BROKEN : VALUE_TOO_DEEP }
  const { value } = read
  return { outcome: 'value', value: value.length > LARGE_BYTES ? new LargeJson(value) : parseJson(value) }
}

function readLarge(json: string): Promise<ReadValue | ThreadFault> {
  return inThread(readValue, json).catch((error: unknown) => {
    if (error instanceof ThreadFault) return error
    throw error
  })
}

function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** `undefined` for a text that is not JSON: QuickJS always writes JSON, unless code has corrupted it. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

let compilation: Promise<WebAssembly.Module> | undefined

/** QuickJS, compiled once for all threads. After a failure, such as too many open files, the next run tries again. */
function compiled(): Promise<WebAssembly.Module> {
  compilation ??= readFile(
    createRequire(import.meta.url).resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'),
  )
    .then((bytes) => WebAssembly.compile(bytes))
    .catch((error: unknown) => {
      compilation = undefined
      throw error
    })
  return compilation
}

const CANCELLED: CodeError = { kind: 'cancelled', message: 'The caller canceled the run.' }
const BROKEN: CodeError = {
  kind: 'sandbox_violation',
  message: 'The code crashed its sandbox, which ended the run.',
}
const VALUE_TOO_DEEP: CodeError = {
  kind: 'output_limit',
  message: `The code returns a value that nests deeper than ${MAX_DEPTH} levels of arrays and objects.`,
}
const unreadValue = (reason: ThreadFault['reason']): CodeError => ({
  kind: 'output_limit',
  message: `The code ran to its end, and the effects of its tool calls remain, but ${
    reason === 'busy'
      ? 'it returned a large value while too many others were being read'
      : 'it returned a value that takes too much time or memory to read'
  }.`,
})
const TOO_DEEP: CallError = {
  kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
  message: `The arguments nest deeper than ${MAX_DEPTH} levels of arrays and objects.`,
  canRetry: false,
}
const TOO_LARGE: CallError = {
  kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
  message: `The answer is longer than ${MAX_ANSWER_CHARACTERS} characters of JSON, the most that code is given.`,
  canRetry: false,
}
