import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import { toRefusal } from '../../http/endpoint/errors.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { invalidRequestState } from '../../sdk/mcp/consent-answer.ts'
import type { Dialog } from '../../tools/dialog/dialog.ts'
import { validateInput } from '../../tools/json-schema/schema-validator.ts'
import { violationSentence } from '../../tools/json-schema/violation.ts'
import { executeTool } from '../../tools/run/execute-tool.ts'
import { toRunError } from '../../tools/run/run-tool.ts'
import { askInClient } from '../consent/ask-in-client.ts'
import type { ConsentCall, ConsentRounds } from '../consent/consent-rounds.ts'
import { gatewayTools } from '../gateway-tools/gateway-tools.ts'
import type { SuspendedCalls } from '../suspended/suspended-calls.ts'
import { inDialog } from './call-dialog.ts'
import { errorResult, toCallResult } from './call-result.ts'
import { publishedOutput } from './listed-tool.ts'
import type { CallAnswer, McpCall } from './mcp-call.ts'
import type { RunningCalls } from './running-calls.ts'
import type { ToolList, ToolLists } from './tool-lists.ts'

/** The parts of the endpoint that serve a tool call. */
export interface CallParts {
  readonly broker: Broker
  readonly lists: ToolLists
  readonly calls: RunningCalls
  readonly consent: ConsentRounds
  readonly suspended: SuspendedCalls
}

interface CallRequest extends Omit<McpCall, 'shown' | 'input' | 'signal'> {
  /** The tools that the client sees. */
  readonly list: ToolList
}

interface CallParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
}

/** Answers `tools/call`. Errors of the tool or its arguments are results, so that the model can read them. */
export async function callTool(
  parts: CallParts,
  request: CallRequest,
  params: CallParams,
): Promise<CallAnswer> {
  const { list } = request
  const own = gatewayTools(list.listing).find(({ name }) => name === params.name)
  return own === undefined
    ? callShownTool(parts, request, params)
    : callGatewayTool(parts, request, own, params.arguments ?? {}, list)
}

async function callShownTool(
  { broker, lists, calls, consent, suspended }: CallParts,
  request: CallRequest,
  { name, arguments: input = {} }: CallParams,
): Promise<CallAnswer> {
  const { exchange, era, requestId } = request
  const { principal, legacy } = exchange
  const shown = await lists.find(exchange, name)
  if (shown === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 120)}`)
  const running = {
    owner: principal.owner,
    requestId,
    // for clients of 2025 a lost connection is no cancellation (MCP 2025-11-25, Transports, Sending Messages)
    ...(era === 'modern' && { signal: exchange.request.signal }),
    ...(legacy.sessionId !== undefined && { connection: legacy.sessionId }),
  }
  return calls.run(running, (signal) =>
    inDialog(suspended, { ...request, shown, input, signal }, (call, dialog) =>
      answer({ broker, consent }, call, dialog),
    ),
  )
}

async function callGatewayTool(
  parts: CallParts,
  request: CallRequest,
  own: ReturnType<typeof gatewayTools>[number],
  input: Readonly<Record<string, unknown>>,
  { shown }: ToolList,
): Promise<CallAnswer> {
  const validity = validateInput(own.definition, input)
  if (!validity.valid) {
    const message = `${violationSentence('input', validity)}.`
    return errorResult({ kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', message, canRetry: false })
  }
  if (!('call' in own)) {
    const { name, arguments: given } = input
    return callShownTool(parts, request, { name: String(name), ...(isRecord(given) && { arguments: given }) })
  }
  const { projectId, userId } = request.exchange.principal
  return own.call(parts.broker, { projectId, shown, input, userId })
}

async function answer(
  { broker, consent }: Pick<CallParts, 'broker' | 'consent'>,
  call: McpCall,
  dialog: Dialog,
): Promise<CallAnswer> {
  const { shown, input, era, signal, exchange } = call
  const { projectId, userId } = exchange.principal
  try {
    const run = () =>
      executeTool(broker, { tool: shown.tool, input, entryPoint: 'mcp', dialog, userId }, signal)
    const round = await consent.run(consentCall(call), () =>
      askInClient(broker, { projectId, dialog, signal }, run),
    )
    if (round.outcome === 'answered') return round.answer
    if (round.outcome === 'ran') return toCallResult(round.execution, shown, era)
    throw invalidRequestState()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const refusal = toRefusal(error, '/mcp', broker.log, exchange.requestId)
    return errorResult(toRunError(refusal, shown.name))
  }
}

function consentCall({ exchange, era, shown, input, elicitation, context, signal }: McpCall): ConsentCall {
  const { projectId, identity, owner } = exchange.principal
  const { mcpReq } = context
  const requestState = mcpReq.requestState<string>()
  return {
    binding: { projectId, caller: identity, toolUid: shown.tool.uid, input },
    owner,
    title: shown.name,
    isModern: era === 'modern',
    opensLinks: elicitation.url,
    publishesOutput: publishedOutput(shown.tool) !== undefined,
    signal,
    requestState,
    inputResponses: mcpReq.inputResponses,
  }
}
