import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { type ApiKey, userFor } from '../../domain/api-key.ts'
import { BrokerError, type ErrorCode, invalidMember } from '../../domain/errors.ts'
import type { Tool } from '../../domain/tool.ts'
import { Answer } from '../../operations/answer.ts'
import { toContractError } from '../../operations/dialects/arcade.ts'
import { duration, executeErrorSchema } from '../../operations/dialects/execution-schemas.ts'
import { readinessOf } from '../../operations/installation/health.ts'
import { defineOperation, type OperationRequest } from '../../operations/operation.ts'
import { errorSchema } from '../../operations/schemas/error-schema.ts'
import { plainText, toolNameText, userIdText } from '../../operations/schemas/fields.ts'
import { jsonObject, jsonValue } from '../../operations/schemas/json-schemas.ts'
import { parseOnce } from '../../parsing/parse.ts'
import { valueWithMedia } from '../../tools/mcp/media-content.ts'
import { executeTool } from '../../tools/run/execute-tool.ts'
import { type Execution, mayBeRepeated } from '../../tools/run/execution.ts'
import { toolNeeds } from '../../tools/run/tool-tokens.ts'
import { artifactToJson, type RequiredAuthorization } from '../../tools/tool-answer.ts'
import { getOxpTool, needsUser, oxpDefinitions, oxpToolSchema, requirementId } from './wire-tools.ts'

// The Open eXecution Protocol 1.0: Gatepass as an OXP server for the tools that it knows.

const callSchema = z
  .object({
    tool_id: toolNameText.meta({ description: '`Toolkit.Tool`, with `@version` or without' }),
    call_id: plainText(255).nullish().meta({
      description: 'Idempotency key: a repetition of the call within ten minutes gets the first answer',
    }),
    trace_id: z.string().max(500).nullish(),
    input: jsonObject.nullish(),
    inputs: jsonObject.nullish().meta({ description: 'Another name of `input`' }),
    context: z
      .object({
        authorization: z.array(z.object({ id: z.string(), token: z.string().nullish() })).nullish(),
        secrets: z.array(z.object({ id: z.string(), value: z.string().nullish() })).nullish(),
        user_id: userIdText.nullish(),
      })
      .nullish(),
  })
  .openapi('OxpCall')
type OxpCall = z.output<typeof callSchema>

const refusalSchema = errorSchema.extend({
  developer_message: z.string().optional(),
  missing_requirements: z
    .object({
      authorization: z.array(z.object({ id: z.string(), url: z.string(), check_url: z.string() })).optional(),
      user_id: z.boolean().optional(),
    })
    .optional(),
})
const invalidSchema = z.object({
  name: z.literal('invalid_input'),
  message: z.string(),
  parameter_errors: z.record(z.string(), z.string()),
})
const ended = { call_id: z.string(), duration }
const resultSchema = z
  .union([
    z.object({ ...ended, success: z.literal(true), value: jsonValue.nonoptional() }).openapi('OxpSuccess'),
    z.object({ ...ended, success: z.literal(false), error: executeErrorSchema }).openapi('OxpFailure'),
  ])
  .openapi('OxpResult')
/** The result is wrapped in `result` if the call is wrapped in `request`. */
const answerSchema = z.union([z.object({ result: resultSchema }), resultSchema])
const tag = 'OXP'
const VERSION = { 'oxp-version': '1.0' }

export const listOxpTools = defineOperation({
  id: 'listOxpTools',
  method: 'get',
  path: '/oxp/tools',
  role: 'readonly',
  keysOfUsers: 'own',
  keyHeader: 'oxp-api-key',
  tag,
  summary: 'The known tools as OXP tool definitions',
  description: '`items` and `tools` have the same list, because the texts of OXP 1.0 use both names.',
  answer: 'The tools',
  output: z.object({ items: z.array(oxpToolSchema), tools: z.array(oxpToolSchema) }),
  headers: VERSION,
  async run(broker, { caller, request }) {
    checkVersion(request)
    const items = await oxpDefinitions(broker, caller.projectId)
    return { items, tools: items }
  },
})

