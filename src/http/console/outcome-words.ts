import type { FailureReason } from '../../domain/authorization.ts'
import type { Refreshed, TokenFetched } from '../../services/metrics.ts'
import type { ErrorKind } from '../../tools/tool-error.ts'

/** What each kind of error means, for operators: in legends of charts and beside the status of a run. */
export const ERROR_WORDS = {
  TOOLKIT_LOAD_FAILED: 'toolkit not loaded',
  TOOL_DEFINITION_BAD_DEFINITION: 'faulty definition of the tool',
  TOOL_DEFINITION_BAD_INPUT_SCHEMA: 'faulty input schema',
  TOOL_DEFINITION_BAD_OUTPUT_SCHEMA: 'faulty output schema',
  TOOL_REQUIREMENTS_NOT_MET: 'requirements not met',
  TOOL_RUNTIME_BAD_INPUT_VALUE: 'wrong input',
  TOOL_RUNTIME_BAD_OUTPUT_VALUE: 'unreadable answer of the tool',
  TOOL_RUNTIME_RETRY: 'tool wants another try',
  TOOL_RUNTIME_CONTEXT_REQUIRED: 'tool needs more information',
  TOOL_RUNTIME_FATAL: 'error in the tool',
  CONTEXT_CHECK_FAILED: 'policy not checked',
  CONTEXT_DENIED: 'refused by a policy',
  UPSTREAM_RUNTIME_BAD_REQUEST: 'API: bad request',
  UPSTREAM_RUNTIME_AUTH_ERROR: 'API: token refused',
  UPSTREAM_RUNTIME_NOT_FOUND: 'API: not found',
  UPSTREAM_RUNTIME_VALIDATION_ERROR: 'API: value refused',
  UPSTREAM_RUNTIME_RATE_LIMIT: 'API: too many requests',
  UPSTREAM_RUNTIME_SERVER_ERROR: 'API: server error',
  UPSTREAM_RUNTIME_UNMAPPED: 'API: other error',
  NETWORK_TRANSPORT_RUNTIME_TIMEOUT: 'no answer in time',
  NETWORK_TRANSPORT_RUNTIME_UNREACHABLE: 'not reachable',
  NETWORK_TRANSPORT_RUNTIME_UNMAPPED: 'network error',
  UNKNOWN: 'unknown error',
} as const satisfies Record<ErrorKind, string>

/** Why a consent ended without a connection. */
const FAILURE_WORDS = {
  access_denied: 'declined by the user',
  expired: 'link not used in time',
  user_mismatch: 'another user',
  issuer_mismatch: 'wrong issuer',
  invalid_scope: 'scope refused',
  invalid_client: 'client refused',
  invalid_grant: 'code refused',
  provider_refused: 'refused by the provider',
  provider_bad_response: 'unreadable answer of the provider',
  provider_unavailable: 'provider not available',
  provider_changed: 'provider was changed',
  account_mismatch: 'another account',
  nothing_to_choose: 'nothing to connect at the provider',
} as const satisfies Record<FailureReason, string>

const OTHER_WORDS = {
  completed: 'completed',
  ready: 'token given',
  authorization_required: 'consent needed',
  requires_authorization: 'consent needed',
  refused: 'refused',
  refreshed: 'refreshed',
  lost: 'answer lost',
  unavailable: 'provider not available',
  superseded: 'replaced meanwhile',
  revoked_meanwhile: 'revoked meanwhile',
  value: 'succeeded',
  artifact: 'succeeded, with a file',
} as const satisfies Record<Exclude<Refreshed | TokenFetched, FailureReason>, string> & Record<string, string>

const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...ERROR_WORDS, ...FAILURE_WORDS, ...OTHER_WORDS }),
)

/** The words for a label of the hourly counts: an outcome, a reason or a kind of error. */
export function outcomeWords(label: string): string {
  return WORDS.get(label) ?? label.replaceAll('_', ' ').toLowerCase()
}
