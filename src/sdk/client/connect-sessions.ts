import type * as Wire from '../generated/wire.ts'
import { withoutUndefined } from '../without-undefined.ts'
import type { NamesUser, UserBinding } from './tool-call.ts'
import type { RequestOptions, Transport } from './transport.ts'

/**
 * Lets a page connect its user. The JSON of this object is the input of `connect` of `@gatepass/sdk/browser` and of
 * `<gatepass-connect>`: send it only to the page of that user. Keep `id` or `authorizationId` on your server, in the
 * user's session.
 */
export interface ConnectSession {
  readonly id: string
  readonly authorizationId: string
  /** For the page, which opens, follows and cancels this one authorization with it. Valid at `allowedOrigin` only. */
  readonly sessionToken: string
  /** `completed` where a connection covers the need already. */
  readonly status: 'pending' | 'completed'
  /** The connect page, for the browser that has opened the session. */
  readonly url?: string
  readonly connection?: { readonly id: string; readonly provider: string }
  /** When `sessionToken` expires at the latest. It expires earlier, 60 seconds after the authorization has ended. */
  readonly expiresAt: Date
  toJSON(): ConnectSessionJson
}

/** The JSON of a `ConnectSession`, for the page. */
export type ConnectSessionJson = Pick<
  Wire.BegunConnectSession,
  'session_token' | 'status' | 'url' | 'connection' | 'expires_at'
>

/** What is to be connected: a provider, what a tool needs, or a connection once more. */
export type Connectable =
  | {
      /** The id of a provider entry, or a well-known provider. */
      readonly provider: string
      readonly scopes?: readonly string[] | undefined
      /** Which of the user's accounts: a connection's id, an account's id or name, or `new` to connect one more. */
      readonly account?: string | undefined
      /** Values that the provider entry asks users for: the connect page then does not ask. */
      readonly variables?: Readonly<Record<string, string>> | undefined
    }
  | { readonly tool: string; readonly account?: string | undefined }
  /** The id of a connection; `scopes` are added to those that it has. */
  | { readonly connection: string; readonly scopes?: readonly string[] | undefined }

export type ConnectSessionOptions = Connectable &
  RequestOptions & {
    /** The origin of the page, such as `https://app.example`. */
    readonly allowedOrigin: string
    /** Where the browser goes at the end if the page's own tab had to be used. */
    readonly nextUri?: string | URL | undefined
    /** The user's name, for the connect page. */
    readonly userDisplay?: string | undefined
    /** The language of the connect page; else that of the browser. */
    readonly lang?: string | undefined
  }

/** Sessions in which pages let users connect. */
export interface ConnectSessions<Who extends UserBinding = NamesUser> {
  create(options: ConnectSessionOptions & Who): Promise<ConnectSession>
}

/** The members of every kind of need. */
interface AnyNeed extends RequestOptions {
  readonly user?: string | undefined
  readonly allowedOrigin: string
  readonly nextUri?: string | URL | undefined
  readonly userDisplay?: string | undefined
  readonly lang?: string | undefined
  readonly provider?: string
  readonly tool?: string
  readonly connection?: string
  readonly scopes?: readonly string[] | undefined
  readonly account?: string | undefined
  readonly variables?: Readonly<Record<string, string>> | undefined
}

export function createConnectSessions<Who extends UserBinding>(
  transport: Transport,
  bound: string | undefined,
): ConnectSessions<Who> {
  return {
    async create(given: ConnectSessionOptions & Who) {
      const { user, allowedOrigin, nextUri, userDisplay, lang, ...need }: AnyNeed = given
      const { provider, tool, connection, scopes, account, variables, ...options } = need
      const wire = await transport.call('createConnectSession', {
        body: {
          user_id: bound ?? user ?? '',
          provider_id: provider,
          tool,
          connection_id: connection,
          scopes: scopes && [...scopes],
          account,
          variables,
          allowed_origin: allowedOrigin,
          next_uri: nextUri?.toString(),
          user_display: userDisplay,
          lang,
        }, // if the answer was lost, its session expires unused
        options,
      })
      return toConnectSession(wire)
    },
  }
}

function toConnectSession(wire: Wire.BegunConnectSession): ConnectSession {
  const { session_token, status, url, connection, expires_at } = wire
  const session = withoutUndefined({
    id: wire.id,
    authorizationId: wire.auth_id,
    sessionToken: session_token,
    status: status === 'completed' ? ('completed' as const) : ('pending' as const),
    url,
    connection: connection && { id: connection.id, provider: connection.provider_id },
    expiresAt: new Date(expires_at),
  })
  const toJSON = (): ConnectSessionJson =>
    withoutUndefined({ session_token, status, expires_at, url, connection })
  return Object.defineProperty(session, 'toJSON', { value: toJSON }) as ConnectSession // `toJSON` is defined here
}
