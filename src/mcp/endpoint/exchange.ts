import type { ElicitationModes } from '../../sdk/mcp/elicitation-modes.ts'
import type { Principal } from '../callers/principal.ts'
import type { LegacyVersion } from './versions.ts'

/** `modern`: MCP 2026-07-28, where each request contains all that the server needs. `legacy`: the revisions of 2025. */
export type Era = 'modern' | 'legacy'

/** One request at `/mcp` whose caller is authenticated. */
export interface Exchange {
  readonly principal: Principal
  /** The toolset that the path names; absent: all tools of the project. */
  readonly toolsetId?: string | undefined
  readonly request: Request
  /** The id of the HTTP request in the log. */
  readonly requestId: string
  /** A client of 2025; defaults for newer clients. */
  readonly legacy: LegacyClient
  /** Whether the request's credential is still valid, while its stream is open. */
  readonly isAuthorized: () => Promise<boolean>
}

/** A client of 2025, as its session describes it. */
export interface LegacyClient {
  readonly version: LegacyVersion
  readonly elicitation: ElicitationModes
  /** The sealed session, which names the connection to which a cancellation belongs. */
  readonly sessionId?: string | undefined
}
