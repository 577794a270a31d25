import type { ServerResponse } from 'node:http'
import type { AnyJson } from '../../any-json.ts'
import { answer, answerJson, type Loopback, listen, record } from '../../loopback.ts'

/** A call that the model makes. */
export interface ScriptedCall {
  readonly name: string
  readonly input: object
}

/** A model behind the APIs of OpenAI and Anthropic. */
export interface ScriptedModel extends Loopback {
  /** The calls that the model makes when it has no results yet. */
  calls: readonly ScriptedCall[]
  /** The bodies of the requests, in order. */
  readonly requests: AnyJson[]
}

/**
 * A loopback server with the Responses, Chat Completions and Messages APIs. The model answers a question with its `calls`,
 * and the results of calls with `Answer: ` and the texts of all results.
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: unknown[] = []
  let ids = 0
  const loopback = await listen(async (req, res) => {
    const { path, json } = await record(req)
    const body = json as Record<string, unknown> // what an SDK sent
    requests.push(body)
    const read = resultsIn(body.input ?? body.messages)
    const turn: Turn =
      read.length > 0
        ? { text: `Answer: ${read.join(' | ')}` }
        : { calls: model.calls.map((call) => ({ ...call, id: `call_${++ids}` })) }
    switch (path) {
      case '/v1/responses':
        return answerResponse(res, turn, `resp_${++ids}`, body.stream === true)
      case '/v1/chat/completions':
        return answerJson(res, 200, completionOf(turn, `chatcmpl_${++ids}`))
      case '/v1/messages':
        return answerJson(res, 200, messageOf(turn, `msg_${++ids}`))
      default:
        return answerJson(res, 404, { error: { message: `no ${path}` } })
    }
  })
  const model: ScriptedModel = Object.assign(loopback, { calls: [], requests })
  return model
}

type Turn =
  | { readonly text: string; readonly calls?: undefined }
  | { readonly text?: undefined; readonly calls: readonly (ScriptedCall & { readonly id: string })[] }

interface Message {
  readonly type?: string
  readonly role?: string
  readonly output?: unknown
  readonly content?: unknown
}

/** The texts of the results since the user's last question, in each API's form. */
function resultsIn(messages: unknown): string[] {
  if (!Array.isArray(messages)) return [] // the Responses API takes a question as a text too
  return messages.flatMap(({ type, role, output, content }: Message) => {
    if (type === 'function_call_output') return [textOf(output)]
    if (role === 'tool') return [textOf(content)]
    if (!Array.isArray(content)) return []
    return content.flatMap((block: Message) => (block.type === 'tool_result' ? [textOf(block.content)] : []))
  })
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('')
}

function answerResponse(res: ServerResponse, { text, calls = [] }: Turn, id: string, isStream: boolean) {
  const functionCalls = calls.map((call) => ({
    type: 'function_call',
    id: `fc_${call.id}`,
    call_id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.input),
    status: 'completed',
  }))
  const content = [{ type: 'output_text', text, annotations: [] }]
  const message = { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }
  const response = {
    id,
    object: 'response',
    created_at: 1_800_000_000,
    status: 'completed',
    model: 'scripted',
    output: text === undefined ? functionCalls : [message],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }
  if (!isStream) return answerJson(res, 200, response)
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...functionCalls.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    ...(text === undefined
      ? []
      : [
          { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
          {
            type: 'response.output_text.delta',
            item_id: message.id,
            output_index: 0,
            content_index: 0,
            delta: text,
          },
          { type: 'response.output_item.done', output_index: 0, item: message },
        ]),
    { type: 'response.completed', response },
  ]
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return answer(res, 200, 'text/event-stream', lines.join(''))
}

function completionOf({ text, calls }: Turn, id: string) {
  const message = {
    role: 'assistant',
    content: text ?? null,
    ...(calls && {
      tool_calls: calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.input) },
      })),
    }),
  }
  return {
    id,
    object: 'chat.completion',
    created: 1_800_000_000,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: calls ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}

function messageOf({ text, calls }: Turn, id: string) {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: calls
      ? calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
      : [{ type: 'text', text }],
    stop_reason: calls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}
