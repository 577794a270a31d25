import type { EpochSeconds } from './clock.ts'

// What happened in an authorization, and in the refreshes of a connection: a few short lines of JSON, kept in the row
// itself. They hold names, codes and addresses, and no secret, code, token or state.

/** The names are stable: callers and the dashboard switch on them. */
export const TRAIL_STEPS = [
  'begun',
  'link_opened',
  'logged_in',
  'clicked',
  'pushed_authorization',
  'temporary_credentials',
  'device_authorization',
  'sent_to_provider',
  'callback',
  'refused',
  'user_confirmed',
  'code_exchange',
  'user_info',
  'introspection',
  'choices',
  'stored',
  'ended',
  'connected',
  'refreshed',
  'refresh_failed',
  'needs_authorization',
  'used',
] as const
export type TrailStep = (typeof TRAIL_STEPS)[number]

/** The details of a step, by their names on the wire. */
export interface TrailDetails {
  /** Origin and path of the request, without its query. */
  readonly endpoint?: string
  readonly method?: string
  /** How the client authenticated, or how the token was carried. */
  readonly authentication?: string
  /** The names of the parameters that were sent or received. */
  readonly parameters?: readonly string[]
  readonly scopes?: readonly string[]
  /** Scopes that were requested and not granted. */
  readonly missing_scopes?: readonly string[]
  readonly redirect_uri?: string
  readonly code_challenge_method?: string
  /** The HTTP status of the answer. */
  readonly status?: number
  /** Why there was no answer: `timeout`, `unreachable`, … */
  readonly failure?: string
  readonly took_ms?: number
  /** Names of the answer's members with the form of their values (`scope: commas`). */
  readonly received?: readonly string[]
  /** The provider's error code. */
  readonly error?: string
  /** The provider's own words, cleaned (`wordsOf`). */
  readonly description?: string
  /** Our own reason: `FailureReason`, `Refusal` or `NeedsAuthorizationReason`. */
  readonly reason?: string
  readonly message?: string
  /** The claim of an ID token that was refused. */
  readonly claim?: string
  /** How many seconds the clock of Gatepass is ahead of the provider's; negative: behind. */
  readonly clock_difference_seconds?: number
  readonly connection_id?: string
  readonly account?: string
  /** The account that was connected before, when another one approved. */
  readonly previous_account?: string
  /** The tool or application that requested the authorization (`begun`), or the issuer of the login (`logged_in`). */
  readonly by?: string
  /** How many times in a row the same failure occurred, and when it first did (`first_at`). */
  readonly times?: number
  readonly first_at?: EpochSeconds
  /** Refresh requests with the same refresh token whose answers were lost. */
  readonly unanswered?: number
}

export interface TrailEntry {
  readonly at: EpochSeconds
  readonly step: TrailStep
  /** The index in the authorization's `steps`; that step names the provider. */
  readonly part?: number
  readonly details?: TrailDetails
}

/** The most characters of one line. */
const LONGEST_LINE = 1_200
/** The characters after which a trail is full: the next lines then replace all earlier ones. */
export const LONGEST_TRAIL = 10_000
const MOST_NAMES = 40
const LONGEST_TEXT = 300

/** The first line of a trail whose earlier lines were dropped. Stored, so it never changes. */
export const CUT_LINE = '{"anew":true}\n'

/** The entries as lines. A line that is too long loses its longest details. */
export function trailLines(...entries: readonly TrailEntry[]): string {
  return entries.map((entry) => `${lineOf(entry)}\n`).join('')
}

function lineOf({ at, step, part, details = {} }: TrailEntry): string {
  const short = Object.fromEntries(Object.entries(details).map(([name, value]) => [name, shortened(value)]))
  const line = (given: object) => JSON.stringify({ at, step, part, details: given })
  const full = line(short)
  if (full.length <= LONGEST_LINE) return full
  const { received: _, ...sent } = short
  const withoutReceived = line(sent)
  if (withoutReceived.length <= LONGEST_LINE) return withoutReceived
  const { parameters: __, scopes: ___, missing_scopes: ____, ...rest } = sent
  const withoutLists = line(rest)
  return withoutLists.length <= LONGEST_LINE ? withoutLists : line({})
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, LONGEST_TEXT)
  return Array.isArray(value) ? value.slice(0, MOST_NAMES) : value
}

export interface ReadTrail {
  readonly entries: readonly TrailEntry[]
  /** Whether earlier lines were dropped. */
  readonly isCut: boolean
}

/** The entries of a stored trail. A line that cannot be read is left out. */
export function readTrail(text: string): ReadTrail {
  const entries = text
    .split('\n')
    .map(parsed)
    .filter((entry) => entry !== undefined)
  return { entries, isCut: text.startsWith(CUT_LINE) }
}

function parsed(line: string): TrailEntry | undefined {
  if (line === '') return undefined
  try {
    const entry = JSON.parse(line) as Partial<TrailEntry> // written by `lineOf`
    return TRAIL_STEPS.some((step) => step === entry.step) ? (entry as TrailEntry) : undefined
  } catch {
    return undefined
  }
}
