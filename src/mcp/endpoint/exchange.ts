import { isRecord } from '../../parsing/json-record.ts'
import type { Principal } from '../callers/principal.ts'
import { type ElicitationModes, NO_ELICITATION } from './session.ts'
import type { LegacyVersion } from './versions.ts'

/** `modern`: MCP 2026-07-28, where each request contains all that the server needs. `legacy`: the revisions of 2025. */
export type Era = 'modern' | 'legacy'

/** One request at `/mcp` whose caller is authenticated. */
export interface Exchange {
  readonly principal: Principal
  /** The toolset that the path names; absent: all tools of the project. */
  readonly toolsetId?: string
  readonly request: Request
  /** The id of the HTTP request in the log. */
  readonly requestId: string
  /** Facts about a client of 2025; defaults for newer clients. */
  readonly legacy: LegacyFacts
  /** Whether the request's credential is still valid, while its stream is open. */
  readonly isAuthorized: () => Promise<boolean>
}

/** Facts about a client of 2025 that come from its session. */
export interface LegacyFacts {
  readonly version: LegacyVersion
  readonly elicitation: ElicitationModes
  /** The sealed session, which names the connection to which a cancellation belongs. */
  readonly sessionId?: string
}

/**
 * How a client can ask its user, by the capabilities that it declares. `elicitation: {}` means forms only (MCP
 * 2025-11-25, Elicitation, Capabilities), and the mode `url` exists since 2025-11-25.
 */
export function elicitationModes(capabilities: unknown, knowsUrl: boolean): ElicitationModes {
  const declared = isRecord(capabilities) ? capabilities.elicitation : undefined
  if (!isRecord(declared)) return NO_ELICITATION
  const url = declared.url !== undefined
  return { form: declared.form !== undefined || !url, url: url && knowsUrl }
}
