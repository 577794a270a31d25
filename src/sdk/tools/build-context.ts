import { allAuths, authName } from './auth.ts'
import { LOG_LEVELS, type LogLevel, type ToolContext } from './context.ts'
import { elicit, type Form } from './elicit.ts'
import { ContextRequiredError } from './errors.ts'
import { toJsonText } from './json-value.ts'
import type { ConsentMissing, ListKind, OuterRun, RunnableTool, ToolRun } from './run.ts'

/** A run that has begun. */
export interface Running extends OuterRun {
  /** Ends the run, because a tool that it called lacks the user's consent. */
  lacksConsent(missing: ConsentMissing): void
}

/** Length of one log line, in characters. */
const MAX_LOG_LENGTH = 10_000

/** Makes the context that a handler is given. */
export function buildContext(
  tool: RunnableTool,
  input: never,
  run: ToolRun,
  running: Running,
): ToolContext<never, string, never> {
  const { name, options, app } = tool
  const names = allAuths(options.requiresAuth).map(authName)
  const held = names.filter((candidate) => run.authorizations[candidate] !== undefined)
  const first = held[0] === undefined ? undefined : run.authorizations[held[0]]
  const least = LOG_LEVELS.indexOf(app?.logLevel ?? 'debug')
  const log = (level: LogLevel) => async (message: string) => {
    if (LOG_LEVELS.indexOf(level) < least) return
    await notify(() => run.log?.(level, String(message).slice(0, MAX_LOG_LENGTH)))
  }
  const listChanged = (list: ListKind) => ({ listChanged: () => notify(() => run.listChanged?.(list)) })

  /** Sends a notification. Never rejects, so a handler need not await it. */
  async function notify(send: () => void | Promise<void>): Promise<void> {
    if (running.signal.aborted) return
    try {
      await send()
    } catch {
      // the caller has disconnected, which aborts `signal`
    }
  }

  /**
   * Calls `ask` unless the run has ended. A handler need not await the promise: its rejection does not end the process.
   */
  function whileRunning<Value>(ask: () => Promise<Value>): Promise<Value> {
    const answer = running.signal.aborted ? Promise.reject(new Error('The run has ended.')) : ask()
    answer.catch(() => undefined)
    return answer
  }

  function notOffered(member: string, need: string): ContextRequiredError {
    return new ContextRequiredError(
      `The tool "${name}" needs ${need} (${member}), which ${run.way} does not offer.`,
    )
  }

  const context: Omit<ToolContext, 'authorization'> = {
    input,
    authorizations: Object.fromEntries(
      Object.entries(run.authorizations).filter(([key]) => names.includes(key)),
    ),
    getSecret(key) {
      const value = options.requiresSecrets?.includes(key) === true ? run.secret(key) : undefined
      if (value !== undefined) return value
      throw new Error(
        options.requiresSecrets?.includes(key) === true
          ? `The secret "${key}" of the tool "${name}" is not set.`
          : `The tool "${name}" does not declare the secret "${key}": name it in requiresSecrets.`,
      )
    },
    metadata: Object.fromEntries(
      Object.entries(run.metadata).filter(([key]) => options.requiresMetadata?.includes(key)),
    ),
    userId: run.userId,
    sessionId: run.sessionId,
    requestId: run.requestId,
    traceparent: run.traceparent ?? null,
    signal: running.signal,
    log: { debug: log('debug'), info: log('info'), warning: log('warning'), error: log('error') },
    progress: {
      report: (progress, total, message) => notify(() => run.progress?.(progress, total, message)),
    },
    chunk(data) {
      const json: unknown = JSON.parse(toJsonText(data))
      return notify(() => run.chunk?.(json))
    },
    step: (key, fn) => whileRunning(async () => (run.step === undefined ? fn() : run.step(key, fn))),
    resources: {
      read: (uri) => whileRunning(() => readResource(uri)),
      get: (uri) =>
        whileRunning(async () => {
          const [content] = await readResource(uri)
          if (content !== undefined) return content
          throw new Error(`The resource ${JSON.stringify(uri)} has no contents.`)
        }),
      list: async () => app?.resources.list() ?? [],
      listTemplates: async () => app?.resources.listTemplates() ?? [],
      listRoots: () => whileRunning(async () => run.listRoots?.() ?? []),
    },
    prompts: {
      get: (prompt, args = {}) =>
        whileRunning(async () => {
          const request = { ...run, signal: running.signal, ...(run.elicit && { elicit: askForm }) }
          const found = await app?.prompts.get(prompt, args, request)
          if (found !== undefined) return found
          throw new Error(`There is no prompt ${JSON.stringify(prompt)}.`)
        }),
      list: async () => app?.prompts.list() ?? [],
    },
    tools: {
      call: (called, args = {}) => whileRunning(() => callTool(called, args)),
      list: () => whileRunning(async () => run.listTools?.() ?? []),
    },
    sampling: {
      createMessage: (request) =>
        whileRunning(async () => {
          const ask = run.createMessage
          if (ask !== undefined) return running.whileAsking(() => ask(request))
          throw notOffered('sampling.createMessage', 'the model of an MCP client')
        }),
    },
    ui: {
      elicit: (message, schema, options) => whileRunning(() => elicit(askForm, message, schema, options)),
    },
    notifications: {
      tools: listChanged('tools'),
      resources: listChanged('resources'),
      prompts: listChanged('prompts'),
    },
  }

  async function askForm(form: Form) {
    const ask = run.elicit
    if (ask === undefined) throw notOffered('ui.elicit', 'a form for the user')
    return running.whileAsking(() => ask(form))
  }

  async function readResource(uri: string) {
    const contents = await app?.resources.read(uri, { ...run, signal: running.signal })
    if (contents !== undefined) return contents
    throw new Error(`There is no resource ${JSON.stringify(uri)}.`)
  }

  async function callTool(called: string, args: Readonly<Record<string, unknown>>) {
    if (run.callTool === undefined) throw notOffered('tools.call', 'other tools')
    const answer = await run.callTool(called, args, running)
    // if this run has ended, the inner tool was aborted with it: the handler must not continue with that failure
    running.signal.throwIfAborted()
    if (answer.outcome === 'result') return answer.result
    running.lacksConsent(answer)
    throw new Error(`The user must approve the tool ${JSON.stringify(called)} first. The run has ended.`)
  }

  // the type of a tool says whether it has an authorization; without one the tool is not run
  return { ...context, authorization: first } as unknown as ToolContext<never, string, never>
}