export const callOxpTool = defineOperation({
  id: 'callOxpTool',
  method: 'post',
  path: '/oxp/tools/call',
  role: 'caller',
  keysOfUsers: 'own',
  keyHeader: 'oxp-api-key',
  tag,
  summary: 'Call a tool by OXP',
  description:
    'Gatepass adds tokens and secrets itself, so `context` takes none. A call that is not wrapped in `request` gets an answer without `result`, as in the newer text of OXP 1.0. Without the consent of the user the answer is 400 with `missing_requirements`.',
  body: callSchema.partial().extend({
    $schema: z.string().max(500).nullish(),
    request: callSchema.optional(),
  }),
  answer: 'The result, in `result`',
  output: answerSchema,
  otherAnswers: {
    400: { description: 'A requirement is not met, or the request is wrong', schema: refusalSchema },
    422: { description: 'The input does not match the schema of the tool', schema: invalidSchema },
  },
  headers: VERSION,
  keyInBody({ body, caller, request }) {
    checkVersion(request, body.$schema)
    const call = readCall(body)
    if (call.call_id == null) return undefined
    const content = JSON.stringify([
      body.request !== undefined,
      call.tool_id,
      inputOf(call),
      userOf(call, caller),
    ])
    return { kind: 'call_id', key: call.call_id, content }
  },
  async run(broker, { body, caller, request }) {
    const { context, ...members } = readCall(body)
    const call = { ...members, context: { ...context, user_id: userOf({ context }, caller) } }
    const isWrapped = body.request !== undefined
    // a caller with a call_id can repeat the request for the answer, so a closed connection does not cancel the call
    return callTool(broker, caller, call, {
      isWrapped,
      ...(call.call_id == null && { signal: request.signal }),
    })
  },
})

export const getOxpHealth = defineOperation({
  id: 'getOxpHealth',
  method: 'get',
  path: '/oxp/health',
  role: 'public',
  tag: 'Operation',
  summary: 'Readiness for OXP, which defines no body',
  status: 200,
  answer: 'Ready',
  otherAnswers: { 503: { description: 'Not ready' } },
  headers: VERSION,
  async run(broker) {
    const status = (await readinessOf(broker)()) === undefined ? 200 : 503
    return new Answer(undefined, { status })
  },
})

function userOf({ context }: Pick<OxpCall, 'context'>, caller: ApiKey): string | undefined {
  return userFor(caller, context?.user_id ?? undefined)
}

/** Throws `invalid_request` when the caller requests another version. */
function checkVersion(request: OperationRequest, schema?: string | null): void {
  const requested = request.header('oxp-version') ?? /^urn:oxp:(.*)$/i.exec(schema ?? '')?.[1]
  if (requested !== undefined && !/^v?1(\.0)*$/.test(requested.trim()))
    throw invalidMember(
      'OXP-Version',
      'not_one_of',
      'This server speaks OXP 1.0: request that version, or none.',
    )
}

/**
 * Reads the call. Refuses members beside `request`, which would have no effect, and tokens and secrets in the call. A
 * tool runs with the tokens that its user granted here and that policies permit, and only those are scrubbed from its
 * answer. Ignoring the caller's tokens silently would run the tool with other rights than the caller expects.
 */
function readCall({
  $schema: _,
  request,
  ...bare
}: Record<string, unknown> & { request?: OxpCall | undefined }): OxpCall {
  if (request === undefined && bare.tool_id === undefined)
    throw invalidMember('request', 'missing', 'The body needs `request`, with a `tool_id` in it.')
  const beside = request && Object.keys(bare).find((member) => bare[member] != null)
  if (beside !== undefined)
    throw invalidMember(beside, 'conflict', `${beside} is beside \`request\`: write the whole call into it.`)
  const call = request ?? parseOnce(callSchema, bare, 'the body')
  for (const member of ['authorization', 'secrets'] as const) {
    const ids = (call.context?.[member] ?? []).map(({ id }) => `"${id.slice(0, 100)}"`)
    if (ids.length > 0)
      throw invalidMember(
        `context.${member}`,
        'not_allowed',
        `context.${member} has ${ids.slice(0, 10).join(', ')}: Gatepass itself gives a tool what it needs, so leave ${member} out.`,
      )
  }
  if (call.input != null && call.inputs != null)
    throw invalidMember(
      'inputs',
      'conflict',
      'The call has `input` and `inputs`, which mean the same: send one.',
    )
  return call
}

