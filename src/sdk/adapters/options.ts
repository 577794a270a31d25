import type { PendingAuthorization } from '../client/authorization.ts'
import { GatepassError } from '../client/errors.ts'
import type { Gatepass } from '../client/gatepass.ts'
import { isRecord } from '../is-record.ts'

/** What every adapter takes besides the Gatepass client. */
export interface AdapterOptions {
  /** The user for whom the model calls tools. */
  readonly user: string
  /** The tools that the model gets: their names, or a selection. */
  readonly tools: readonly string[] | ToolSelection
  /** What happens when a tool needs a consent that the user has not given; `'wait'` by default. */
  readonly consent?: Consent | undefined
  /** How long an adapter waits for a consent, in milliseconds; 600,000 (ten minutes) by default. */
  readonly consentTimeoutMs?: number | undefined
  /** Which of the user's accounts at the provider; the default account otherwise. */
  readonly account?: string | undefined
}

/** For adapters whose application runs the loop: it may have tools beside those of Gatepass. */
export interface OwnToolsOptions {
  /**
   * The names of the application's own tools. Their calls are left to the application; every other call that names no
   * tool of the adapter gets a result that says so.
   */
  readonly ownTools?: readonly string[] | undefined
}

/** Selects the tools that match every member that is set. */
export interface ToolSelection {
  /** Any of these tags. */
  readonly tag?: string | readonly string[] | undefined
  /** Words that all occur in a tool's names, description or tags. */
  readonly q?: string | undefined
  /** The id of a toolset (`/v1/toolsets`): the tools that are in it now. */
  readonly toolset?: string | undefined
}

/**
 * What happens when a consent is missing.
 *
 * - `'wait'`: the call waits for the consent. Each framework has its own way to show the link: see its adapter.
 * - `'return'`: the model gets the link as text, and the run continues.
 * - `'throw'`: the call throws `AuthorizationRequired`.
 * - A function: it shows the link to the user; then the call waits until the user has approved.
 */
export type Consent = 'wait' | 'return' | 'throw' | ShowConsent

/** Shows `authorization.url` to the user. */
export type ShowConsent = (authorization: PendingAuthorization) => void | Promise<void>

/** A Gatepass client and the options of an adapter, checked. */
export interface Binding {
  readonly gatepass: Gatepass
  readonly user: string
  readonly tools: AdapterOptions['tools']
  readonly consent: Consent
  readonly consentTimeoutMs: number | undefined
  readonly account: string | undefined
  /** The ids of the authorizations whose links were shown and are waited for. */
  readonly shown: Set<string>
}

/** Checks the options of an adapter. Throws `invalid_options`. */
export function bind(gatepass: Gatepass, options: AdapterOptions): Binding {
  const { user, tools, consent = 'wait', consentTimeoutMs, account }: Partial<AdapterOptions> = options ?? {}
  if (typeof user !== 'string' || user === '')
    throw invalidOption('user: name the user for whom the model calls tools.')
  if (!isSelection(tools))
    throw invalidOption(
      "tools: give the names of tools (tools: ['GitHub_Repositories']), or a selection by `toolset`, `tag` or `q`.",
    )
  return { gatepass, user, tools, consent, consentTimeoutMs, account, shown: new Set() }
}

export function isNames(tools: AdapterOptions['tools']): tools is readonly string[] {
  return Array.isArray(tools)
}

/** Programs without types may give anything. */
function isSelection(tools: unknown): tools is AdapterOptions['tools'] {
  if (Array.isArray(tools)) return tools.every((name) => typeof name === 'string' && name !== '')
  return isRecord(tools) && ['toolset', 'tag', 'q'].some((member) => tools[member] !== undefined)
}

export function invalidOption(message: string): GatepassError {
  return new GatepassError('invalid_options', message)
}
