import {
  type CallToolResult,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'
import { type BrokerContext, nameOf, readBrokerContext } from './broker-context.ts'
import type { Caller } from './caller.ts'
import { inRound, type Round, type RoundsOptions } from './rounds.ts'
import type { Authorization, Consent, Consents, ServedApp, ServedTool } from './served-app.ts'
import { wayOf } from './way.ts'

export interface CallOptions extends RoundsOptions {
  readonly app: ServedApp
  /** How long a request is held while its user approves. */
  readonly holdMs: number
}

type Answer = CallToolResult | InputRequiredResult

/** Answers `tools/call`. */
export async function callTool(
  options: CallOptions,
  {
    name,
    arguments: input = {},
  }: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
): Promise<Answer> {
  const { app, server, context, isModern } = options
  const tool = app.tools().find((one) => one.definition.name === name)
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
  return inRound<Answer>(options, { method: 'tools/call', name, input }, async (round) => {
    const given = await givenTo(options, tool, round)
    if (given.outcome === 'answer') return given.answer
    const ran = await app.callTool(name, input, wayOf(context, round, given))
    switch (ran.outcome) {
      case 'consent':
        return answerConsent(options, tool, round, ran.consent)
      case 'incapable':
        if (isModern)
          throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { [ran.capability]: {} } })
        return ran.result as CallToolResult // the app wrote it as MCP has it
      case 'result':
        return server.projectCallToolResult(ran.result as CallToolResult, tool.definition.outputSchema)
    }
  })
}

/** What the tool needs besides its input, or the answer to give instead. */
type Given =
  | (BrokerContext & { readonly outcome: 'given' })
  | { readonly outcome: 'answer'; readonly answer: Answer }

async function givenTo(options: CallOptions, tool: ServedTool, round: Round): Promise<Given> {
  const { app, caller, context } = options
  // `_meta` counts from Gatepass only: from others it would let them name themselves any user
  if (caller.kind === 'broker')
    return { outcome: 'given', ...readBrokerContext(context.mcpReq._meta?.arcade_context, tool.providers) }
  const userId = userOf(caller)
  const given = { outcome: 'given', userId, secrets: {}, metadata: {}, authorizations: {} } as const
  if (tool.providers.length === 0) return given
  if (userId === null || app.consents === undefined)
    return refused(
      userId === null
        ? 'This tool needs a user. Start the server with a user, or connect with a token of one.'
        : 'This tool needs a provider’s token, which this server cannot get: it knows no Gatepass.',
    )
  const refusal = await afterConsent(options, round, app.consents)
  if (refusal !== undefined) return { outcome: 'answer', answer: refusal }
  const authorizations: Record<string, Authorization> = {}
  for (const need of tool.providers) {
    const resolved = await app.consents.resolve(userId, need, round.signal)
    if ('consent' in resolved)
      return { outcome: 'answer', answer: await answerConsent(options, tool, round, resolved.consent) }
    authorizations[nameOf(need)] = resolved
  }
  return { ...given, authorizations }
}

function userOf(caller: Caller): string | null {
  return caller.kind === 'user' ? caller.userId : null
}

function refused(text: string): Given {
  return { outcome: 'answer', answer: failure(text) }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Waits while the user approves what they were sent to in an earlier round. */
async function afterConsent(
  { holdMs }: CallOptions,
  { consent, signal, waitForConsent }: Round,
  consents: Consents,
): Promise<Answer | undefined> {
  if (consent === undefined || waitForConsent === undefined) return undefined
  if (consent.action === 'refused') return failure('The user did not open the link, so the tool was not run.')
  const ended = await consents.wait(consent.id, holdMs, signal)
  if (ended === 'completed') return undefined
  if (ended === 'pending') return waitForConsent({ id: consent.id })
  return failure(`The user’s approval failed: ${ended.failed}`)
}

/** Sends the user to the link, in the way that the client can. */
async function answerConsent(
  { server, isModern, app, context }: CallOptions,
  { definition: { name, outputSchema } }: ServedTool,
  round: Round,
  { id, url, scopes }: Consent,
): Promise<Answer> {
  const message = `${name} needs your approval${scopes.length > 0 ? ` (${scopes.join(' ')})` : ''}.`
  if (round.canOpenLinks && round.waitForConsent !== undefined)
    return round.waitForConsent({ id, url }, message)
  if (round.canOpenLinks && !isModern) {
    announceCompletion(server, context, app.consents, id)
    throw new UrlElicitationRequiredError(
      [{ mode: 'url', elicitationId: id, url, message }],
      'Approval needed.',
    )
  }
  const required = { id, url, scopes, status: 'pending' }
  return {
    ...failure(
      `${message} Open ${url}, approve, then ask again. The link is for you alone and ends in 10 minutes.`,
    ),
    ...(outputSchema === undefined && { structuredContent: { requires_authorization: required } }),
    _meta: { 'gatepass/requires_authorization': required },
  }
}

const LINK_MS = 600_000

/** Tells a client of 2025 when it may call again. It needs a session, for the message comes on its own stream. */
function announceCompletion(
  server: Server,
  { sessionId }: ServerContext,
  consents: Consents | undefined,
  id: string,
): void {
  if (sessionId === undefined || consents === undefined) return
  const closed = new AbortController()
  const before = server.onclose
  server.onclose = () => {
    closed.abort()
    before?.()
  }
  consents
    .wait(id, LINK_MS, closed.signal)
    .then((ended) => (ended === 'pending' ? undefined : server.createElicitationCompletionNotifier(id)()))
    .catch(() => undefined) // the client has gone, or asks again by itself
}
