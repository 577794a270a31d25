import { type RequestOptions, toHeader } from './transport.ts'

/** Methods of the client name the user with each call; those of `gatepass.as(user)` have theirs already. */
export interface NamesUser {
  /** For whom. Needed by tools that act for a user. */
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
  /** The same at each of several providers, by the ids of their entries. */
  readonly accounts?: Readonly<Record<string, string>> | undefined
  /** Where the browser goes after a consent, with `auth_id`, `status` and `reason` added to the query. */
  readonly nextUri?: string | URL | undefined
  /** For tools that declare it; a tool gets only what it declares. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Keep input and output in the execution history, which has neither otherwise. */
  readonly keepContent?: boolean | undefined
}

/** Calls that Gatepass carries out once for each key. */
export interface OnceOptions {
  /**
   * Your own key: the same call with it within ten minutes gets the first answer. Without one the client makes a key for
   * its repetitions; with a `signal` and no key of yours it sends none, so that an abort ends the run. The deadline
   * `timeoutMs` then ends it too.
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
