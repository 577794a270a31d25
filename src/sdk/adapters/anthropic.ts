import type { Gatepass } from '../client/gatepass.ts'
import { listModelTools, type ObjectSchema } from './list-tools.ts'
import { consentText, toModelError, unknownToolText, valueText } from './model-text.ts'
import {
  type AdapterOptions,
  type Approval,
  bind,
  type Consent,
  type Missing,
  type OwnToolsOptions,
} from './options.ts'
import { type AnsweredCall, runCalls } from './run-calls.ts'
import { runToEnd } from './run-tool.ts'

// The types are those of `@anthropic-ai/sdk`, as far as they are used: nothing of it is imported.

/** A tool of the Messages API. */
export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: ObjectSchema
}

/** A block of `message.content`. */
interface ContentBlock {
  readonly type: string
  readonly id?: unknown
  readonly name?: unknown
  readonly input?: unknown
}

/** A `tool_result` block, for the next message of the user. */
export interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: true
}

export interface AnthropicTools {
  /** For `tools` of `messages.create`. */
  readonly tools: AnthropicTool[]
  /**
   * Runs the `tool_use` blocks, except those of `ownTools`; a block that names no tool gets an error as its result. While a
   * consent or an approval is missing, `pending` has it: show each `url`, `await` each `wait()`, and call this again. No
   * call runs twice.
   * Send all `results` in one message.
   */
  runUses(
    content: readonly ContentBlock[],
    options?: RunUsesOptions,
  ): Promise<{ readonly results: ToolResultBlock[]; readonly pending: readonly Missing[] }>
}

export interface RunUsesOptions {
  /** `consent` and `approval` are in place of the adapter's own. */
  readonly consent?: Consent | undefined
  readonly approval?: Approval | undefined
  /** Ends the runs. */
  readonly signal?: AbortSignal | undefined
}

/** Tools for Anthropic's Messages API, and the function that runs what the model calls. */
export async function anthropicTools(
  gatepass: Gatepass,
  options: AdapterOptions & OwnToolsOptions,
): Promise<AnthropicTools> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  const runsAs = new Map(tools.map((tool) => [tool.name, tool.runsAs]))
  const own = new Set(options.ownTools)
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    async runUses(content, { consent = binding.consent, approval = binding.approval, signal } = {}) {
      const calls = content.flatMap(({ type, id, name, input }): AnsweredCall[] => {
        if (type !== 'tool_use' || typeof id !== 'string' || typeof name !== 'string') return []
        const tool = runsAs.get(name)
        if (tool !== undefined) return [{ id, name, runsAs: tool, input }]
        return own.has(name) ? [] : [{ id, text: unknownToolText(name), isError: true }]
      })
      const { results, pending } = await runCalls({ ...binding, consent, approval }, calls, signal)
      return { results: results.map(toBlock), pending }
    },
  }
}

function toBlock({ id, text, isError }: { id: string; text: string; isError: boolean }): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: id, content: text, ...(isError && { is_error: true }) }
}

/** A tool that the SDK's `toolRunner` runs. */
export interface RunnableTool extends AnthropicTool {
  readonly type: 'custom'
  run(input: unknown, context?: { readonly signal?: AbortSignal | null | undefined }): Promise<string>
  parse(content: unknown): unknown
}

/**
 * Tools for `anthropic.beta.messages.toolRunner({ tools })`. With a function as `consent` a tool shows the link, waits
 * and goes on; otherwise the model gets the link as text. The runner gives the messages of all errors to the model,
 * those of the mode `throw` too.
 */
export async function runnableTools(gatepass: Gatepass, options: AdapterOptions): Promise<RunnableTool[]> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  return tools.map(({ name, runsAs, description, inputSchema }) => ({
    type: 'custom',
    name,
    description,
    input_schema: inputSchema,
    parse: (content) => content,
    async run(input, context) {
      try {
        const ending = await runToEnd(binding, { name, runsAs, input }, context?.signal ?? undefined)
        return ending.ended === 'value' ? valueText(ending.value) : consentText(name, ending.authorization)
      } catch (error) {
        throw toModelError(name, error)
      }
    },
  }))
}
