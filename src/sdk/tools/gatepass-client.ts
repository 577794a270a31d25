import type { RequiredAuthorization } from './run.ts'

// The part of the client (`new Gatepass(…)` of `@gatepass/sdk`) that an app uses when it is served outside of Gatepass.
// Declared here, so that tools do not import the client.

export interface GatepassClient {
  readonly tools: {
    /** Rejects with an error that has Gatepass's `code` and the HTTP `status` where Gatepass refuses the call. */
    execute(
      name: string,
      input: Readonly<Record<string, unknown>>,
      options: {
        readonly user: string
        readonly signal?: AbortSignal
        readonly traceparent?: string | undefined
      },
    ): Promise<GatepassOutcome>
  }
  /** Rejects with an error that has an `authorization` where the user's consent is missing. */
  token(
    user: string,
    provider: string,
    options: { readonly scopes?: readonly string[]; readonly signal?: AbortSignal },
  ): Promise<{
    readonly value: string
    readonly type: string
    readonly expiresAt?: Date | undefined
    readonly scopes: readonly string[]
    readonly userInfo?: Readonly<Record<string, unknown>>
  }>
  /** `wait` rejects with the code `authorization_failed` or `authorization_timeout`. */
  authorization(
    id: string,
    options: { readonly signal?: AbortSignal },
  ): Promise<{
    wait(options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<unknown>
  }>
}

export type GatepassOutcome =
  | { readonly outcome: 'value'; readonly value: unknown }
  | {
      readonly outcome: 'error'
      readonly error: {
        readonly kind: string
        readonly message: string
        readonly canRetry: boolean
        readonly retryAfterMs?: number | undefined
        readonly additionalPromptContent?: string | undefined
      }
    }
  | { readonly outcome: 'requires_authorization'; readonly authorization: GatepassAuthorization }
  | { readonly outcome: 'artifact'; readonly artifact: unknown }
  | { readonly outcome: 'scheduled' }

export type GatepassAuthorization = Omit<RequiredAuthorization, 'url'> & { readonly url?: string | undefined }
