import { type RequestOptions, toHeader } from './transport.ts'

/** The option by which methods of `Gatepass` name the user. Methods of `gatepass.as(user)` do not take it. */
export interface NamesUser {
  /** The user's id. Tools that act for a user need it. */
  readonly user?: string | undefined
}

/** The options of methods that are bound to a user. */
export interface IsBound {
  /** The user was named by `as()`. */
  readonly user?: never
}

/** Whether a method's caller names the user. */
export type UserBinding = NamesUser | IsBound

/** What every way to run a tool takes. */
export interface CallOptions extends RequestOptions {
  /** Which of the user's accounts: a connection's id, or an account's id or name. */
  readonly account?: string | undefined
  /** The user's account at each of several providers, keyed by the id of the provider entry. */
  readonly accounts?: Readonly<Record<string, string>> | undefined
  /** Where the browser goes after a consent, with `auth_id`, `status` and `reason` added to the query. */
  readonly nextUri?: string | URL | undefined
  /** Metadata for the tool, which gets only the keys that it declares. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Keeps input and output in the execution history; not kept by default. */
  readonly keepContent?: boolean | undefined
}

/** Options of calls that Gatepass carries out once for each idempotency key. */
export interface OnceOptions {
  /**
   * Your own key: the same call with the same key within ten minutes gets the first answer. By default the client
   * makes a key that is the same for all attempts of a call. With a `signal` and no key of yours, the client sends no
   * key and repeats the call only after 429: an abort, or the deadline `timeoutMs`, then ends the run.
   */
  readonly idempotencyKey?: string | undefined
}

/** The members of a call on the wire. */
export function callBody(options: CallOptions & NamesUser, user: string | undefined) {
  const { account, accounts, nextUri, metadata, keepContent } = options
  return {
    user_id: user ?? options.user,
    account,
    accounts,
    next_uri: nextUri?.toString(),
    metadata,
    keep_content: keepContent,
  }
}

/** How a call that may have effects is repeated. */
export function callRepetition({ idempotencyKey, signal }: RequestOptions & OnceOptions) {
  if (idempotencyKey !== undefined)
    return { repetition: 'by_key', headers: { 'idempotency-key': toHeader(idempotencyKey) } } as const
  return { repetition: signal === undefined ? 'by_key' : 'unsafe' } as const
}
