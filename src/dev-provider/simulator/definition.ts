// A provider as the admin API answers it: complete, with every default written out. The simulator reads this and not the
// broker's own `Provider`, so that what the broker makes of a definition is checked against the definition.

export interface SimulatedBlock {
  readonly endpoint: string
  readonly method?: string
  readonly auth_method?: string
  readonly auth_header_value_format?: string
  readonly params?: Readonly<Record<string, string>>
  readonly parameter_names?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly request_content_type?: string
  readonly response_content_type?: string
  readonly response_map?: Readonly<Record<string, string>>
  readonly expiration_format?: string
  readonly triggers?: { readonly on_token_grant: boolean; readonly on_token_refresh: boolean }
  readonly revokes?: string
  readonly token_parameter?: string
  /** Only in `renewal_request`: the age in seconds from which the access token can be renewed. */
  readonly least_age?: number
  /** Only in `authorize_request`: the fragment of its URL. */
  readonly fragment?: string
  readonly error_response?: {
    readonly at: string
    readonly codes?: Readonly<Record<string, string>>
  }
}

/** Where the list of installations or tenants is in the answer, and what each item tells. */
export interface SimulatedListBlock extends SimulatedBlock {
  readonly at: string
  readonly id: string
  readonly name: string
  readonly scopes?: string
  readonly detail?: string
}

export interface SimulatedOAuth2 {
  readonly scope_delimiter: string
  readonly pkce: {
    readonly enabled: boolean
    readonly code_challenge_method: string
    readonly code_challenge_encoding?: string
  }
  /** Absent with the grant `device_code`. */
  readonly authorize_request?: SimulatedBlock
  readonly pushed_authorization_request?: SimulatedBlock
  readonly device_authorization_request?: SimulatedBlock
  readonly verification_hosts?: readonly string[]
  readonly choices_request?: SimulatedListBlock
  readonly installations_request?: SimulatedListBlock
  readonly installation_token_request?: SimulatedBlock
  readonly installation_uri?: string
  readonly token_request: SimulatedBlock
  readonly refresh_request?: SimulatedBlock
  readonly exchange_request?: SimulatedBlock
  readonly renewal_request?: SimulatedBlock
  readonly user_info_request?: SimulatedBlock
  readonly token_introspection_request?: SimulatedBlock
  readonly revocation_request?: SimulatedBlock
  readonly issuer?: string
  readonly token_types?: readonly string[]
  readonly request_object?: { readonly algorithm?: string }
  readonly client_assertion?: { readonly algorithm?: string }
  /** Absent: tokens come by a code. */
  readonly grant?: { readonly type: string; readonly subject?: { readonly connection: string } }
  readonly assertion?: SimulatedAssertion
  readonly impersonation?: { readonly pattern: string }
  readonly default_scopes?: readonly string[]
  /** RFC 9449; absent: the server issues bearer tokens. */
  readonly dpop?: { readonly algorithm: string }
  readonly rotation?: { readonly kind: string }
  readonly strict_rotation?: boolean
  readonly default_expires_in?: number
  readonly scope_aliases?: Readonly<Record<string, string>>
  readonly scope_implies?: Readonly<Record<string, readonly string[]>>
  readonly callback_tells_scopes?: boolean
  readonly callback_members?: Readonly<Record<string, string>>
  readonly code_parameter?: string
  readonly kept_values?: Readonly<Record<string, SimulatedKeptValue>>
  readonly variables?: Readonly<
    Record<
      string,
      {
        readonly value?: string
        readonly ask?: string
        readonly pattern?: string
        readonly one_of?: readonly string[]
        readonly example?: string
      }
    >
  >
  readonly account?: { readonly id?: readonly string[]; readonly name?: readonly string[] }
  readonly api?: {
    readonly base_url?: string
    readonly hosts: readonly string[]
    readonly auth_header_value_format?: string
    readonly headers?: Readonly<Record<string, string>>
  }
}

/** The JWT of the grant `jwt_bearer`. */
export interface SimulatedAssertion {
  readonly algorithm?: string
  readonly issuer?: string
  readonly subject?: string
  readonly audience?: string
  readonly lifetime?: number
  readonly claims?: Readonly<Record<string, string | number | boolean>>
}

export interface SimulatedKeptValue {
  readonly from: string
  readonly at: string
  readonly pattern?: string
  readonly one_of?: readonly string[]
}

/** The broker's registration, as this server has it. */
export interface SimulatedClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  /** Verifies a JWT that the client signed; absent if the client sends its secret instead. */
  readonly verifies?: (jwt: string) => boolean
}

/** A request as it would arrive: names of headers in lower case. */
export interface SimulatedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SimulatedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
