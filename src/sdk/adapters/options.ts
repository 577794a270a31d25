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
  /** What happens when a person must approve exactly this call; by default the same as for a missing consent. */
  readonly approval?: Approval | undefined
  /** How long an adapter waits for a consent or an approval, in milliseconds; 600,000 (ten minutes) by default. */
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

/** What happens when a call waits for an approval: as `Consent`, but a function also gets what the call is about. */
export type Approval = 'wait' | 'return' | 'throw' | ShowApproval

/** Shows `approval.url` to the user. `approval.call` is what the page asks about. */
export type ShowApproval = (approval: PendingApproval) => void | Promise<void>

/** A question to a person about exactly one call. Made again after `wait()`, the call runs. */
export interface PendingApproval extends PendingAuthorization {
  readonly kind: 'approval'
  readonly call: ApprovedCall
}

/** A call as the model has made it. */
export interface ApprovedCall {
  /** The tool's name for the model. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** What a call waits for before it runs: `kind` says which. */
export type Missing = (PendingAuthorization & { readonly kind: 'consent' }) | PendingApproval

export function toMissing(authorization: PendingAuthorization, call: ApprovedCall): Missing {
  // the methods of an authorization are not copied by a spread, so it gets one more member
  return Object.assign(authorization, authorization.kind === 'approval' && { call }) as Missing // by its kind
}

/** A Gatepass client and the options of an adapter, checked. */
export interface Binding {
  readonly gatepass: Gatepass
  readonly user: string
  readonly tools: AdapterOptions['tools']
  readonly consent: Consent
  /** As `consent` where it is absent. */
  readonly approval: Approval | undefined
  readonly consentTimeoutMs: number | undefined
  readonly account: string | undefined
  /** The ids of the authorizations whose links were shown and are waited for. */
  readonly shown: Set<string>
  /** The results of calls that ran beside one that waits, until the application makes all of them again. */
  readonly finished: Map<string, FinishedCall>
}

export interface FinishedCall {
  readonly text: string
  readonly isError: boolean
}

/** What happens about this consent or approval. */
export function modeOf({ consent, approval }: Binding, missing: Missing): Consent | Approval {
  return missing.kind === 'approval' ? (approval ?? consent) : consent
}

/** Checks the options of an adapter. Throws `invalid_options`. */
export function bind(gatepass: Gatepass, options: AdapterOptions): Binding {
  const {
    user,
    tools,
    consent = 'wait',
    approval,
    consentTimeoutMs,
    account,
  }: Partial<AdapterOptions> = options ?? {}
  if (typeof user !== 'string' || user === '')
    throw invalidOption('user: name the user for whom the model calls tools.')
  if (!isSelection(tools))
    throw invalidOption(
      "tools: give the names of tools (tools: ['GitHub_Repositories']), or a selection by `toolset`, `tag` or `q`.",
    )
  const shared = { shown: new Set<string>(), finished: new Map<string, FinishedCall>() }
  return { gatepass, user, tools, consent, approval, consentTimeoutMs, account, ...shared }
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
