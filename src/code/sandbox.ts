import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { EpochSeconds } from '../domain/clock.ts'
import { jsonText, LARGE_BYTES, LargeJson } from '../tools/large-json.ts'
import { inThread, threadTask } from '../tools/thread-pool.ts'
import { type CallError, type CodeError, outOfMemory, timedOut } from './code-error.ts'
import { type CodeLimits, MAX_ANSWER_CHARACTERS, MAX_DEPTH } from './limits.ts'
import { nestsTooDeep } from './nesting.ts'
import { createOutput, readOutput } from './output.ts'
import { type ReadValue, run } from './read-value-task.ts'
import type { Ask, Ended, FromThread, Language, ThreadData, ToThread } from './thread-messages.ts'

// Runs code where it can do no harm. QuickJS, compiled to WebAssembly, runs in a thread of its own: endless loops, memory
// bombs and crashes of the interpreter are the thread's, which is ended from here, whatever it does. The thread has no
// environment, no token and no way to anything but `onAsk`; all that the code makes is JSON text of a bounded length.

export interface SandboxOptions<Stop> {
  readonly language: Language
  readonly limits: CodeLimits
  /** The one time the code sees. */
  readonly now: EpochSeconds
  /** What the code wants of the broker; it runs in the context of whoever called. `signal`: nobody waits any more. */
  onAsk(what: Ask, payload: unknown, signal: AbortSignal): Promise<Reply<Stop>>
  /** Ends the run as cancelled. */
  readonly signal?: AbortSignal | undefined
}

export type Reply<Stop> =
  | { readonly reply: 'value'; readonly value: unknown }
  /** The code can catch it. */
  | { readonly reply: 'error'; readonly error: CallError }
  /** Ends the run; the code is not told. */
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

/** The thread keeps to the time too; this is for one that cannot. */
const GRACE_MS = 250
/** To start a thread on a busy machine. */
const START_MS = 30_000
/**
 * V8's own in the thread, besides what QuickJS has: texts on their way, and the interpreter's deep frames. It must never
 * come to that: V8 may end the whole process for a thread without memory. So no JSON of the code's is parsed there, and
 * every text has its most.
 */
const RESOURCES = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 }
/** A checkout runs its sources, a published package what was built from them. */
const THREAD = new URL(`./sandbox-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

/** Answers once the thread has ended, for whatever reason. Throws where the sandbox itself could not be started. */
export async function runInSandbox<Stop>(
  code: string,
  options: SandboxOptions<Stop>,
): Promise<SandboxRun<Stop>> {
  const { language, limits, now, signal, onAsk } = options
  const data: ThreadData = {
    code,
    language,
    quickjs: await compiled(),
    timeoutMs: limits.timeoutMs,
    memoryMb: limits.memoryMb,
    toolCalls: limits.toolCalls,
    now,
    stdout: createOutput(),
    stderr: createOutput(),
  }
  const begun = performance.now()
  const { promise: ending, resolve: end, reject } = Promise.withResolvers<SandboxEnd<Stop>>()
  const fail = (error: CodeError) => end({ outcome: 'error', error })
  const nobodyWaits = new AbortController()
  const inCallersContext = AsyncLocalStorage.snapshot()

  const onAbort = () => fail(CANCELLED)
  if (signal?.aborted === true) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })

  const thread = new Worker(THREAD, {
    name: 'gatepass code',
    workerData: data,
    resourceLimits: RESOURCES,
    // nothing of the broker's; what the thread prints is for nobody
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  thread.unref()
  let hasStarted = false
  let timer = setTimeout(() => reject(new Error('A sandbox did not start in time.')), START_MS)

  async function answer({ id, what, payload }: Extract<FromThread, { tell: 'asks' }>): Promise<void> {
    const given = readJson(payload)
    if (given === undefined) return fail(BROKEN)
    const reply: Reply<Stop> = nestsTooDeep(given)
      ? { reply: 'error', error: TOO_DEEP }
      : await onAsk(what, given, nobodyWaits.signal)
    if (reply.reply === 'stop') return end({ outcome: 'stopped', stop: reply.stop })
    thread.postMessage({ id, answer: toAnswer(reply) } satisfies ToThread)
  }

  thread.on('message', (message: FromThread) => {
    switch (message.tell) {
      case 'started':
        hasStarted = true
        clearTimeout(timer)
        timer = setTimeout(() => fail(timedOut(limits.timeoutMs)), limits.timeoutMs + GRACE_MS)
        break
      case 'asks':
        inCallersContext(() => answer(message)).catch(reject)
        break
      case 'ended':
        toEnd(message.ended).then(end, reject)
        break
    }
  })
  thread.on('error', (error: Error & { readonly code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') fail(outOfMemory(limits.memoryMb))
    else if (hasStarted) fail(BROKEN)
    else reject(error)
  })
  thread.on('exit', () =>
    hasStarted ? fail(BROKEN) : reject(new Error('A sandbox ended before it started.')),
  )

  let ended: SandboxEnd<Stop>
  try {
    ended = await ending
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    nobodyWaits.abort()
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

/** A value that is large is looked at in a thread, and goes on as its text. */
async function toEnd(ended: Ended): Promise<Exclude<SandboxEnd<never>, { outcome: 'stopped' }>> {
  if (ended.outcome === 'error') return ended
  const { told } = ended
  const read = told.length > LARGE_BYTES ? await inThread(readValue, told) : run(told, [])
  if (read.outcome !== 'value')
    return { outcome: 'error', error: read.outcome === 'broken' ? BROKEN : VALUE_TOO_DEEP }
  const { value } = read
  return { outcome: 'value', value: value.length > LARGE_BYTES ? new LargeJson(value) : parseJson(value) }
}

function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** QuickJS writes JSON, unless it has been broken: then nothing it says is taken. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

let compilation: Promise<WebAssembly.Module> | undefined

/** Compiled once for all threads. */
function compiled(): Promise<WebAssembly.Module> {
  compilation ??= readFile(
    createRequire(import.meta.url).resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'),
  ).then((bytes) => WebAssembly.compile(bytes))
  return compilation
}

const CANCELLED: CodeError = { kind: 'cancelled', message: 'Nobody waits for the code any more.' }
const BROKEN: CodeError = {
  kind: 'sandbox_violation',
  message: 'The code brought its sandbox down, and was ended with it.',
}
const VALUE_TOO_DEEP: CodeError = {
  kind: 'output_limit',
  message: `The code returns a value that nests deeper than ${MAX_DEPTH} levels of arrays and objects.`,
}
const TOO_DEEP: CallError = {
  kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
  message: `The arguments nest deeper than ${MAX_DEPTH} levels of arrays and objects.`,
  canRetry: false,
}
const TOO_LARGE: CallError = {
  kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
  message: `The answer is more than ${MAX_ANSWER_CHARACTERS} characters of JSON, which code is not given.`,
  canRetry: false,
}