function inputOf({ input, inputs }: OxpCall): Record<string, unknown> {
  return input ?? inputs ?? {}
}

async function callTool(
  broker: Broker,
  { projectId }: ApiKey,
  call: OxpCall,
  { isWrapped, signal }: { readonly isWrapped: boolean; readonly signal?: AbortSignal },
): Promise<Answer<never>> {
  const userId = call.context?.user_id ?? undefined
  const tool = await getOxpTool(broker, projectId, call.tool_id).catch((error: unknown) => {
    // OXP answers an unknown tool with 400
    if (!(error instanceof BrokerError && error.code === 'not_found')) throw error
    throw invalidMember('tool_id', 'unknown', error.message)
  })
  if (needsUser(tool) && userId === undefined)
    return refusal(
      'invalid_request',
      `The tool "${tool.title}" acts for a user: say which in context.user_id.`,
      { user_id: true },
    )
  const execution = await executeTool(
    broker,
    {
      tool,
      input: inputOf(call),
      entryPoint: 'oxp',
      userId,
      ...(call.call_id != null && { callId: call.call_id }),
    },
    signal,
  )
  const { outcome } = execution
  if (outcome.outcome === 'authorization_required')
    return refusal(
      'authorization_required',
      `The user must open ${outcome.authorization.url} and approve, then the same call can be made again.`,
      { authorization: await missingAuthorization(broker, tool, userId, outcome.authorization) },
    )
  // the answer for a tool that ran is 200 in OXP, also when the tool failed
  if (outcome.outcome === 'error' && (!execution.wasCalled || outcome.isOwn === true)) {
    const { kind, message, parameterErrors } = outcome.error
    if (kind === 'TOOL_REQUIREMENTS_NOT_MET') return refusal('invalid_request', message)
    if (kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE' && parameterErrors !== undefined)
      return Answer.untyped(
        { name: 'invalid_input', message, parameter_errors: parameterErrors },
        { status: 422, hadNoEffect: true },
      )
  }
  const result = toResult(outcome, execution.durationMs, call.call_id ?? execution.id)
  return Answer.untyped(isWrapped ? { result } : result, {
    hadNoEffect: mayBeRepeated(execution) || (outcome.outcome === 'error' && outcome.error.canRetry),
  })
}

/** OXP's ServerErrorResponse. No tool was run, so the same call may be repeated. */
function refusal(
  name: ErrorCode,
  message: string,
  missing?: z.output<typeof refusalSchema>['missing_requirements'],
): Answer<never> {
  const body = { name, message, ...(missing && { missing_requirements: missing }) }
  return Answer.untyped(body, { status: 400, hadNoEffect: true })
}

/** The items of `missing_requirements.authorization`. All have the same link, which leads through all consents. */
async function missingAuthorization(
  broker: Broker,
  tool: Tool,
  userId: string | undefined,
  { id: authorizationId, url, steps }: RequiredAuthorization,
) {
  const open = steps.filter((step) => step.connectionId === undefined).map((step) => step.providerUid)
  const needs = await toolNeeds(broker, tool, { userId })
  const missing = needs.filter(({ entry }) => open.includes(entry.uid)).flatMap((need) => need.requirements)
  const check = new URL('/v1/auth/status', broker.settings.publicUrl)
  check.searchParams.set('id', authorizationId)
  return Promise.all(
    missing.map(async (requirement) => ({
      id: await requirementId(broker, tool, requirement),
      url,
      check_url: check.href,
    })),
  )
}

/** OXP's CallToolResponse. */
function toResult(
  outcome: Exclude<Execution['outcome'], { outcome: 'authorization_required' }>,
  durationMs: number,
  callId: string,
): Record<string, unknown> {
  const common = { call_id: callId, duration: durationMs }
  switch (outcome.outcome) {
    case 'value':
      return { ...common, success: true, value: valueWithMedia(outcome) ?? null }
    case 'artifact':
      return { ...common, success: true, value: artifactToJson(outcome.artifact) }
    case 'error':
      return { ...common, success: false, error: toContractError(outcome.error) }
  }
}
