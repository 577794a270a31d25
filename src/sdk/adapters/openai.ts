import type { Gatepass } from '../client/gatepass.ts'
import { listModelTools, type ModelTool } from './list-tools.ts'
import { unknownToolText } from './model-text.ts'
import {
  type AdapterOptions,
  type Approval,
  type Binding,
  bind,
  type Consent,
  invalidOption,
  type Missing,
  type OwnToolsOptions,
} from './options.ts'
import { type AnsweredCall, type CallResults, runCalls } from './run-calls.ts'
import { toStrictSchema, withoutAddedNulls } from './strict-schema.ts'

// The types are those of `openai`, as far as they are used: nothing of it is imported.

/** A tool of the Responses API. */
export interface ResponsesTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly parameters: { [keyword: string]: unknown }
  readonly strict: boolean
}

/** A tool of the Chat Completions API. */
export interface ChatTool {
  readonly type: 'function'
  readonly function: Omit<ResponsesTool, 'type'>
}

/** An item of `response.output`. */
interface OutputItem {
  readonly type: string
  readonly call_id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}

/** One of `message.tool_calls`. */
interface ChatToolCall {
  readonly id: string
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: string }
}

/** For the `input` of the next response. */
export interface FunctionCallOutput {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: string
}

/** For the `messages` of the next completion. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: string
}

export interface RunCallsOptions {
  /** `consent` and `approval` are in place of the adapter's own. */
  readonly consent?: Consent | undefined
  readonly approval?: Approval | undefined
  /** Ends the runs. */
  readonly signal?: AbortSignal | undefined
}

export interface OpenAITools<Tool, Call, Output> {
  /** For `tools` of the request. */
  readonly tools: Tool[]
  /**
   * Runs the calls, except those of `ownTools`; a call that names no tool gets an output that says so. While a consent
   * or an approval is missing, `pending` has it: show each `url`, `await` each `wait()`, and call this again. No call runs
   * twice.
   */
  runCalls(
    calls: readonly Call[] | undefined,
    options?: RunCallsOptions,
  ): Promise<{ readonly outputs: Output[]; readonly pending: readonly Missing[] }>
}

export type OpenAIOptions = AdapterOptions & OwnToolsOptions

type Responses = OpenAITools<ResponsesTool, OutputItem, FunctionCallOutput>
type Chat = OpenAITools<ChatTool, ChatToolCall, ToolMessage>

/**
 * Tools for OpenAI's Responses API, or with `format: 'chat'` for Chat Completions, and the function that runs what the
 * model calls: `runCalls(response.output)`, or `runCalls(message.tool_calls)`.
 *
 * A tool is `strict` where its schema allows that: its optional parameters then accept `null`, which the adapter leaves
 * out again.
 */
export async function openaiTools(
  gatepass: Gatepass,
  options: OpenAIOptions & { readonly format: 'chat' },
): Promise<Chat>
export async function openaiTools(
  gatepass: Gatepass,
  options: OpenAIOptions & { readonly format?: 'responses' | undefined },
): Promise<Responses>
export async function openaiTools(
  gatepass: Gatepass,
  options: OpenAIOptions & { readonly format?: 'responses' | 'chat' | undefined },
): Promise<Responses | Chat> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  const offer = { tools, ownTools: options.ownTools ?? [] }
  return options.format === 'chat' ? toChat(binding, offer) : toResponses(binding, offer)
}

/** The tools of one request. */
interface Offer {
  readonly tools: readonly ModelTool[]
  readonly ownTools: readonly string[]
}

function toResponses(binding: Binding, offer: Offer): Responses {
  return {
    tools: offer.tools.map((tool) => ({ type: 'function', ...toFunction(tool) })),
    async runCalls(items = [], options = {}) {
      if (items.some((item) => 'function' in item)) throw otherApi("Chat Completions: give format: 'chat'")
      const calls = items.flatMap(({ type, call_id: id, name, arguments: text }) =>
        type === 'function_call' && isText(id) && isText(name) && isText(text) ? [{ id, name, text }] : [],
      )
      const { results, pending } = await runTextCalls(binding, offer, calls, options)
      return { outputs: results.map(({ id, text }) => toOutput(id, text)), pending }
    },
  }
}

function toChat(binding: Binding, offer: Offer): Chat {
  return {
    tools: offer.tools.map((tool) => ({ type: 'function', function: toFunction(tool) })),
    async runCalls(toolCalls = [], options = {}) {
      if (toolCalls.some(({ type }) => type === 'function_call'))
        throw otherApi("the Responses API: leave format: 'chat' out")
      const calls = toolCalls.flatMap(({ id, function: called }) =>
        called ? [{ id, name: called.name, text: called.arguments }] : [],
      )
      const { results, pending } = await runTextCalls(binding, offer, calls, options)
      return { outputs: results.map(({ id, text }) => toMessage(id, text)), pending }
    },
  }
}

/** Without an answer to its calls, the model would make them again and again. */
function otherApi(which: string): Error {
  return invalidOption(`format: these are calls of ${which} in the options of openaiTools.`)
}

function toOutput(id: string, text: string): FunctionCallOutput {
  return { type: 'function_call_output', call_id: id, output: text }
}

function toMessage(id: string, text: string): ToolMessage {
  return { role: 'tool', tool_call_id: id, content: text }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** A call whose arguments are still JSON. */
interface TextCall {
  readonly id: string
  readonly name: string
  readonly text: string
}

function toFunction({ name, description, inputSchema }: ModelTool): ChatTool['function'] {
  const strict = toStrictSchema(inputSchema)
  return { name, description, parameters: { ...(strict ?? inputSchema) }, strict: strict !== undefined }
}

/** Runs the calls; those that name no tool, and those whose arguments are not JSON, fail. */
function runTextCalls(
  binding: Binding,
  { tools, ownTools }: Offer,
  calls: readonly TextCall[],
  { consent = binding.consent, approval = binding.approval, signal }: RunCallsOptions,
): Promise<CallResults> {
  const answered = calls.flatMap(({ id, name, text }): AnsweredCall[] => {
    const tool = tools.find((candidate) => candidate.name === name)
    if (tool === undefined)
      return ownTools.includes(name) ? [] : [{ id, text: unknownToolText(name), isError: true }]
    const input = readJson(text)
    if (input === undefined) return [{ id, text: NOT_JSON, isError: true }]
    return [{ id, name, runsAs: tool.runsAs, input: withoutAddedNulls(tool.inputSchema, input) }]
  })
  return runCalls({ ...binding, consent, approval }, answered, signal)
}

const NOT_JSON = 'The arguments are not JSON. Call it again with the arguments as a JSON object.'

/** A model writes nothing for a tool without parameters. */
function readJson(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
