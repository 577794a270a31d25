import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import { parseJson } from '../../http/endpoint/parse-json.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { NO_ELICITATION } from '../../sdk/mcp/elicitation-modes.ts'
import { rpcError } from '../../sdk/mcp/rpc-error.ts'
import type { Principal } from '../callers/principal.ts'
import type { LegacyClient } from './exchange.ts'
import type { Sessions } from './session.ts'
import { DEFAULT_VERSION, isLegacyVersion } from './versions.ts'

/** The number of messages in a batch. Each also counts against the caller's rate limit. */
const MAX_BATCH = 20

const NO_SESSION: LegacyClient = { version: DEFAULT_VERSION, elicitation: NO_ELICITATION }

/** The JSON of a POST, or the response that refuses it. */
export function readMessage(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return rpcError(400, -32_700, error.message)
  }
}

/**
 * Reads the client of 2025 that sends the message; `message` is absent for a GET. Returns a response for a
 * session that has ended, and for a batch in a revision without batches.
 */
export function readLegacyClient(
  c: Context,
  message: unknown,
  sessions: Sessions,
  principal: Principal,
): LegacyClient | Response {
  // newer clients have no sessions (MCP 2026-07-28, Transports), and a new session does not depend on an older one
  if (isModern(c, message) || (isRecord(message) && message.method === 'initialize')) return NO_SESSION
  const named = c.req.header('mcp-protocol-version')
  const sessionId = c.req.header('mcp-session-id')
  const session = sessionId === undefined ? undefined : sessions.open(sessionId, principal)
  if (sessionId !== undefined && session === undefined) return rpcError(404, -32_001, 'Session not found')
  const version = isLegacyVersion(named) ? named : (session?.version ?? DEFAULT_VERSION)
  if (Array.isArray(message) && version !== '2025-03-26')
    return rpcError(400, -32_600, `MCP ${version} has no batches: send each message in a request of its own.`)
  if (Array.isArray(message) && message.length > MAX_BATCH)
    return rpcError(400, -32_600, `A batch has ${MAX_BATCH} messages at most.`)
  return { version, elicitation: session?.elicitation ?? NO_ELICITATION, sessionId }
}

function isModern(c: Context, message: unknown): boolean {
  if (message === undefined) {
    const named = c.req.header('mcp-protocol-version')
    return named !== undefined && !isLegacyVersion(named)
  }
  const params = isRecord(message) ? message.params : undefined
  const meta = isRecord(params) ? params._meta : undefined
  return isRecord(meta) && Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)
}
