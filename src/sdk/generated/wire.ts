// The types of Gatepass's wire, generated from /openapi.json by `npm run wire-types`. Do not edit.

export interface AccessToken {
  readonly access_token: string
  readonly token_type: string
  readonly expires_at?: string
  readonly scopes: readonly string[]
}

export interface AddedPack {
  readonly id: string
  readonly name: string
  readonly tools: readonly PackTool[]
  /** Of all these tools together */
  readonly scopes: readonly string[]
  readonly worker: { readonly id: string }
  /** The selection of these tools, and its address for MCP clients */
  readonly toolset?: { readonly id: string; readonly url: string }
  /** The policy that asks for approvals */
  readonly policy?: { readonly id: string }
  /** The entries whose connections the tools use. `missing` says what an entry still needs */
  readonly providers: readonly AuthProviderResponse[]
  /** What was made, such as `provider google`; the rest was there */
  readonly made: readonly string[]
}

/**
 * Whether a value is there, is this one, or is not there (`lacks`); whether it is above the number of
 * the page; whether a list has as many elements as a property of the input asked for; whether the
 * header `Link` has a next page
 */
export type AnswerCondition =
  | {
      /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
      readonly at: string
      readonly is?: string | number | boolean | undefined
    }
  | {
      /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
      readonly at: string
      readonly is_above_page: true
    }
  | {
      /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
      readonly at: string
      readonly is_as_long_as: string
    }
  | {
      /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
      readonly lacks: string
    }
  | { readonly link: 'next' }

/** What of an answer becomes the value of the tool */
export interface AnswerDescription {
  /** The members that are kept; all unless given */
  readonly members?: readonly string[] | undefined
  /** Members within those that are left out */
  readonly drop?: readonly string[] | undefined
  /** Texts that others wrote: the answer lists these paths as `written_by_others` */
  readonly foreign?: readonly string[] | undefined
  /**
   * The longest answer, in characters of JSON; 16,000 by default. A longer one is cut, and `cut` says
   * how to go on
   */
  readonly limit?: number | undefined
  /** By path: what is made of the value */
  readonly convert?:
    | {
        readonly [name: string]:
          | 'base64_text'
          | 'name_value_object'
          | 'gmail_payload_text'
          | 'html_text'
          | 'adf_text'
          | 'rich_text_text'
          | 'google_document_text'
          | 'epoch_seconds_time'
          | 'epoch_milliseconds_time'
      }
    | undefined
  /** From how many characters on texts are shortened, and the input that asks for the rest */
  readonly long_texts?: { readonly limit: number; readonly from: string } | undefined
  readonly file?: AnswerFile | undefined
  /** The value of an answer without content; `{"done": true}` unless given */
  readonly empty?: JsonValue | undefined
}

/**
 * A file: a text becomes the value, anything else is stored and answered by reference. `at`: where its
 * content is, in base64; without it the body is the file. `name` and `content_type`: where they are,
 * `{path}` for a property of the input or a path in the answer; the first with a value counts
 */
export interface AnswerFile {
  /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
  readonly at?: string | undefined
  readonly name?: readonly string[] | undefined
  readonly content_type?: readonly string[] | undefined
}

export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonSchema
}

export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly role: 'admin' | 'caller' | 'readonly' | 'approver'
  readonly status: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  /** The only user that the key acts for */
  readonly user_id?: string
  /** Of an approver: the groups whose calls it lists and decides about; without it, all */
  readonly groups?: readonly string[]
  readonly expires_at?: string
  readonly rate_limit?: number
  readonly last_used_at?: string
  /** The key that took its place */
  readonly replaced_by?: string
  readonly revoked_at?: string
}

export interface Approval {
  readonly id: string
  readonly status: 'pending' | 'approved' | 'used' | 'denied' | 'expired' | 'cancelled' | 'superseded'
  /** Names exactly this call; a decision repeats it */
  readonly digest: string
  readonly user_id?: string
  readonly use: 'tool' | 'proxy' | 'token'
  readonly tool_id?: string
  readonly provider_id?: string
  /** The API key or the MCP client that makes the call */
  readonly agent: string
  /** Ids of the policies that ask */
  readonly rules: readonly string[]
  /** The group of approvers that must decide */
  readonly group?: string
  /** What the approver may choose */
  readonly remember: readonly ('once' | 'hour' | 'standing')[]
  readonly decisions: readonly {
    readonly decision: 'approve' | 'deny'
    readonly approver: string
    readonly proof: 'login' | 'application' | 'ticket' | 'console' | 'api_key' | 'client' | 'decision_point'
    readonly remember: 'once' | 'hour' | 'standing'
    readonly at: string
  }[]
  /** Written by a program. Absent in lists, and a day after the end */
  readonly call?: {
    readonly title: string
    /** The name of the API key, or the MCP client */
    readonly agent_name: string
    readonly hosts: readonly string[]
    readonly hints: readonly ('read_only' | 'destructive' | 'open_world')[]
    /** Without those that the tool hides from people */
    readonly arguments: JsonObject
    /** Names of arguments whose values the tool hides from people */
    readonly hidden?: readonly string[]
    /** Values beside the arguments that the tool gets */
    readonly metadata?: { readonly [name: string]: string }
    readonly accounts: readonly {
      readonly connection_id: string
      readonly provider: string
      readonly account: string
    }[]
    /** When a scheduled call runs; else once it is approved */
    readonly run_at?: string
  }
  readonly execution_id?: string
  readonly created_at: string
  readonly expires_at: string
}

/** A result that is stored elsewhere */
export interface Artifact {
  readonly url: string
  /** A media type */
  readonly content_type: string
  /** Bytes */
  readonly size: number
  readonly name?: string
  /** Until when Gatepass keeps the file, which `GET /v1/files/{id}` answers */
  readonly expires_at?: string
  readonly meta: { readonly description: string }
}

export interface AttemptOutput {
  readonly value?: JsonValue
  readonly error?: ToolError
  /** The consent that the tool needs first */
  readonly authorization?: RequiredAuthorization & {
    readonly user_id: string
    readonly provider_id?: string
    readonly context: Record<string, never>
  }
  readonly artifact?: Artifact
  readonly logs?: readonly { readonly level: string; readonly message: string; readonly subtype?: string }[]
}

export interface AuditEntry {
  /** Counts the entries of the project, without gaps */
  readonly seq: number
  readonly at: string
  readonly action:
    | 'token.released'
    | 'authorization.confirmed'
    | 'authorization.completed'
    | 'authorization.failed'
    | 'authorization.refused'
    | 'connection.refreshed'
    | 'connection.needs_authorization'
    | 'connection.made_default'
    | 'connection.deleted'
    | 'connection.imported'
    | 'connections.exported'
    | 'shared_connection.added'
    | 'shared_connection.changed'
    | 'shared_connection.deleted'
    | 'provider.added'
    | 'provider.changed'
    | 'provider.connections_kept'
    | 'provider.environment_client_confirmed'
    | 'provider.deleted'
    | 'provider.tested'
    | 'tool.imported'
    | 'tool.bound'
    | 'tool.deleted'
    | 'tool.changed'
    | 'worker.added'
    | 'worker.changed'
    | 'worker.deleted'
    | 'worker.synced'
    | 'worker.waiting'
    | 'worker.accepted'
    | 'worker.named'
    | 'policy.set'
    | 'policy.deleted'
    | 'policy.refused'
    | 'toolset.set'
    | 'toolset.deleted'
    | 'tool.scheduled'
    | 'tool.cancelled'
    | 'tool.tried'
    | 'approval.requested'
    | 'approval.approved'
    | 'approval.denied'
    | 'approval.expired'
    | 'approval.used'
    | 'approval.superseded'
    | 'standing_approval.added'
    | 'standing_approval.removed'
    | 'secret.set'
    | 'secret.deleted'
    | 'project.created'
    | 'branding.set'
    | 'branding.domain_set'
    | 'branding.domain_proved'
    | 'branding.domain_removed'
    | 'key.created'
    | 'key.rotated'
    | 'key.revoked'
    | 'console.logged_in'
    | 'console.logged_out'
    | 'webhook.added'
    | 'webhook.changed'
    | 'webhook.secret_rotated'
    | 'webhook.replayed'
    | 'webhook.tested'
    | 'webhook.disabled'
    | 'webhook.deleted'
    | 'mcp_client.approved'
    | 'mcp_client.revoked'
    | 'connect_session.created'
    | 'connect_session.opened'
    | 'connect_session.restarted'
    | 'connect_session.cancelled'
    | 'portal.linked'
    | 'portal.entered'
    | 'user.exported'
    | 'user.erased'
    | 'audit.archived'
    | 'access.refused'
    | 'envelope.unreadable'
    | 'master_key.rotated'
    | 'installation.backed_up'
    | 'installation.restored'
    | 'installation.commits_lost'
    | 'installation.moved'
    | 'installation.rows_signed'
  readonly actor: {
    readonly kind: 'api_key' | 'user' | 'operator' | 'cli' | 'system'
    readonly id?: string
    /** The client id of the MCP client with which a user called */
    readonly client?: string
  }
  readonly user_id?: string
  readonly provider_id?: string
  readonly connection_id?: string
  /** The token is of a connection of the project, used for `user_id` */
  readonly owner?: 'project'
  readonly authorization_id?: string
  readonly subject?: string
  readonly tool?: string
  readonly scopes?: readonly string[]
  readonly reason?: string
  /** The message of the provider */
  readonly detail?: string
  /** A keyed hash of the access token, the same for the same token */
  readonly fingerprint?: string
  /** The endpoint or command */
  readonly purpose?: string
  readonly request_id?: string
}

export interface AuthProviderCreateRequest {
  readonly $schema?: string | undefined
  /** Other names, by which a search finds the provider */
  readonly also_known_as?: readonly string[] | undefined
  readonly category?:
    | 'ai'
    | 'analytics'
    | 'calendar'
    | 'commerce'
    | 'communication'
    | 'content'
    | 'crm'
    | 'data'
    | 'design'
    | 'development'
    | 'education'
    | 'email'
    | 'files'
    | 'finance'
    | 'games'
    | 'health'
    | 'hr'
    | 'identity'
    | 'iot'
    | 'legal'
    | 'maps'
    | 'marketing'
    | 'media'
    | 'monitoring'
    | 'music'
    | 'other'
    | 'productivity'
    | 'project-management'
    | 'sales'
    | 'search'
    | 'security'
    | 'social'
    | 'sports'
    | 'storage'
    | 'support'
    | 'transport'
    | 'travel'
    | 'video'
    | undefined
  /**
   * Whose connections the entry may have: `user`, each user's own; `project`, those that an
   * administrator makes for all or some users; `either`. Default: `project` for grants without a user,
   * else `user`.
   */
  readonly owner?: 'user' | 'project' | 'either' | null | undefined
  /**
   * Further addresses of the endpoints, of other versions or hosts, by which the provider is recognized.
   * They may name variables as `{{name}}`.
   */
  readonly other_endpoints?:
    | {
        readonly authorization?: readonly string[] | undefined
        readonly pushed_authorization?: readonly string[] | undefined
        readonly device_authorization?: readonly string[] | undefined
        readonly temporary?: readonly string[] | undefined
        readonly token?: readonly string[] | undefined
        readonly refresh?: readonly string[] | undefined
        readonly exchange?: readonly string[] | undefined
        readonly renewal?: readonly string[] | undefined
        readonly choices?: readonly string[] | undefined
        readonly installations?: readonly string[] | undefined
        readonly installation_token?: readonly string[] | undefined
        readonly test?: readonly string[] | undefined
        readonly user_info?: readonly string[] | undefined
        readonly introspection?: readonly string[] | undefined
        readonly revocation?: readonly string[] | undefined
      }
    | undefined
  /**
   * The id of another definition of the same service, whose users give access in another way: `github`
   * for the API keys of GitHub
   */
  readonly second_way_of?: string | undefined
  /**
   * The id of another definition that has the same endpoints. An entry with these endpoints is
   * recognized as the other definition; this definition is used only where its id is named.
   */
  readonly shares_endpoints_with?: string | undefined
  readonly registration?:
    | {
        /** The page where a client is registered */
        readonly url: string
        readonly steps?: readonly string[] | undefined
        /** What that page calls the values */
        readonly fields?:
          | {
              readonly redirect_uri?: string | undefined
              readonly client_id?: string | undefined
              readonly client_secret?: string | undefined
              readonly scopes?: string | undefined
            }
          | undefined
      }
    | undefined
  /**
   * Scopes, each with a sentence in plain words that users read: a verb first, no full stop. A name with
   * `*`, which fits any characters, is for all scopes that no exact name or longer pattern describes.
   */
  readonly scopes?:
    | {
        readonly [name: string]:
          | string
          | {
              readonly text: string | { readonly en: string; readonly [name: string]: unknown }
              /** `read`: see data; `write`: change data; `admin`: control the account */
              readonly level?: 'read' | 'write' | 'admin' | undefined
              /** Whether the connect page marks the scope, such as one for e-mail or money */
              readonly sensitive?: boolean | undefined
            }
      }
    | undefined
  readonly documentation?: string | undefined
  readonly sources?: readonly string[] | undefined
  readonly checked?: string | undefined
  /** Whether two sources, or a document of the provider, confirm its endpoints */
  readonly verified?: boolean | undefined
  /** The slug of a logo of the catalogue, which has those of simple-icons */
  readonly logo?: string | undefined
  /** What people call the provider */
  readonly name?: string | undefined
  /**
   * Parameters and scopes that the authorization request needs for the provider to issue a refresh
   * token. Left out: it needs none, or the provider issues no refresh tokens.
   */
  readonly offline_access?:
    | {
        readonly params?: { readonly [name: string]: string } | undefined
        readonly scopes?: readonly string[] | undefined
      }
    | undefined
  readonly id: string
  readonly description?: string | null | undefined
  readonly provider_id?: string | null | undefined
  readonly external_id?: string | null | undefined
  readonly type?: 'oauth2' | 'oauth1' | 'credentials' | null | undefined
  readonly status?: 'active' | 'inactive' | 'missing' | null | undefined
  /** A member of answers; without effect in a request */
  readonly missing?: JsonValue | undefined
  /** A member of answers; without effect in a request */
  readonly binding?: JsonValue | undefined
  /** A member of answers; without effect in a request */
  readonly created_at?: JsonValue | undefined
  /** A member of answers; without effect in a request */
  readonly updated_at?: JsonValue | undefined
  readonly oauth2?:
    | {
        /** Required unless `provider_id` names a provider of the catalogue */
        readonly client_id?: string | undefined
        /**
         * Where `auth_method` says so, a private key in PEM or as a JWK, or a certificate with its chain and
         * its key in PEM.
         */
        readonly client_secret?: string | null | undefined
        /** Accepted so that an answer can be sent back. Gatepass determines it, so this has no effect. */
        readonly redirect_uri?: string | null | undefined
        /** A member of answers; without effect in a request */
        readonly installation_url?: JsonValue | undefined
        /**
         * Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the
         * next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a
         * path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only
         * values in its place. With `ask` set to `user` each user enters a value at the consent, which is
         * stored with the connection; it must not determine a domain. A change of an entry's own value
         * requires new consents. A member that is left out is not changed; `null` removes a variable.
         */
        readonly variables?:
          | {
              readonly [name: string]: {
                readonly value?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly label?: string | undefined
                readonly example?: string | undefined
                readonly ask?: 'operator' | 'user' | undefined
              } | null
            }
          | null
          | undefined
        /**
         * Beyond Arcade: values that the provider returns for each connection, stored with its tokens.
         * `api.base_url`, `api.headers` and the `params` and `headers` of `refresh_request` use them as
         * `{{name}}`. `at` says where the value is: the name of a parameter of the authorization response,
         * otherwise an expression such as `$.instance_url`. If it is left out, it is the value's own name.
         * With `choice` it is an expression within the item of `choices_request` that the user chose.
         * `pattern` is a regular expression that the whole value must match; `one_of` lists the permitted
         * values instead. All endpoints but the authorization endpoint can use values of the authorization
         * response, if the domain is fixed by the URL, the pattern or `one_of`, because this response comes
         * through the user's browser.
         */
        readonly kept_values?:
          | {
              readonly [name: string]: {
                readonly from: 'authorization_response' | 'token_response' | 'user_info' | 'choice'
                readonly at?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly example?: string | undefined
              }
            }
          | null
          | undefined
        readonly scope_delimiter?: ' ' | ',' | null | undefined
        /**
         * RFC 7636. Beyond Arcade: `required`, for a server that refuses requests without PKCE, so that PKCE
         * cannot be switched off; `code_challenge_encoding: "hex"` (TikTok's desktop clients).
         */
        readonly pkce?:
          | {
              readonly enabled?: boolean | undefined
              readonly code_challenge_method?: string | null | undefined
              readonly required?: boolean | null | undefined
              readonly code_challenge_encoding?: 'base64url' | 'hex' | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: how tokens are obtained. `authorization_code`, the default: a user approves in a
         * browser. `client_credentials` (RFC 6749 section 4.4), `account_credentials` (Zoom): the client asks
         * for them without a user, so there is no `authorize_request`. `jwt_bearer` (RFC 7523 section 2.1):
         * the same with a JWT that the client signs (`assertion`). `token_exchange` (RFC 8693): the client
         * exchanges a token of the user's connection to another entry (`subject`). `device_code` (RFC 8628):
         * the user enters a code at the provider (`device_authorization_request`), without
         * `authorize_request`. `installation` (GitHub Apps): a user approves and chooses one of their
         * installations of the client, and the client asks for its tokens (`installations_request`,
         * `installation_token_request`).
         */
        readonly grant?:
          | {
              readonly type:
                | 'authorization_code'
                | 'client_credentials'
                | 'account_credentials'
                | 'jwt_bearer'
                | 'token_exchange'
                | 'device_code'
                | 'installation'
              /**
               * With `token_exchange`: what is exchanged. `connection` is the id of another entry of the project,
               * whose users' connections are used. Their token is sent to this entry's token endpoint, and nowhere
               * else.
               */
              readonly subject?:
                | {
                    readonly connection: string
                    /** Default: `"access_token"` */
                    readonly token?: 'access_token' | 'id_token' | undefined
                  }
                | null
                | undefined
            }
          | null
          | undefined
        /** The same as `owner` beside `oauth2`, where answers have it. */
        readonly owner?: 'user' | 'project' | 'either' | null | undefined
        /**
         * Beyond Arcade: users may begin at the provider, such as in its store of apps: their browser comes to
         * `installation_url` without a `state`, and a code that it brings is never redeemed. `hints`:
         * parameters of that URL, each with a regular expression that the whole value must match; one of the
         * name of a variable that users are asked for gives its value. `hmac.parameter`: the parameter with
         * the hex HMAC-SHA256 of the others, by the client secret (Shopify); URLs without it are refused.
         * `install_uri`: a page of the caller, to which the browser goes with `install_id` in place of our
         * own.
         */
        readonly installation?:
          | {
              readonly hints?: { readonly [name: string]: string } | undefined
              readonly hmac?: { readonly parameter: string } | null | undefined
              readonly install_uri?: string | null | undefined
            }
          | null
          | undefined
        readonly authorize_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: the endpoint of RFC 9126. The parameters of the authorization request are sent there
         * first, and the browser carries only a reference to them. The client authenticates as at the token
         * endpoint.
         */
        readonly pushed_authorization_request?: { readonly endpoint: string } | null | undefined
        readonly token_request?: OAuth2RequestOfIssuer | undefined
        /**
         * Beyond Arcade: asks for the code of the grant `device_code` (RFC 8628 section 3.1) at the click of
         * the user. `response_map` names members of other names: `{"verification_uri": "$.verification_url"}`.
         * `auth_method`: by default that of `token_request`.
         */
        readonly device_authorization_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
            }
          | null
          | undefined
        readonly refresh_request?: OAuth2RequestOfIssuer | undefined
        /**
         * Beyond Arcade: sent after the code was redeemed, with `{{access_token}}` of that response, for a
         * token that lives longer and takes its place (Instagram, Facebook, Threads). GET is the default, and
         * may carry the secret and the token in the URL, which is neither logged nor answered.
         */
        readonly exchange_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: renews the access token itself while it is alive, in place of `refresh_request`
         * (Instagram, Threads). All connections are renewed in the background, halfway through the lifetime of
         * their token.
         */
        readonly renewal_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: lists the tenants of a user (sites, organizations, accounts) with the token of their
         * code, where a connection is for one of them. The user chooses one of several; `kept_values` with
         * `from: "choice"` say what of it is kept.
         */
        readonly choices_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade, with the grant `installation`: lists the installations that a user may use, with the
         * token of their code. Only these are offered.
         */
        readonly installations_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade, with the grant `installation`: asks for a token of one installation,
         * `{{installation_id}}` in its URL, with the JWT of `assertion` as the bearer token. It is JSON unless
         * it says otherwise. In `params`, `{{scope_members}}` is the scopes as an object: `contents:read`
         * becomes `{"contents": "read"}`.
         */
        readonly installation_token_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
            }
          | null
          | undefined
        readonly user_info_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers: {
                readonly on_token_grant?: boolean | undefined
                readonly on_token_refresh?: boolean | undefined
              }
            }
          | null
          | undefined
        readonly token_introspection_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers: {
                readonly on_token_grant?: boolean | undefined
                readonly on_token_refresh?: boolean | undefined
              }
              readonly enabled?: boolean | undefined
            }
          | null
          | undefined
        /** Beyond Arcade: RFC 7009. */
        readonly revocation_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: with the grant `device_code`, the hosts where users enter the code: `host`,
         * `host:port` or `*.example.com`. A `verification_uri` of another host is refused. Left out: the site
         * of the token endpoint.
         */
        readonly verification_hosts?: readonly string[] | null | undefined
        /**
         * Beyond Arcade: with the grant `device_code`, users may connect although the provider does not say
         * which account approved. Without this setting a source of the account is needed: `user_info_request`
         * on `on_token_grant`, `issuer`, the scope `openid` in `default_scopes`, or `account`.
         */
        readonly unnamed_accounts?: boolean | null | undefined
        /**
         * Beyond Arcade: the JWT of `private_key_jwt`, `client_secret_jwt` and `signed_client_secret`, made
         * for each request. `client_secret` is its key: a private key in PEM or as a JWK, for HS256 a text.
         * `key_id`, `issuer`, `subject` (default: the client id) and `audience` (default: the entry's issuer,
         * else the token endpoint) may name `{{client_id}}` and variables. `lifetime` is in seconds, 60 by
         * default.
         */
        readonly client_assertion?:
          | {
              readonly algorithm:
                | 'ES256'
                | 'ES384'
                | 'ES512'
                | 'RS256'
                | 'RS384'
                | 'RS512'
                | 'PS256'
                | 'PS384'
                | 'PS512'
                | 'EdDSA'
                | 'HS256'
                | 'HS384'
                | 'HS512'
              readonly key_id?: string | null | undefined
              readonly issuer?: string | null | undefined
              readonly subject?: string | null | undefined
              readonly audience?: string | null | undefined
              readonly lifetime?: number | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: with the grant `installation`, a token may have all that the installation has: where
         * a request names no scopes and `default_scopes` is empty, and where `installation_token_request` has
         * no place for scopes. Without this setting the first is refused, and the second is no valid entry.
         */
        readonly unscoped_tokens?: boolean | null | undefined
        /**
         * Beyond Arcade, with the grant `installation`: the page of the provider on which people install the
         * client; it may name variables. It is shown to users who have no installation yet, with a `state`
         * that brings them back.
         */
        readonly installation_uri?: string | null | undefined
        /**
         * Beyond Arcade, with the grant `installation`: the page of the provider on which people end an
         * installation. It is shown to users, since disconnecting here ends no installation there.
         */
        readonly installation_help_uri?: string | null | undefined
        /**
         * Beyond Arcade: the JWT of the grants `jwt_bearer` and `installation`, made for each token request.
         * `client_secret` is its key: a private key in PEM or as a JWK; with `installation` it is the client
         * secret, which is sent for a code, and after it the private key in PEM. The members are those of
         * `client_assertion`, with a `lifetime` of 300 seconds by default and at least 40 (with `installation`
         * 70), since `iat` is 30 (60) seconds before the request; an empty `subject` or `audience` leaves
         * `sub` or `aud` out. `claims` are further claims: texts may name `{{client_id}}`, variables and
         * `{{scopes}}`, which are then not sent as `scope`.
         */
        readonly assertion?:
          | {
              readonly algorithm:
                | 'ES256'
                | 'ES384'
                | 'ES512'
                | 'RS256'
                | 'RS384'
                | 'RS512'
                | 'PS256'
                | 'PS384'
                | 'PS512'
                | 'EdDSA'
                | 'HS256'
                | 'HS384'
                | 'HS512'
              readonly key_id?: string | null | undefined
              readonly issuer?: string | null | undefined
              readonly subject?: string | null | undefined
              readonly audience?: string | null | undefined
              readonly lifetime?: number | undefined
              readonly claims?: { readonly [name: string]: string | number | boolean } | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: with `jwt_bearer` the client asks for a token in the name of each user. `subject` of
         * `assertion` then names `{{user_id}}`. `pattern` is a regular expression (RE2) that the user's whole
         * id must match; others are refused.
         */
        readonly impersonation?: { readonly pattern: string } | null | undefined
        /**
         * Beyond Arcade: the parameters of the authorization request go into a JWT (RFC 9101) that the key of
         * `private_key_jwt` or `client_secret_jwt` signs. `algorithm` and `key_id` are those of
         * `client_assertion` unless given.
         */
        readonly request_object?:
          | {
              readonly algorithm?:
                | 'ES256'
                | 'ES384'
                | 'ES512'
                | 'RS256'
                | 'RS384'
                | 'RS512'
                | 'PS256'
                | 'PS384'
                | 'PS512'
                | 'EdDSA'
                | 'HS256'
                | 'HS384'
                | 'HS512'
                | null
                | undefined
              readonly key_id?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: tokens are bound to a key of their connection (DPoP, RFC 9449), so they are of use in
         * `/proxy/{provider}` and in HTTP tools alone, and are handed out nowhere. `algorithm` is that of the
         * proofs, ES256 by default. With `optional`, bearer tokens of the server are accepted, too. An issuer
         * that announces DPoP does not switch it on.
         */
        readonly dpop?:
          | {
              readonly algorithm?: 'ES256' | 'ES384' | 'ES512' | 'EdDSA' | undefined
              readonly optional?: boolean | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: the issuer (RFC 8414, OpenID Connect Discovery), exactly as the server names itself.
         * Its metadata fills what is left out: endpoints, PKCE, client authentication, `iss`, user info,
         * introspection, revocation, end of session. With it `authorize_request` and `token_request` are not
         * required. Authorization responses must carry it as `iss` (RFC 9207).
         */
        readonly issuer?: string | null | undefined
        /**
         * Beyond Arcade: the server announces that all its authorization responses carry `iss` (RFC 9207
         * section 3), so that a response without it is refused. Needs `issuer`.
         */
        readonly authorization_response_iss_parameter_supported?: boolean | null | undefined
        /**
         * Beyond Arcade: `token_type` values accepted besides Bearer. An answer without `token_type`, or with
         * an empty one, is always read as bearer; an empty value in this list has no effect.
         */
        readonly token_types?: readonly string[] | null | undefined
        /**
         * Beyond Arcade: the URL at which a user's session at the provider ends, for callers that want to end
         * it.
         */
        readonly end_session_endpoint?: string | null | undefined
        /**
         * Beyond Arcade: what the server does with a used refresh token. `none`: it can be used again.
         * `single_use`: a second use ends the whole grant with its access tokens, so after a refresh whose
         * outcome is unknown Gatepass uses the access token until it expires before it tries the refresh token
         * again. `grace`: the server accepts it for `grace_seconds` after its use; after that as `single_use`.
         */
        readonly rotation?:
          | {
              readonly kind: 'none' | 'single_use' | 'grace'
              readonly grace_seconds?: number | null | undefined
            }
          | null
          | undefined
        /** Beyond Arcade: `true` is `rotation` of the kind `single_use`, which has replaced it. */
        readonly strict_rotation?: boolean | null | undefined
        /**
         * Beyond Arcade: how many seconds before its expiry an access token is refreshed; the background
         * refreshes tokens in use up to three times as early. Default: a tenth of the lifetime, at most 60.
         * Never more than half the lifetime.
         */
        readonly refresh_margin?: number | null | undefined
        /**
         * Beyond Arcade: the lifetime of refresh tokens in seconds, for token responses that do not state it
         * (as `refresh_token_expires_in`, `refresh_expires_in`, `x_refresh_token_expires_in`, or by the
         * response map). An expired refresh token is sent only when the access token has expired too. If the
         * provider refuses it, the connection needs a new consent, with the reason `refresh_token_expired`.
         */
        readonly refresh_token_expires_in?: number | null | undefined
        /** Beyond Arcade: the seconds without use after which a refresh token expires. */
        readonly refresh_token_idle?: number | null | undefined
        /**
         * Beyond Arcade: unused connections are refreshed in the background before their refresh token
         * expires, when four fifths of its life have passed.
         */
        readonly keep_alive?: boolean | null | undefined
        /**
         * Beyond Arcade: the lifetime, in seconds, of access tokens for which the provider states none
         * (Salesforce). Without this setting such a token is used until the API refuses it.
         */
        readonly default_expires_in?: number | null | undefined
        /**
         * Beyond Arcade: confirms that the client of `GATEPASS_PROVIDER_<NAME>_…` may be sent to the endpoints
         * of this entry, which are not those of the catalogue; `false` withdraws the confirmation. It is valid
         * for the present endpoints only, and is recorded in the audit trail.
         */
        readonly environment_client?: boolean | undefined
        /**
         * Beyond Arcade: where the broker itself may send users' tokens (the proxy, tools that are HTTP
         * requests): `host`, `host:port` or `*.example.com`. The host of `base_url` is always allowed.
         * `headers` go with every request, in place of the caller's, and may name `{{client_id}}`,
         * `{{access_token}}` and kept values; one with the token takes the place of `Authorization`.
         */
        readonly api?:
          | {
              readonly base_url?: string | null | undefined
              readonly hosts?: readonly string[] | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly headers?: { readonly [name: string]: string } | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: scopes, each with the scopes that it includes, for servers that list only the widest
         * granted scope (GitHub lists `repo` and not `public_repo`). By default those of the catalogue; `null`
         * restores them.
         */
        readonly scope_implies?: { readonly [name: string]: readonly string[] } | null | undefined
        /**
         * Beyond Arcade: scopes that the server lists by another name than they are asked by. `null`: back to
         * the catalogue's.
         */
        readonly scope_aliases?: { readonly [name: string]: string } | null | undefined
        /**
         * Beyond Arcade: the server keeps what was granted before when it is asked for more, so only new
         * scopes are requested of a user whose connection works. If the token response lists none of the
         * earlier scopes, they count as granted too. For other servers earlier and new scopes are requested
         * together.
         */
        readonly keeps_earlier_grants?: boolean | null | undefined
        /**
         * Beyond Arcade: the token response names no scopes and the authorization response does (Strava). The
         * authorization response comes through the browser, so the user could remove scopes from it, which
         * policies then do not see; added scopes have no effect. For other servers the requested scopes count
         * as granted if the token response names none.
         */
        readonly callback_tells_scopes?: boolean | null | undefined
        /**
         * Beyond Arcade: the parameter of the authorization response that has the code, in place of `code`
         * (`auth_code`, `spapi_oauth_code`).
         */
        readonly code_parameter?: string | null | undefined
        /**
         * Beyond Arcade: the parameter that has the state, in place of `state`, in the authorization request
         * and in its response.
         */
        readonly state_parameter?: string | null | undefined
        /**
         * Beyond Arcade: parameters of the authorization response that tools are given in `extra`, each with a
         * regular expression that the whole value must match. The values come through the user's browser, so
         * permit only harmless ones, such as digits, or the provider's own hosts.
         */
        readonly callback_members?: { readonly [name: string]: string } | null | undefined
        /** Beyond Arcade: the scopes that are requested where a requirement names none. */
        readonly default_scopes?: readonly string[] | null | undefined
        /**
         * Beyond Arcade: where the user info has the account's id and its name, as expressions of a response
         * map, the most trusted first. Left out: where most servers have them, OpenID Connect's claims first.
         */
        readonly account?:
          | { readonly id?: readonly string[] | undefined; readonly name?: readonly string[] | undefined }
          | null
          | undefined
        /**
         * Beyond Arcade: whether the server takes clients without a secret (RFC 6749 section 2.1). Left out:
         * it does if the entry uses PKCE with S256 and does not authenticate by Basic.
         */
        readonly public_clients?: boolean | null | undefined
        /** Beyond Arcade: ID tokens that come without the scope `openid` are neither checked nor read. */
        readonly ignores_id_token?: boolean | null | undefined
      }
    | null
    | undefined
  /**
   * Beyond Arcade, for `type` `oauth1`: a server of OAuth 1.0a (RFC 5849). Its tokens are handed out
   * nowhere: Gatepass signs requests with them, in `/proxy/{provider}` and in HTTP tools. Members that
   * are left out do not change; those that are sent are replaced as a whole.
   */
  readonly oauth1?:
    | {
        /**
         * Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the
         * next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a
         * path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only
         * values in its place. With `ask` set to `user` each user enters a value at the consent, which is
         * stored with the connection; it must not determine a domain. A change of an entry's own value
         * requires new consents. A member that is left out is not changed; `null` removes a variable.
         */
        readonly variables?:
          | {
              readonly [name: string]: {
                readonly value?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly label?: string | undefined
                readonly example?: string | undefined
                readonly ask?: 'operator' | 'user' | undefined
              } | null
            }
          | null
          | undefined
        /**
         * The request for temporary credentials (RFC 5849 section 2.1), whose endpoint is often called
         * “request token URL”. POST is the default. A server that does not answer
         * `oauth_callback_confirmed=true` is refused.
         */
        readonly temporary_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
        /** Where the user approves (RFC 5849 section 2.2). `oauth_token` is added to `params`. */
        readonly authorize_request?:
          | {
              readonly endpoint: string
              readonly params?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
        /** The request that exchanges the verifier for the token (RFC 5849 section 2.3). */
        readonly token_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
        /**
         * A signed GET after the consent, whose answer names the account. Left out: the answer of the token
         * request may name it.
         */
        readonly user_info_request?:
          | {
              readonly endpoint: string
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * RFC 5849 section 3.4, and `HMAC-SHA256`. Default: `HMAC-SHA1`. With `RSA-SHA1` the client secret is
         * an RSA key in PEM.
         */
        readonly signature_method?: 'HMAC-SHA1' | 'HMAC-SHA256' | 'RSA-SHA1' | 'PLAINTEXT' | null | undefined
        /** `realm` of the `Authorization` header; it may name variables. */
        readonly realm?: string | null | undefined
        /**
         * The server accepts only the exact callback that was registered. The state is then in a cookie, and
         * not in the query of the callback.
         */
        readonly fixed_callback?: boolean | null | undefined
        /** Where the account's id and name are, as expressions of a response map, the most trusted first. */
        readonly account?:
          | { readonly id?: readonly string[] | undefined; readonly name?: readonly string[] | undefined }
          | null
          | undefined
        /** The hosts to which signed requests may be sent: by the proxy, and by tools that are HTTP requests. */
        readonly api?:
          | {
              readonly base_url?: string | null | undefined
              readonly hosts?: readonly string[] | undefined
              readonly headers?: { readonly [name: string]: string } | null | undefined
            }
          | null
          | undefined
        readonly client_id?: string | undefined
        /**
         * Where `auth_method` says so, a private key in PEM or as a JWK, or a certificate with its chain and
         * its key in PEM.
         */
        readonly client_secret?: string | null | undefined
        /** Accepted so that an answer can be sent back. Gatepass determines it, so this has no effect. */
        readonly redirect_uri?: string | null | undefined
        /** A member of answers; without effect in a request */
        readonly installation_url?: JsonValue | undefined
      }
    | null
    | undefined
  /**
   * Beyond Arcade, for `type` `credentials`: what people type on the page of Gatepass instead of a
   * consent at the provider. Members that are left out do not change; those that are sent are replaced
   * as a whole.
   */
  readonly credentials?:
    | {
        /**
         * Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the
         * next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a
         * path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only
         * values in its place. With `ask` set to `user` each user enters a value at the consent, which is
         * stored with the connection; it must not determine a domain. A change of an entry's own value
         * requires new consents. A member that is left out is not changed; `null` removes a variable.
         */
        readonly variables?:
          | {
              readonly [name: string]: {
                readonly value?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly label?: string | undefined
                readonly example?: string | undefined
                readonly ask?: 'operator' | 'user' | undefined
              } | null
            }
          | null
          | undefined
        /**
         * What people type on the page of Gatepass, in this order, at most 10 fields. URLs name fields that
         * are not secret as `{{name}}`; such a field needs `pattern` or `one_of`, and `example`, and no value
         * may decide a domain.
         */
        readonly fields?: { readonly [name: string]: CredentialField } | undefined
        readonly place?: CredentialPlaceInput | undefined
        /**
         * The request that checks what was typed, before it is stored: a 2xx status means that the service
         * takes it, 401 and 403 that it does not. It has the credential in its place; its own templates may
         * name fields that are not secret. GET is the default.
         */
        readonly test_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * A login that makes a token with a limited life of the fields. Its `params` and `headers` name all
         * fields; `response_map` finds `access_token` and `expires_in`. It is sent again when the token ends,
         * and when the API refuses it.
         */
        readonly token_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * What could not be checked is stored too: there is no `test_request`, or its answer is neither 2xx
         * nor a refusal.
         */
        readonly unchecked?: boolean | null | undefined
        /**
         * Confirms that `place.query` or `place.path` puts the key into URLs. Gatepass neither logs such a URL
         * nor answers it, and follows no redirect with it.
         */
        readonly in_url?: boolean | null | undefined
        /**
         * Where the answer of `test_request` has the account's id and name, as expressions of a response map,
         * the most trusted first. With `token_request` alone: in its answer.
         */
        readonly account?:
          | { readonly id?: readonly string[] | undefined; readonly name?: readonly string[] | undefined }
          | null
          | undefined
        /**
         * Where the credential may be sent: the proxy, and tools that are HTTP requests. `hosts` are known
         * where `base_url` names the domain. `headers` go with every request, such as a version.
         */
        readonly api?:
          | {
              readonly base_url?: string | null | undefined
              readonly hosts?: readonly string[] | undefined
              readonly headers?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
      }
    | null
    | undefined
}

export interface AuthProviderResponse {
  readonly id: string
  readonly description?: string
  readonly provider_id?: string
  readonly owner: 'user' | 'project' | 'either'
  /** Also the member that has the settings */
  readonly type: 'oauth2' | 'oauth1' | 'credentials'
  /**
   * `inactive`: switched off. `missing`: it cannot be used until the settings that `missing` names are
   * set
   */
  readonly status: 'active' | 'inactive' | 'missing'
  /** `client_id`, `client_secret` */
  readonly missing?: readonly string[]
  readonly binding: { readonly id: string; readonly type: 'project' }
  readonly created_at: string
  readonly updated_at: string
  readonly oauth2?: {
    readonly client_id?: string
    readonly client_secret: {
      readonly binding: 'project'
      readonly editable: boolean
      readonly exists: boolean
    }
    readonly redirect_uri: string
    /** Where the provider sends users who begin there, if the entry has `installation` */
    readonly installation_url?: string
    readonly variables?: { readonly [name: string]: ProviderVariable }
    readonly kept_values?: {
      readonly [name: string]: {
        readonly from: 'authorization_response' | 'token_response' | 'user_info' | 'choice'
        readonly at: string
        readonly pattern?: string
        readonly one_of?: readonly string[]
        readonly example?: string
      }
    }
    readonly scope_delimiter: string
    readonly pkce: {
      readonly enabled: boolean
      readonly code_challenge_method: string
      readonly required?: true
      readonly code_challenge_encoding?: 'hex'
    }
    readonly grant?: {
      readonly type:
        | 'client_credentials'
        | 'account_credentials'
        | 'jwt_bearer'
        | 'token_exchange'
        | 'device_code'
        | 'installation'
      readonly subject?: { readonly connection: string; readonly token: 'access_token' | 'id_token' }
    }
    readonly installation?: {
      readonly hints: { readonly [name: string]: string }
      readonly hmac?: { readonly parameter: string }
      readonly install_uri?: string
    }
    readonly authorize_request: {
      readonly endpoint: string
      readonly method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly fragment?: string
    }
    readonly pushed_authorization_request?: { readonly endpoint: string }
    readonly token_request: OAuth2Request
    readonly device_authorization_request?: OAuth2Request
    readonly refresh_request?: OAuth2Request
    readonly exchange_request?: OAuth2Request
    readonly renewal_request?: {
      readonly endpoint: string
      readonly method: string
      readonly auth_method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly auth_header_value_format?: string
      readonly request_content_type: string
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
      readonly expiration_format?: string
      readonly least_age: number
    }
    readonly choices_request?: {
      readonly endpoint: string
      readonly method: string
      readonly auth_method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly auth_header_value_format?: string
      readonly request_content_type: string
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
      readonly expiration_format?: string
      readonly at: string
      readonly id: string
      readonly name: string
      readonly detail?: string
    }
    readonly installations_request?: {
      readonly endpoint: string
      readonly method: string
      readonly auth_method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly auth_header_value_format?: string
      readonly request_content_type: string
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
      readonly expiration_format?: string
      readonly at: string
      readonly id: string
      readonly name: string
      readonly scopes?: string
    }
    readonly installation_token_request?: OAuth2Request
    readonly user_info_request?: {
      readonly endpoint: string
      readonly method: string
      readonly auth_method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly auth_header_value_format?: string
      readonly request_content_type: string
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
      readonly expiration_format?: string
      readonly triggers: { readonly on_token_grant: boolean; readonly on_token_refresh: boolean }
    }
    readonly token_introspection_request?: {
      readonly endpoint: string
      readonly method: string
      readonly auth_method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly auth_header_value_format?: string
      readonly request_content_type: string
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
      readonly expiration_format?: string
      readonly triggers: { readonly on_token_grant: boolean; readonly on_token_refresh: boolean }
      readonly enabled: true
    }
    readonly revocation_request?: {
      readonly endpoint: string
      readonly method: string
      readonly auth_method: string
      readonly params: { readonly [name: string]: string }
      readonly parameter_names?: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly auth_header_value_format?: string
      readonly request_content_type: string
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
      readonly expiration_format?: string
      readonly revokes?: string
      readonly token_parameter?: string
    }
    readonly verification_hosts?: readonly string[]
    readonly unnamed_accounts?: true
    readonly client_assertion?: {
      readonly algorithm: string
      readonly key_id?: string
      readonly issuer?: string
      readonly subject?: string
      readonly audience?: string
      readonly lifetime: number
    }
    readonly unscoped_tokens?: true
    readonly installation_uri?: string
    readonly installation_help_uri?: string
    readonly assertion?: {
      readonly algorithm:
        | 'ES256'
        | 'ES384'
        | 'ES512'
        | 'RS256'
        | 'RS384'
        | 'RS512'
        | 'PS256'
        | 'PS384'
        | 'PS512'
        | 'EdDSA'
        | 'HS256'
        | 'HS384'
        | 'HS512'
      readonly key_id?: string
      readonly issuer?: string
      readonly subject?: string
      readonly audience?: string
      readonly lifetime: number
      readonly claims?: { readonly [name: string]: string | number | boolean }
    }
    readonly impersonation?: { readonly pattern: string }
    readonly request_object?: { readonly algorithm?: string; readonly key_id?: string }
    readonly dpop?: { readonly algorithm: 'ES256' | 'ES384' | 'ES512' | 'EdDSA'; readonly optional?: true }
    readonly issuer?: string
    readonly authorization_response_iss_parameter_supported?: boolean
    readonly token_types?: readonly string[]
    readonly end_session_endpoint?: string
    readonly rotation?: { readonly kind: string; readonly grace_seconds?: number }
    readonly strict_rotation?: true
    readonly refresh_margin?: number
    readonly refresh_token_expires_in?: number
    readonly refresh_token_idle?: number
    readonly keep_alive?: true
    readonly default_expires_in?: number
    readonly environment_client?: true
    readonly api?: {
      readonly base_url?: string
      readonly hosts: readonly string[]
      readonly auth_header_value_format?: string
      readonly headers?: { readonly [name: string]: string }
    }
    readonly scope_implies?: { readonly [name: string]: readonly string[] }
    readonly scope_aliases?: { readonly [name: string]: string }
    readonly keeps_earlier_grants?: boolean
    readonly callback_tells_scopes?: boolean
    readonly code_parameter?: string
    readonly state_parameter?: string
    readonly callback_members?: { readonly [name: string]: string }
    readonly default_scopes?: readonly string[]
    readonly account?: { readonly id: readonly string[]; readonly name: readonly string[] }
    readonly public_clients?: boolean
    readonly ignores_id_token?: true
  }
  readonly oauth1?: {
    readonly variables?: { readonly [name: string]: ProviderVariable }
    readonly temporary_request: {
      readonly endpoint: string
      readonly method: string
      readonly params: { readonly [name: string]: string }
    }
    readonly authorize_request: {
      readonly endpoint: string
      readonly params: { readonly [name: string]: string }
    }
    readonly token_request: {
      readonly endpoint: string
      readonly method: string
      readonly params: { readonly [name: string]: string }
    }
    readonly user_info_request?: {
      readonly endpoint: string
      readonly params: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly response_map?: { readonly [name: string]: string }
      readonly error_response?: OAuth2ErrorResponse
    }
    readonly signature_method: 'HMAC-SHA1' | 'HMAC-SHA256' | 'RSA-SHA1' | 'PLAINTEXT'
    readonly realm?: string
    readonly fixed_callback?: true
    readonly account?: { readonly id: readonly string[]; readonly name: readonly string[] }
    readonly api?: {
      readonly base_url?: string
      readonly hosts: readonly string[]
      readonly headers?: { readonly [name: string]: string }
    }
    readonly client_id?: string
    readonly client_secret: {
      readonly binding: 'project'
      readonly editable: boolean
      readonly exists: boolean
    }
    readonly redirect_uri: string
    /** Where the provider sends users who begin there, if the entry has `installation` */
    readonly installation_url?: string
  }
  readonly credentials?: {
    readonly variables?: { readonly [name: string]: ProviderVariable }
    readonly fields: { readonly [name: string]: CredentialField }
    readonly place: {
      readonly bearer?: string
      readonly basic?: { readonly username: string; readonly password: string }
      readonly headers?: { readonly [name: string]: string }
      readonly query?: { readonly [name: string]: string }
      readonly path?: string
    }
    readonly test_request?: {
      readonly endpoint: string
      readonly method: string
      readonly params: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly request_content_type: string
      readonly error_response?: OAuth2ErrorResponse
    }
    readonly token_request?: {
      readonly endpoint: string
      readonly method: string
      readonly params: { readonly [name: string]: string }
      readonly headers?: { readonly [name: string]: string }
      readonly request_content_type: string
      readonly error_response?: OAuth2ErrorResponse
      readonly response_content_type: string
      readonly response_map?: { readonly [name: string]: string }
      readonly expiration_format?: string
    }
    readonly unchecked?: true
    readonly in_url?: true
    readonly account?: { readonly id: readonly string[]; readonly name: readonly string[] }
    readonly api: {
      readonly base_url?: string
      readonly hosts: readonly string[]
      readonly headers?: { readonly [name: string]: string }
    }
  }
}

export interface AuthProviderUpdateRequest {
  readonly id?: string | undefined
  readonly description?: string | null | undefined
  readonly provider_id?: string | null | undefined
  /**
   * Whose connections the entry may have: `user`, each user's own; `project`, those that an
   * administrator makes for all or some users; `either`. Default: `project` for grants without a user,
   * else `user`.
   */
  readonly owner?: 'user' | 'project' | 'either' | null | undefined
  readonly type?: 'oauth2' | 'oauth1' | 'credentials' | null | undefined
  readonly status?: 'active' | 'inactive' | 'missing' | null | undefined
  /** A member of answers; without effect in a request */
  readonly missing?: JsonValue | undefined
  /** A member of answers; without effect in a request */
  readonly binding?: JsonValue | undefined
  /** A member of answers; without effect in a request */
  readonly created_at?: JsonValue | undefined
  /** A member of answers; without effect in a request */
  readonly updated_at?: JsonValue | undefined
  /**
   * Beyond Arcade: connections stay usable after a change of the endpoints, the issuer or the client id,
   * and their tokens go to the new endpoints. The audit trail records it. Without it users must consent
   * again after such a change.
   */
  readonly keep_connections?: boolean | undefined
  readonly oauth2?:
    | {
        readonly client_id?: string | undefined
        /**
         * Where `auth_method` says so, a private key in PEM or as a JWK, or a certificate with its chain and
         * its key in PEM.
         */
        readonly client_secret?: string | null | undefined
        /** Accepted so that an answer can be sent back. Gatepass determines it, so this has no effect. */
        readonly redirect_uri?: string | null | undefined
        /** A member of answers; without effect in a request */
        readonly installation_url?: JsonValue | undefined
        /**
         * Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the
         * next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a
         * path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only
         * values in its place. With `ask` set to `user` each user enters a value at the consent, which is
         * stored with the connection; it must not determine a domain. A change of an entry's own value
         * requires new consents. A member that is left out is not changed; `null` removes a variable.
         */
        readonly variables?:
          | {
              readonly [name: string]: {
                readonly value?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly label?: string | undefined
                readonly example?: string | undefined
                readonly ask?: 'operator' | 'user' | undefined
              } | null
            }
          | null
          | undefined
        /**
         * Beyond Arcade: values that the provider returns for each connection, stored with its tokens.
         * `api.base_url`, `api.headers` and the `params` and `headers` of `refresh_request` use them as
         * `{{name}}`. `at` says where the value is: the name of a parameter of the authorization response,
         * otherwise an expression such as `$.instance_url`. If it is left out, it is the value's own name.
         * With `choice` it is an expression within the item of `choices_request` that the user chose.
         * `pattern` is a regular expression that the whole value must match; `one_of` lists the permitted
         * values instead. All endpoints but the authorization endpoint can use values of the authorization
         * response, if the domain is fixed by the URL, the pattern or `one_of`, because this response comes
         * through the user's browser.
         */
        readonly kept_values?:
          | {
              readonly [name: string]: {
                readonly from: 'authorization_response' | 'token_response' | 'user_info' | 'choice'
                readonly at?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly example?: string | undefined
              }
            }
          | null
          | undefined
        readonly scope_delimiter?: ' ' | ',' | null | undefined
        /**
         * RFC 7636. Beyond Arcade: `required`, for a server that refuses requests without PKCE, so that PKCE
         * cannot be switched off; `code_challenge_encoding: "hex"` (TikTok's desktop clients).
         */
        readonly pkce?:
          | {
              readonly enabled?: boolean | undefined
              readonly code_challenge_method?: string | null | undefined
              readonly required?: boolean | null | undefined
              readonly code_challenge_encoding?: 'base64url' | 'hex' | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: how tokens are obtained. `authorization_code`, the default: a user approves in a
         * browser. `client_credentials` (RFC 6749 section 4.4), `account_credentials` (Zoom): the client asks
         * for them without a user, so there is no `authorize_request`. `jwt_bearer` (RFC 7523 section 2.1):
         * the same with a JWT that the client signs (`assertion`). `token_exchange` (RFC 8693): the client
         * exchanges a token of the user's connection to another entry (`subject`). `device_code` (RFC 8628):
         * the user enters a code at the provider (`device_authorization_request`), without
         * `authorize_request`. `installation` (GitHub Apps): a user approves and chooses one of their
         * installations of the client, and the client asks for its tokens (`installations_request`,
         * `installation_token_request`).
         */
        readonly grant?:
          | {
              readonly type:
                | 'authorization_code'
                | 'client_credentials'
                | 'account_credentials'
                | 'jwt_bearer'
                | 'token_exchange'
                | 'device_code'
                | 'installation'
              /**
               * With `token_exchange`: what is exchanged. `connection` is the id of another entry of the project,
               * whose users' connections are used. Their token is sent to this entry's token endpoint, and nowhere
               * else.
               */
              readonly subject?:
                | {
                    readonly connection: string
                    /** Default: `"access_token"` */
                    readonly token?: 'access_token' | 'id_token' | undefined
                  }
                | null
                | undefined
            }
          | null
          | undefined
        /** The same as `owner` beside `oauth2`, where answers have it. */
        readonly owner?: 'user' | 'project' | 'either' | null | undefined
        /**
         * Beyond Arcade: users may begin at the provider, such as in its store of apps: their browser comes to
         * `installation_url` without a `state`, and a code that it brings is never redeemed. `hints`:
         * parameters of that URL, each with a regular expression that the whole value must match; one of the
         * name of a variable that users are asked for gives its value. `hmac.parameter`: the parameter with
         * the hex HMAC-SHA256 of the others, by the client secret (Shopify); URLs without it are refused.
         * `install_uri`: a page of the caller, to which the browser goes with `install_id` in place of our
         * own.
         */
        readonly installation?:
          | {
              readonly hints?: { readonly [name: string]: string } | undefined
              readonly hmac?: { readonly parameter: string } | null | undefined
              readonly install_uri?: string | null | undefined
            }
          | null
          | undefined
        readonly authorize_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly pushed_authorization_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly token_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly device_authorization_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly refresh_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly exchange_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly renewal_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly choices_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly installations_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly installation_token_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly user_info_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly token_introspection_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        readonly revocation_request?:
          | {
              readonly endpoint?: string | undefined
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              /**
               * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
               * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
               * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
               * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
               * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
               * that is not sent (`client_assertion`).
               */
              readonly auth_method?: string | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
               * of its own.
               */
              readonly parameter_names?:
                | {
                    readonly client_id?: string | undefined
                    readonly client_secret?: string | undefined
                    readonly code?: string | undefined
                    readonly code_challenge?: string | undefined
                    readonly code_challenge_method?: string | undefined
                    readonly code_verifier?: string | undefined
                    readonly grant_type?: string | undefined
                    readonly redirect_uri?: string | undefined
                    readonly refresh_token?: string | undefined
                    readonly response_type?: string | undefined
                    readonly scope?: string | undefined
                  }
                | null
                | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
              readonly triggers?:
                | {
                    readonly on_token_grant?: boolean | undefined
                    readonly on_token_refresh?: boolean | undefined
                  }
                | undefined
              readonly enabled?: boolean | undefined
              /**
               * Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the
               * access token, with a request each.
               */
              readonly revokes?: 'access_token' | 'refresh_token' | null | undefined
              /**
               * Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`.
               * Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method`
               * place the token, and one request is sent.
               */
              readonly token_parameter?: string | null | undefined
              /**
               * Beyond Arcade: seconds since the access token was received before which the provider does not renew
               * it (Instagram: 86400). Default: 0.
               */
              readonly least_age?: number | null | undefined
              /** Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat). */
              readonly fragment?: string | null | undefined
              /**
               * The list in the answer, as an expression of `response_map`; an answer that is a list itself is
               * `$.items`. Default: `$.installations`, in `choices_request` `$.items`.
               */
              readonly at?: string | null | undefined
              /** The id, within one item of the list. Default: `$.id`. */
              readonly id?: string | null | undefined
              /**
               * The name for people, within one item of the list. Default: `$.account.login`, in `choices_request`
               * `$.name`.
               */
              readonly name?: string | null | undefined
              /**
               * What the installation grants, within one item: a list of scopes, or an object such as `{"contents":
               * "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts
               * as granted.
               */
              readonly scopes?: string | null | undefined
              /** What tells items of the same name apart, within one item: the address of a site. */
              readonly detail?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: with the grant `device_code`, the hosts where users enter the code: `host`,
         * `host:port` or `*.example.com`. A `verification_uri` of another host is refused. Left out: the site
         * of the token endpoint.
         */
        readonly verification_hosts?: readonly string[] | null | undefined
        /**
         * Beyond Arcade: with the grant `device_code`, users may connect although the provider does not say
         * which account approved. Without this setting a source of the account is needed: `user_info_request`
         * on `on_token_grant`, `issuer`, the scope `openid` in `default_scopes`, or `account`.
         */
        readonly unnamed_accounts?: boolean | null | undefined
        /**
         * Beyond Arcade: the JWT of `private_key_jwt`, `client_secret_jwt` and `signed_client_secret`, made
         * for each request. `client_secret` is its key: a private key in PEM or as a JWK, for HS256 a text.
         * `key_id`, `issuer`, `subject` (default: the client id) and `audience` (default: the entry's issuer,
         * else the token endpoint) may name `{{client_id}}` and variables. `lifetime` is in seconds, 60 by
         * default.
         */
        readonly client_assertion?:
          | {
              readonly algorithm:
                | 'ES256'
                | 'ES384'
                | 'ES512'
                | 'RS256'
                | 'RS384'
                | 'RS512'
                | 'PS256'
                | 'PS384'
                | 'PS512'
                | 'EdDSA'
                | 'HS256'
                | 'HS384'
                | 'HS512'
              readonly key_id?: string | null | undefined
              readonly issuer?: string | null | undefined
              readonly subject?: string | null | undefined
              readonly audience?: string | null | undefined
              readonly lifetime?: number | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: with the grant `installation`, a token may have all that the installation has: where
         * a request names no scopes and `default_scopes` is empty, and where `installation_token_request` has
         * no place for scopes. Without this setting the first is refused, and the second is no valid entry.
         */
        readonly unscoped_tokens?: boolean | null | undefined
        /**
         * Beyond Arcade, with the grant `installation`: the page of the provider on which people install the
         * client; it may name variables. It is shown to users who have no installation yet, with a `state`
         * that brings them back.
         */
        readonly installation_uri?: string | null | undefined
        /**
         * Beyond Arcade, with the grant `installation`: the page of the provider on which people end an
         * installation. It is shown to users, since disconnecting here ends no installation there.
         */
        readonly installation_help_uri?: string | null | undefined
        /**
         * Beyond Arcade: the JWT of the grants `jwt_bearer` and `installation`, made for each token request.
         * `client_secret` is its key: a private key in PEM or as a JWK; with `installation` it is the client
         * secret, which is sent for a code, and after it the private key in PEM. The members are those of
         * `client_assertion`, with a `lifetime` of 300 seconds by default and at least 40 (with `installation`
         * 70), since `iat` is 30 (60) seconds before the request; an empty `subject` or `audience` leaves
         * `sub` or `aud` out. `claims` are further claims: texts may name `{{client_id}}`, variables and
         * `{{scopes}}`, which are then not sent as `scope`.
         */
        readonly assertion?:
          | {
              readonly algorithm:
                | 'ES256'
                | 'ES384'
                | 'ES512'
                | 'RS256'
                | 'RS384'
                | 'RS512'
                | 'PS256'
                | 'PS384'
                | 'PS512'
                | 'EdDSA'
                | 'HS256'
                | 'HS384'
                | 'HS512'
              readonly key_id?: string | null | undefined
              readonly issuer?: string | null | undefined
              readonly subject?: string | null | undefined
              readonly audience?: string | null | undefined
              readonly lifetime?: number | undefined
              readonly claims?: { readonly [name: string]: string | number | boolean } | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: with `jwt_bearer` the client asks for a token in the name of each user. `subject` of
         * `assertion` then names `{{user_id}}`. `pattern` is a regular expression (RE2) that the user's whole
         * id must match; others are refused.
         */
        readonly impersonation?: { readonly pattern: string } | null | undefined
        /**
         * Beyond Arcade: the parameters of the authorization request go into a JWT (RFC 9101) that the key of
         * `private_key_jwt` or `client_secret_jwt` signs. `algorithm` and `key_id` are those of
         * `client_assertion` unless given.
         */
        readonly request_object?:
          | {
              readonly algorithm?:
                | 'ES256'
                | 'ES384'
                | 'ES512'
                | 'RS256'
                | 'RS384'
                | 'RS512'
                | 'PS256'
                | 'PS384'
                | 'PS512'
                | 'EdDSA'
                | 'HS256'
                | 'HS384'
                | 'HS512'
                | null
                | undefined
              readonly key_id?: string | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: tokens are bound to a key of their connection (DPoP, RFC 9449), so they are of use in
         * `/proxy/{provider}` and in HTTP tools alone, and are handed out nowhere. `algorithm` is that of the
         * proofs, ES256 by default. With `optional`, bearer tokens of the server are accepted, too. An issuer
         * that announces DPoP does not switch it on.
         */
        readonly dpop?:
          | {
              readonly algorithm?: 'ES256' | 'ES384' | 'ES512' | 'EdDSA' | undefined
              readonly optional?: boolean | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: the issuer (RFC 8414, OpenID Connect Discovery), exactly as the server names itself.
         * Its metadata fills what is left out: endpoints, PKCE, client authentication, `iss`, user info,
         * introspection, revocation, end of session. With it `authorize_request` and `token_request` are not
         * required. Authorization responses must carry it as `iss` (RFC 9207).
         */
        readonly issuer?: string | null | undefined
        /**
         * Beyond Arcade: the server announces that all its authorization responses carry `iss` (RFC 9207
         * section 3), so that a response without it is refused. Needs `issuer`.
         */
        readonly authorization_response_iss_parameter_supported?: boolean | null | undefined
        /**
         * Beyond Arcade: `token_type` values accepted besides Bearer. An answer without `token_type`, or with
         * an empty one, is always read as bearer; an empty value in this list has no effect.
         */
        readonly token_types?: readonly string[] | null | undefined
        /**
         * Beyond Arcade: the URL at which a user's session at the provider ends, for callers that want to end
         * it.
         */
        readonly end_session_endpoint?: string | null | undefined
        /**
         * Beyond Arcade: what the server does with a used refresh token. `none`: it can be used again.
         * `single_use`: a second use ends the whole grant with its access tokens, so after a refresh whose
         * outcome is unknown Gatepass uses the access token until it expires before it tries the refresh token
         * again. `grace`: the server accepts it for `grace_seconds` after its use; after that as `single_use`.
         */
        readonly rotation?:
          | {
              readonly kind: 'none' | 'single_use' | 'grace'
              readonly grace_seconds?: number | null | undefined
            }
          | null
          | undefined
        /** Beyond Arcade: `true` is `rotation` of the kind `single_use`, which has replaced it. */
        readonly strict_rotation?: boolean | null | undefined
        /**
         * Beyond Arcade: how many seconds before its expiry an access token is refreshed; the background
         * refreshes tokens in use up to three times as early. Default: a tenth of the lifetime, at most 60.
         * Never more than half the lifetime.
         */
        readonly refresh_margin?: number | null | undefined
        /**
         * Beyond Arcade: the lifetime of refresh tokens in seconds, for token responses that do not state it
         * (as `refresh_token_expires_in`, `refresh_expires_in`, `x_refresh_token_expires_in`, or by the
         * response map). An expired refresh token is sent only when the access token has expired too. If the
         * provider refuses it, the connection needs a new consent, with the reason `refresh_token_expired`.
         */
        readonly refresh_token_expires_in?: number | null | undefined
        /** Beyond Arcade: the seconds without use after which a refresh token expires. */
        readonly refresh_token_idle?: number | null | undefined
        /**
         * Beyond Arcade: unused connections are refreshed in the background before their refresh token
         * expires, when four fifths of its life have passed.
         */
        readonly keep_alive?: boolean | null | undefined
        /**
         * Beyond Arcade: the lifetime, in seconds, of access tokens for which the provider states none
         * (Salesforce). Without this setting such a token is used until the API refuses it.
         */
        readonly default_expires_in?: number | null | undefined
        /**
         * Beyond Arcade: confirms that the client of `GATEPASS_PROVIDER_<NAME>_…` may be sent to the endpoints
         * of this entry, which are not those of the catalogue; `false` withdraws the confirmation. It is valid
         * for the present endpoints only, and is recorded in the audit trail.
         */
        readonly environment_client?: boolean | undefined
        /**
         * Beyond Arcade: where the broker itself may send users' tokens (the proxy, tools that are HTTP
         * requests): `host`, `host:port` or `*.example.com`. The host of `base_url` is always allowed.
         * `headers` go with every request, in place of the caller's, and may name `{{client_id}}`,
         * `{{access_token}}` and kept values; one with the token takes the place of `Authorization`.
         */
        readonly api?:
          | {
              readonly base_url?: string | null | undefined
              readonly hosts?: readonly string[] | undefined
              readonly auth_header_value_format?: string | null | undefined
              readonly headers?: { readonly [name: string]: string } | null | undefined
            }
          | null
          | undefined
        /**
         * Beyond Arcade: scopes, each with the scopes that it includes, for servers that list only the widest
         * granted scope (GitHub lists `repo` and not `public_repo`). By default those of the catalogue; `null`
         * restores them.
         */
        readonly scope_implies?: { readonly [name: string]: readonly string[] } | null | undefined
        /**
         * Beyond Arcade: scopes that the server lists by another name than they are asked by. `null`: back to
         * the catalogue's.
         */
        readonly scope_aliases?: { readonly [name: string]: string } | null | undefined
        /**
         * Beyond Arcade: the server keeps what was granted before when it is asked for more, so only new
         * scopes are requested of a user whose connection works. If the token response lists none of the
         * earlier scopes, they count as granted too. For other servers earlier and new scopes are requested
         * together.
         */
        readonly keeps_earlier_grants?: boolean | null | undefined
        /**
         * Beyond Arcade: the token response names no scopes and the authorization response does (Strava). The
         * authorization response comes through the browser, so the user could remove scopes from it, which
         * policies then do not see; added scopes have no effect. For other servers the requested scopes count
         * as granted if the token response names none.
         */
        readonly callback_tells_scopes?: boolean | null | undefined
        /**
         * Beyond Arcade: the parameter of the authorization response that has the code, in place of `code`
         * (`auth_code`, `spapi_oauth_code`).
         */
        readonly code_parameter?: string | null | undefined
        /**
         * Beyond Arcade: the parameter that has the state, in place of `state`, in the authorization request
         * and in its response.
         */
        readonly state_parameter?: string | null | undefined
        /**
         * Beyond Arcade: parameters of the authorization response that tools are given in `extra`, each with a
         * regular expression that the whole value must match. The values come through the user's browser, so
         * permit only harmless ones, such as digits, or the provider's own hosts.
         */
        readonly callback_members?: { readonly [name: string]: string } | null | undefined
        /** Beyond Arcade: the scopes that are requested where a requirement names none. */
        readonly default_scopes?: readonly string[] | null | undefined
        /**
         * Beyond Arcade: where the user info has the account's id and its name, as expressions of a response
         * map, the most trusted first. Left out: where most servers have them, OpenID Connect's claims first.
         */
        readonly account?:
          | { readonly id?: readonly string[] | undefined; readonly name?: readonly string[] | undefined }
          | null
          | undefined
        /**
         * Beyond Arcade: whether the server takes clients without a secret (RFC 6749 section 2.1). Left out:
         * it does if the entry uses PKCE with S256 and does not authenticate by Basic.
         */
        readonly public_clients?: boolean | null | undefined
        /** Beyond Arcade: ID tokens that come without the scope `openid` are neither checked nor read. */
        readonly ignores_id_token?: boolean | null | undefined
      }
    | null
    | undefined
  /**
   * Beyond Arcade, for `type` `oauth1`: a server of OAuth 1.0a (RFC 5849). Its tokens are handed out
   * nowhere: Gatepass signs requests with them, in `/proxy/{provider}` and in HTTP tools. Members that
   * are left out do not change; those that are sent are replaced as a whole.
   */
  readonly oauth1?:
    | {
        /**
         * Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the
         * next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a
         * path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only
         * values in its place. With `ask` set to `user` each user enters a value at the consent, which is
         * stored with the connection; it must not determine a domain. A change of an entry's own value
         * requires new consents. A member that is left out is not changed; `null` removes a variable.
         */
        readonly variables?:
          | {
              readonly [name: string]: {
                readonly value?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly label?: string | undefined
                readonly example?: string | undefined
                readonly ask?: 'operator' | 'user' | undefined
              } | null
            }
          | null
          | undefined
        /**
         * The request for temporary credentials (RFC 5849 section 2.1), whose endpoint is often called
         * “request token URL”. POST is the default. A server that does not answer
         * `oauth_callback_confirmed=true` is refused.
         */
        readonly temporary_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
        /** Where the user approves (RFC 5849 section 2.2). `oauth_token` is added to `params`. */
        readonly authorize_request?:
          | {
              readonly endpoint: string
              readonly params?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
        /** The request that exchanges the verifier for the token (RFC 5849 section 2.3). */
        readonly token_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
        /**
         * A signed GET after the consent, whose answer names the account. Left out: the answer of the token
         * request may name it.
         */
        readonly user_info_request?:
          | {
              readonly endpoint: string
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * RFC 5849 section 3.4, and `HMAC-SHA256`. Default: `HMAC-SHA1`. With `RSA-SHA1` the client secret is
         * an RSA key in PEM.
         */
        readonly signature_method?: 'HMAC-SHA1' | 'HMAC-SHA256' | 'RSA-SHA1' | 'PLAINTEXT' | null | undefined
        /** `realm` of the `Authorization` header; it may name variables. */
        readonly realm?: string | null | undefined
        /**
         * The server accepts only the exact callback that was registered. The state is then in a cookie, and
         * not in the query of the callback.
         */
        readonly fixed_callback?: boolean | null | undefined
        /** Where the account's id and name are, as expressions of a response map, the most trusted first. */
        readonly account?:
          | { readonly id?: readonly string[] | undefined; readonly name?: readonly string[] | undefined }
          | null
          | undefined
        /** The hosts to which signed requests may be sent: by the proxy, and by tools that are HTTP requests. */
        readonly api?:
          | {
              readonly base_url?: string | null | undefined
              readonly hosts?: readonly string[] | undefined
              readonly headers?: { readonly [name: string]: string } | null | undefined
            }
          | null
          | undefined
        readonly client_id?: string | undefined
        /**
         * Where `auth_method` says so, a private key in PEM or as a JWK, or a certificate with its chain and
         * its key in PEM.
         */
        readonly client_secret?: string | null | undefined
        /** Accepted so that an answer can be sent back. Gatepass determines it, so this has no effect. */
        readonly redirect_uri?: string | null | undefined
        /** A member of answers; without effect in a request */
        readonly installation_url?: JsonValue | undefined
      }
    | null
    | undefined
  /**
   * Beyond Arcade, for `type` `credentials`: what people type on the page of Gatepass instead of a
   * consent at the provider. Members that are left out do not change; those that are sent are replaced
   * as a whole.
   */
  readonly credentials?:
    | {
        /**
         * Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the
         * next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a
         * path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only
         * values in its place. With `ask` set to `user` each user enters a value at the consent, which is
         * stored with the connection; it must not determine a domain. A change of an entry's own value
         * requires new consents. A member that is left out is not changed; `null` removes a variable.
         */
        readonly variables?:
          | {
              readonly [name: string]: {
                readonly value?: string | undefined
                readonly pattern?: string | undefined
                readonly one_of?: readonly string[] | undefined
                readonly label?: string | undefined
                readonly example?: string | undefined
                readonly ask?: 'operator' | 'user' | undefined
              } | null
            }
          | null
          | undefined
        /**
         * What people type on the page of Gatepass, in this order, at most 10 fields. URLs name fields that
         * are not secret as `{{name}}`; such a field needs `pattern` or `one_of`, and `example`, and no value
         * may decide a domain.
         */
        readonly fields?: { readonly [name: string]: CredentialField } | undefined
        readonly place?: CredentialPlaceInput | undefined
        /**
         * The request that checks what was typed, before it is stored: a 2xx status means that the service
         * takes it, 401 and 403 that it does not. It has the credential in its place; its own templates may
         * name fields that are not secret. GET is the default.
         */
        readonly test_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * A login that makes a token with a limited life of the fields. Its `params` and `headers` name all
         * fields; `response_map` finds `access_token` and `expires_in`. It is sent again when the token ends,
         * and when the API refuses it.
         */
        readonly token_request?:
          | {
              readonly endpoint: string
              readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
              readonly params?: { readonly [name: string]: string } | null | undefined
              /**
               * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
               * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
               */
              readonly headers?: { readonly [name: string]: string } | null | undefined
              readonly request_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              /**
               * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
               * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
               * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
               * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
               * requires a new consent.
               */
              readonly error_response?:
                | {
                    readonly at: string
                    readonly success?: readonly (string | number | boolean)[] | undefined
                    readonly code?: string | null | undefined
                    readonly description?: string | null | undefined
                    readonly codes?:
                      | {
                          readonly [name: string]:
                            | 'invalid_grant'
                            | 'invalid_client'
                            | 'unauthorized_client'
                            | 'invalid_request'
                            | 'invalid_scope'
                            | 'unsupported_grant_type'
                            | 'access_denied'
                            | 'server_error'
                            | 'temporarily_unavailable'
                            | 'slow_down'
                            | 'authorization_pending'
                            | 'expired_token'
                        }
                      | null
                      | undefined
                  }
                | null
                | undefined
              readonly response_content_type?:
                | 'application/x-www-form-urlencoded'
                | 'application/json'
                | null
                | undefined
              readonly response_map?: { readonly [name: string]: string } | null | undefined
              /**
               * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
               * for the `exp` of an access token that is a JWT.
               */
              readonly expiration_format?:
                | 'relative_seconds'
                | 'relative_milliseconds'
                | 'absolute_unix_timestamp'
                | 'iso_8601'
                | 'access_token_jwt'
                | null
                | undefined
            }
          | null
          | undefined
        /**
         * What could not be checked is stored too: there is no `test_request`, or its answer is neither 2xx
         * nor a refusal.
         */
        readonly unchecked?: boolean | null | undefined
        /**
         * Confirms that `place.query` or `place.path` puts the key into URLs. Gatepass neither logs such a URL
         * nor answers it, and follows no redirect with it.
         */
        readonly in_url?: boolean | null | undefined
        /**
         * Where the answer of `test_request` has the account's id and name, as expressions of a response map,
         * the most trusted first. With `token_request` alone: in its answer.
         */
        readonly account?:
          | { readonly id?: readonly string[] | undefined; readonly name?: readonly string[] | undefined }
          | null
          | undefined
        /**
         * Where the credential may be sent: the proxy, and tools that are HTTP requests. `hosts` are known
         * where `base_url` names the domain. `headers` go with every request, such as a version.
         */
        readonly api?:
          | {
              readonly base_url?: string | null | undefined
              readonly hosts?: readonly string[] | undefined
              readonly headers?: { readonly [name: string]: string } | null | undefined
            }
          | undefined
      }
    | null
    | undefined
}

export interface Authorization {
  readonly id: string
  readonly status: 'not_started' | 'pending' | 'completed' | 'failed'
  /** The link for the user, while pending */
  readonly url?: string
  readonly user_id: string
  readonly provider_id: string
  /** The requested scopes while pending, the granted ones when completed */
  readonly scopes: readonly string[]
  readonly context: {
    readonly token?: string
    readonly token_type?: string
    /** When the token expires, if the provider says so */
    readonly expires_at?: string
    readonly user_info?: JsonObject
    /** The account that was used before, if the user approved with another one. It stays connected. */
    readonly previous_account?: { readonly id: string; readonly name: string; readonly connection_id: string }
  }
  /** Scopes that were requested and not granted, when completed */
  readonly missing_scopes?: readonly string[]
  readonly expires_at?: string
  readonly reason?: FailureReason
  readonly message?: string
  readonly cause?: Cause
}

export interface AuthorizeRequest {
  readonly auth_requirement: {
    /** A provider entry, or a well-known kind such as `github` */
    readonly provider_id?: string | null | undefined
    /** A provider entry by its own id */
    readonly id?: string | null | undefined
    readonly provider_type?: 'oauth2' | null | undefined
    /** Without scopes any grant suffices, and the provider entry determines which scopes are requested */
    readonly oauth2?: { readonly scopes?: readonly string[] | null | undefined } | null | undefined
    /**
     * Values for the variables that the provider entry asks users for, such as a subdomain: the connect
     * page then shows them and does not ask. They do not choose among connections; `account` does.
     */
    readonly variables?: { readonly [name: string]: string } | null | undefined
  }
  readonly user_id: string
  /** Where the browser goes at the end */
  readonly next_uri?: string | null | undefined
  /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
  readonly user_display?: string | null | undefined
  /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
  readonly lang?: string | null | undefined
  /**
   * Beyond Arcade: what the page of `oauth2.installation.install_uri` was given for a user who began at
   * the provider
   */
  readonly install_id?: string | null | undefined
  /** Which of the user's accounts: a connection's id, an account's id or name, or `new` for one more */
  readonly account?: string | null | undefined
}

export interface BegunConnectSession {
  readonly id: string
  /**
   * The latest authorization of the session. If existing connections covered the need, none was begun:
   * then this is the id of the (first) connection
   */
  readonly auth_id: string
  readonly status: 'pending' | 'completed' | 'failed'
  readonly reason?: FailureReason
  readonly message?: string
  /** When completed */
  readonly connection?: { readonly id: string; readonly provider_id: string }
  /**
   * When completed, if there are several: all that the user approved, or all existing ones that covered
   * the need
   */
  readonly connections?: readonly { readonly id: string; readonly provider_id: string }[]
  /**
   * When the token expires: at this time, or 60 seconds after the end of the authorization, if that is
   * earlier.
   */
  readonly expires_at: string
  /** The token with which the page opens the session. No other answer has it. */
  readonly session_token: string
  /** The connect page. It works only in the browser that has opened the session with its token */
  readonly url?: string
}

export interface Branding {
  readonly project_id: string
  readonly app_name?: string
  readonly lang?: string
  /** A path of this server */
  readonly logo_url?: string
  readonly accent?: string
  readonly accent_dark?: string
  readonly app_url?: string
  readonly privacy_url?: string
  readonly support_url?: string
  readonly texts?: { readonly [name: string]: { readonly [name: string]: string } }
  readonly domain?: OwnDomain
  readonly updated_at?: string
}

export interface BrandingChanges {
  readonly app_name?: string | null | undefined
  /** The language for users whose own language the pages do not have */
  readonly lang?: 'en' | 'de' | 'fr' | 'es' | 'pt' | 'ja' | 'zh' | null | undefined
  /** A PNG, JPEG, or WebP image of at most 64 KiB and 1,024 pixels a side, as `data:image/png;base64,…` */
  readonly logo?: string | null | undefined
  /** The color of links and buttons on light pages */
  readonly accent?: string | null | undefined
  /** The same on dark pages; absent: the nearest readable shade of `accent` */
  readonly accent_dark?: string | null | undefined
  /**
   * The page of your application to which the last page of an authorization leads back, if the request
   * named no `next_uri`
   */
  readonly app_url?: string | null | undefined
  readonly privacy_url?: string | null | undefined
  readonly support_url?: string | null | undefined
  /**
   * A host name of your own. Users see the pages there once a DNS record, which the answer contains, has
   * proved that it is yours. `null`: back to the public URL
   */
  readonly domain?: string | null | undefined
  /** Your own sentences as plain text, by language and place. They replace all that were set before */
  readonly texts?:
    | {
        readonly en?: OwnTexts | undefined
        readonly de?: OwnTexts | undefined
        readonly fr?: OwnTexts | undefined
        readonly es?: OwnTexts | undefined
        readonly pt?: OwnTexts | undefined
        readonly ja?: OwnTexts | undefined
        readonly zh?: OwnTexts | undefined
      }
    | null
    | undefined
}

export interface CatalogueEntry {
  readonly id: string
  readonly name: string
  readonly also_known_as: readonly string[]
  readonly category: string
  /** Whether two sources, or a document of the provider, confirm its endpoints */
  readonly verified: boolean
  /** `credentials`: users type an API key or the like, and no client is registered */
  readonly type: 'oauth2' | 'oauth1' | 'credentials'
  /** Whether the client asks for tokens without a user: the project owns the connections */
  readonly without_user: boolean
  /** The id of another definition of the same service, whose users give access in another way */
  readonly second_way_of?: string
  /** What a new provider needs besides its client, such as a subdomain */
  readonly variables: readonly string[]
  readonly documentation?: string
}

/** Why it failed, with what to change; `explain` has each step */
export interface Cause {
  readonly code: CauseCode
  /** What is wrong, in one sentence */
  readonly message: string
  /** What to change */
  readonly to_do: string
  /** Who can change it */
  readonly who: 'user' | 'operator' | 'tool_author'
}

/** A stable code to switch on */
export type CauseCode =
  | 'link_not_opened'
  | 'link_not_clicked'
  | 'login_not_finished'
  | 'at_provider'
  | 'redirect_uri_not_registered'
  | 'left_at_provider'
  | 'code_not_entered'
  | 'account_not_confirmed'
  | 'access_denied'
  | 'cancelled'
  | 'client_not_accepted'
  | 'pkce_refused'
  | 'scope_refused'
  | 'provider_down'
  | 'provider_limits_requests'
  | 'provider_paused'
  | 'request_refused'
  | 'wrong_issuer'
  | 'unusable_answer'
  | 'other_browser'
  | 'wrong_user'
  | 'user_not_confirmed'
  | 'not_sent_on'
  | 'client_missing'
  | 'wrong_client_secret'
  | 'subject_not_connected'
  | 'machine_grant_refused'
  | 'code_not_accepted'
  | 'clock_skew'
  | 'dpop_proof_refused'
  | 'id_token_refused'
  | 'host_not_allowed'
  | 'wrong_account'
  | 'nothing_to_choose'
  | 'not_chosen'
  | 'entry_changed'
  | 'own_fault'
  | 'scopes_withheld'
  | 'account_changed'
  | 'consent_withdrawn'
  | 'refresh_token_expired'
  | 'refresh_token_used_twice'
  | 'grant_refused'
  | 'no_refresh_token'
  | 'endpoints_changed'
  | 'credential_refused'
  | 'shared_connection_unusable'
  | 'installation_removed'
  | 'refreshed_as_another'
  | 'tokens_unreadable'

export interface ChainCompleted {
  readonly status: 'completed'
  /** The result of the last step */
  readonly structured?: JsonValue
  readonly steps: readonly ChainStep[]
}

export interface ChainFailed {
  readonly status: 'failed'
  readonly steps: readonly ChainStep[]
}

export interface ChainRequiresAuthorization {
  readonly status: 'requires_authorization'
  readonly steps: readonly ChainStep[]
  /** The consent that the tool needs first */
  readonly requires_authorization: RequiredAuthorization & {
    /** Counted from 0 */
    readonly step: number
    readonly toolId: string
  }
  /** Continues the chain, once, within a day. Absent if the chain was not stored */
  readonly resume?: string
}

export type ChainResult = ChainCompleted | ChainFailed | ChainRequiresAuthorization

export type ChainStep = ChainStepCompleted | ChainStepFailed | ChainStepSkipped

export interface ChainStepCompleted {
  readonly toolId: string
  readonly status: 'completed'
  readonly backend?: RunBackend
  readonly executionId: string
  /** Milliseconds */
  readonly duration: number
  /** Absent where the tool answered nothing */
  readonly structured?: JsonValue
  readonly mcpResult?: McpResult
}

export interface ChainStepFailed {
  readonly toolId: string
  readonly status: 'failed'
  readonly backend?: RunBackend
  readonly executionId?: string
  /** Milliseconds */
  readonly duration?: number
  readonly error: RunError
  readonly mcpResult?: McpResult
}

export interface ChainStepSkipped {
  readonly toolId: string
  readonly status: 'skipped'
}

export interface ChunkEvent {
  readonly kind: 'chunk'
  readonly toolId: string
  readonly data: JsonValue
}

export interface CodeResult {
  /** What the code returned; null if it returned nothing */
  readonly value:
    | null
    | boolean
    | number
    | string
    | readonly JsonValue[]
    | { readonly [name: string]: JsonValue }
  readonly stdout: string
  readonly stderr: string
  readonly toolCalls: readonly CodeToolCall[]
  /** Milliseconds */
  readonly duration: number
  readonly backend: {
    readonly kind: 'wasm'
    readonly readiness: 'beta'
    readonly details: {
      readonly engine: 'quickjs-ng'
      readonly language: 'javascript' | 'typescript'
      readonly limits: {
        readonly timeout_ms: number
        readonly memory_mb: number
        readonly tool_calls: number
        readonly chain_steps: number
      }
    }
  }
  readonly error?: {
    readonly kind:
      | 'code_error'
      | 'timeout'
      | 'memory_limit'
      | 'tool_call_limit'
      | 'chain_step_limit'
      | 'output_limit'
      | 'sandbox_violation'
      | 'cancelled'
      | 'replay_diverged'
    readonly message: string
    readonly line?: number
    readonly column?: number
  }
  /** The consent that the tool needs first */
  readonly requires_authorization?: RequiredAuthorization & { readonly toolId: string }
  /**
   * Goes on after the user has approved, within a day: send it with the same code. Absent if the run was
   * not stored
   */
  readonly resume?: string
}

export interface CodeToolCall {
  readonly toolId: string
  readonly args?: JsonValue
  readonly structured?: JsonValue
  /** `args` or `structured` are left out: those of all calls exceed the limit */
  readonly truncated?: boolean
  readonly backendKind?: 'mcp' | 'provider' | 'local'
  readonly executionId?: string
  /** Milliseconds */
  readonly duration: number
  readonly error?: {
    /** The kind of a tool error, or the name of a refusal */
    readonly kind: string
    readonly message: string
    readonly canRetry: boolean
  }
  readonly errorOp?: 'run' | 'chain'
  /** The call was made by the run that this one resumes, and not again */
  readonly replayed?: boolean
}

export interface ConfirmedUser {
  readonly auth_id: string
  readonly next_uri: string
}

export interface ConnectSession {
  readonly id: string
  /**
   * The latest authorization of the session. If existing connections covered the need, none was begun:
   * then this is the id of the (first) connection
   */
  readonly auth_id: string
  readonly status: 'pending' | 'completed' | 'failed'
  readonly reason?: FailureReason
  readonly message?: string
  /** When completed */
  readonly connection?: { readonly id: string; readonly provider_id: string }
  /**
   * When completed, if there are several: all that the user approved, or all existing ones that covered
   * the need
   */
  readonly connections?: readonly { readonly id: string; readonly provider_id: string }[]
  /**
   * When the token expires: at this time, or 60 seconds after the end of the authorization, if that is
   * earlier.
   */
  readonly expires_at: string
}

export interface ConnectSessionRequest {
  /** The user who is logged in at the page */
  readonly user_id: string
  /** A provider entry, or a well-known kind such as `github` */
  readonly provider_id?: string | null | undefined
  readonly scopes?: readonly string[] | null | undefined
  /** Which of the user's accounts: a connection's id, an account's id or name, or `new` for one more */
  readonly account?: string | null | undefined
  readonly variables?: { readonly [name: string]: string } | null | undefined
  /** In place of `provider_id`: connects what this tool needs */
  readonly tool?: string | null | undefined
  /** In place of `provider_id`: connects this connection again, with `scopes` added */
  readonly connection_id?: string | null | undefined
  /** The origin of the page, such as `https://app.example` */
  readonly allowed_origin: string
  /** Where the browser goes at the end if the page’s own tab had to be used */
  readonly next_uri?: string | null | undefined
  /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
  readonly user_display?: string | null | undefined
  /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
  readonly lang?: string | null | undefined
}

export interface Connection {
  readonly id: string
  readonly user_id: string
  readonly provider_id: string
  readonly account: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
  readonly status: 'active' | 'needs_authorization'
  readonly status_reason?:
    | 'refresh_refused'
    | 'consent_withdrawn'
    | 'token_expired'
    | 'refresh_token_expired'
    | 'provider_changed'
    | 'refresh_outcome_lost'
    | 'account_changed'
    | 'credential_refused'
    | 'installation_removed'
    | 'unreadable'
  readonly expires_at?: string
  readonly created_at: string
  readonly last_used_at?: string
  /** The account that is used when a call names none */
  readonly default: boolean
}

export interface CredentialField {
  readonly label?: string | undefined
  /** Sealed and never shown again. A field that is not secret may be part of URLs. */
  readonly secret?: boolean | undefined
  /** A regular expression that the whole value must match */
  readonly pattern?: string | undefined
  readonly one_of?: readonly string[] | undefined
  readonly example?: string | undefined
  /** Where people find the value, and delete it */
  readonly help_url?: string | undefined
  readonly max?: number | undefined
  /** The value has several lines, such as a PEM key */
  readonly multiline?: boolean | undefined
}

/**
 * Where requests to the API have the credential, in exactly one way: `bearer` (RFC 6750), `basic` (RFC
 * 7617, either half may be fixed or empty), `headers` with an own word before the key or none,
 * `query`, or `path`, which is put before the path of each request (`/bot{{api_token}}`). The last two
 * need `in_url`. The templates name fields as `{{name}}`, or `{{access_token}}` where there is a
 * `token_request`.
 */
export interface CredentialPlaceInput {
  readonly bearer?: string | undefined
  readonly basic?: { readonly username: string; readonly password: string } | undefined
  readonly headers?: { readonly [name: string]: string } | null | undefined
  readonly query?: { readonly [name: string]: string } | undefined
  readonly path?: string | undefined
}

export interface DeletedConnection {
  readonly id: string
  readonly revocation: 'revoked' | 'unsupported' | 'failed'
}

export interface DescribedTool extends ToolDefinition {
  /** In the formats that `include_format` names */
  readonly formatted_schema?: {
    readonly openai?: OpenAiTool
    readonly anthropic?: AnthropicTool
    readonly mcp?: McpTool
    readonly jsonschema?: JsonSchema
    readonly json_schema?: JsonSchema
    readonly arcade?: ToolDefinition
    readonly oxp?: OxpTool
  }
}

export interface DiagnosisCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** How to fix it */
  readonly fix?: string
}

export interface DoneEvent {
  readonly kind: 'done'
  readonly toolId: string
  readonly data: {
    readonly backend?: RunBackend
    readonly executionId: string
    /** Milliseconds */
    readonly duration: number
    /** Absent where the tool answered nothing */
    readonly structured?: JsonValue
    readonly mcpResult?: McpResult
  }
}

export interface ErrorBody {
  readonly name: ErrorCode
  /** What happened and what to do */
  readonly message: string
  /** Each thing that is wrong with the request */
  readonly errors?: readonly {
    /** The member, parameter or header; empty for the whole */
    readonly path: string
    readonly code: FaultCode
    readonly message: string
    /** In broken JSON, from 1 */
    readonly line?: number
    readonly column?: number
    /** What a missing value is, in words */
    readonly label?: string
    /** The definition of the catalogue that an unknown provider probably means */
    readonly catalogued?: string
  }[]
  /** Why a token or a consent cannot be obtained, if that is known */
  readonly cause?: Cause
  readonly requires_authorization?: RequiredAuthorization
}

/** A stable code to switch on */
export type ErrorCode =
  | 'invalid_request'
  | 'unsupported_media_type'
  | 'request_too_large'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'too_many_pending'
  | 'invalid_authorization'
  | 'insufficient_role'
  | 'insufficient_scope'
  | 'user_not_allowed'
  | 'not_found'
  | 'already_exists'
  | 'already_decided'
  | 'digest_mismatch'
  | 'set_by_operator'
  | 'ambiguous_tool'
  | 'tool_source_changed'
  | 'provider_not_found'
  | 'provider_incomplete'
  | 'provider_inactive'
  | 'provider_unavailable'
  | 'token_request_refused'
  | 'scopes_not_granted'
  | 'not_accepted'
  | 'proxy_only'
  | 'host_not_allowed'
  | 'user_mismatch'
  | 'authorization_failed'
  | 'authorization_required'
  | 'authorization_expired'
  | 'denied_by_policy'
  | 'policy_check_failed'
  | 'invalid_tool'
  | 'invalid_input'
  | 'answer_not_kept'
  | 'entries_archived'
  | 'outcome_unknown'
  | 'store_unavailable'
  | 'not_implemented'
  | 'internal_error'

/** Where the API says what went wrong */
export interface ErrorDescription {
  /** An answer of status 2xx that is a failure */
  readonly failed_if?: readonly AnswerCondition[] | undefined
  readonly code?: readonly string[] | undefined
  readonly message?: readonly string[] | undefined
  readonly details?: readonly string[] | undefined
  /** By code or status; `*` at the end of a code: any ending */
  readonly kinds?:
    | {
        readonly [name: string]:
          | 'bad_token'
          | 'forbidden'
          | 'not_found'
          | 'invalid_input'
          | 'rate_limit'
          | 'quota'
          | 'server'
      }
    | undefined
  /** Parts of the message of an answer without a code, and the code that it then has */
  readonly sentences?: { readonly [name: string]: string } | undefined
  /** By code or status: what to do */
  readonly advice?: { readonly [name: string]: string } | undefined
  readonly wait?:
    | readonly {
        readonly header?: string | undefined
        /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
        readonly at?: string | undefined
        readonly amount?: number | undefined
        readonly unit: 'seconds' | 'milliseconds' | 'epoch_seconds' | 'epoch_milliseconds' | 'time'
      }[]
    | undefined
}

export interface ErrorEvent {
  readonly kind: 'error'
  readonly toolId: string
  readonly data:
    | {
        readonly backend?: RunBackend
        readonly executionId: string
        /** Milliseconds */
        readonly duration: number
        readonly error: RunError
        readonly mcpResult?: McpResult
      }
    | {
        readonly backend?: RunBackend
        readonly executionId: string
        /** Milliseconds */
        readonly duration: number
        /** The consent that the tool needs first */
        readonly requires_authorization: RequiredAuthorization
      }
    | ErrorBody
}

export interface ExecuteError {
  /** For users and models */
  readonly message: string
  /** Whether the same call may be repeated without doing anything twice */
  readonly can_retry: boolean
  /** To be added to a model's prompt before it tries again */
  readonly additional_prompt_content?: string
  /** Milliseconds to wait before a repetition */
  readonly retry_after_ms?: number
  /** For developers, never for a model. Begins with the kind of the error and a colon */
  readonly developer_message: string
}

/** Exactly one of its members. Absent when the tool answered null, and for a scheduled run */
export type ExecuteOutput =
  | { readonly value: JsonValue }
  | { readonly error: ExecuteError }
  | {
      /** The consent that the tool needs first */
      readonly requires_authorization: RequiredAuthorization
    }
  | { readonly artifact: Artifact }

export interface ExecuteResult {
  readonly execution_id: string
  /** Milliseconds */
  readonly duration: number
  readonly finished_at: string
  /** Whether the tool produced a value or an artifact */
  readonly success: boolean
  readonly output?: ExecuteOutput
}

export interface ExplainedStep {
  readonly at: string
  readonly step:
    | 'begun'
    | 'link_opened'
    | 'logged_in'
    | 'clicked'
    | 'pushed_authorization'
    | 'temporary_credentials'
    | 'device_authorization'
    | 'sent_to_provider'
    | 'callback'
    | 'refused'
    | 'user_confirmed'
    | 'code_exchange'
    | 'user_info'
    | 'introspection'
    | 'choices'
    | 'stored'
    | 'ended'
    | 'connected'
    | 'refreshed'
    | 'refresh_failed'
    | 'needs_authorization'
    | 'used'
  readonly provider_id?: string
  /** The number of the attempt, from 1. Each click on the connect page begins another attempt */
  readonly attempt?: number
  readonly details: {
    /** Origin and path of the request */
    readonly endpoint?: string
    readonly method?: string
    /** How the client authenticated */
    readonly authentication?: string
    /** Names of parameters, never their values */
    readonly parameters?: readonly string[]
    readonly scopes?: readonly string[]
    /** Requested and not granted */
    readonly missing_scopes?: readonly string[]
    readonly redirect_uri?: string
    readonly code_challenge_method?: string
    /** The HTTP status of the answer */
    readonly status?: number
    /** Why there was no answer, such as `timeout` */
    readonly failure?: string
    readonly took_ms?: number
    /**
     * The names of the answer's members, with the form of a value where it matters, such as `scope:
     * commas`
     */
    readonly received?: readonly string[]
    /** The provider's error code */
    readonly error?: string
    /** The provider's own words, cleaned */
    readonly description?: string
    /** Gatepass’ own code for the reason */
    readonly reason?: string
    readonly message?: string
    /** The claim of an ID token that was refused */
    readonly claim?: string
    /**
     * How far the clock of Gatepass is ahead of the provider's, if they differ by a minute or more.
     * Negative: behind
     */
    readonly clock_difference_seconds?: number
    readonly connection_id?: string
    readonly account?: string
    /** The account that was connected before, when another one approved */
    readonly previous_account?: string
    readonly by?: string
    /** How often this step failed in a row in the same way */
    readonly times?: number
    /** When this step first failed in this way */
    readonly first_at?: string
    /** Requests with the same refresh token whose answers were lost */
    readonly unanswered?: number
  }
}

export interface Explanation {
  readonly id: string
  readonly kind: 'authorization' | 'connection'
  readonly user_id: string
  readonly status: 'pending' | 'completed' | 'failed' | 'active' | 'needs_authorization'
  readonly reason?: string
  readonly message?: string
  /** The tool or application that asked */
  readonly requester?: string
  readonly created_at: string
  readonly expires_at?: string
  readonly ended_at?: string
  readonly providers: readonly {
    readonly provider_id: string
    readonly name: string
    /** To be registered at the provider */
    readonly redirect_uri?: string
    /** The requested scopes; for a connection, the granted ones */
    readonly scopes: readonly string[]
    readonly missing_scopes?: readonly string[]
    readonly connection_id?: string
  }[]
  /** In the order of time */
  readonly steps: readonly ExplainedStep[]
  /** There were more steps than are kept */
  readonly earlier_steps_dropped?: true
  /** Absent: nothing is known to be wrong */
  readonly cause?: Cause
}

export type FailureReason =
  | 'access_denied'
  | 'expired'
  | 'user_mismatch'
  | 'issuer_mismatch'
  | 'invalid_scope'
  | 'invalid_client'
  | 'invalid_grant'
  | 'provider_refused'
  | 'provider_bad_response'
  | 'provider_unavailable'
  | 'provider_changed'
  | 'account_mismatch'
  | 'nothing_to_choose'
  | 'approval_denied'
  | 'approval_expired'
  | 'approval_superseded'

export type FaultCode =
  | 'missing'
  | 'wrong_type'
  | 'not_one_of'
  | 'too_short'
  | 'too_long'
  | 'too_small'
  | 'too_large'
  | 'unknown_member'
  | 'unknown_parameter'
  | 'repeated_parameter'
  | 'invalid_json'
  | 'not_allowed'
  | 'conflict'
  | 'unknown'
  | 'invalid'

/** A connection with its tokens, as another installation or product had it */
export interface ForeignConnection {
  readonly user_id: string
  /** An entry with the client that got the tokens */
  readonly provider_id: string
  readonly access_token: string
  readonly refresh_token?: string | undefined
  /** Left out: `Bearer` */
  readonly token_type?: string | undefined
  /** RFC 3339, or a Unix time in seconds or milliseconds; left out: unknown */
  readonly expires_at?: string | number | undefined
  /** Also one text with spaces or commas */
  readonly scopes?: readonly string[] | undefined
  /**
   * The account at the provider. `id` is the id in the user info, such as `sub`; if it is left out, the
   * next consent sets it
   */
  readonly account?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined
  readonly user_info?: { readonly [name: string]: JsonValue } | undefined
  /** Further members of the token response, for tools */
  readonly extra?: { readonly [name: string]: JsonValue } | undefined
  /** By the names that `oauth2.kept_values` of the provider entry gives them */
  readonly kept_values?: { readonly [name: string]: string } | undefined
  /** What signs requests with the token (RFC 5849), where the provider entry has the type `oauth1` */
  readonly token_secret?: string | undefined
  /**
   * The private key that the tokens are bound to (RFC 9449), as a JWK with `alg`, where the provider
   * entry has `oauth2.dpop`
   */
  readonly dpop_key?: { readonly [name: string]: string } | undefined
  /** It becomes the account that is used when a call names none */
  readonly default?: boolean | undefined
}

/** In the format that `format` of the request names */
export type FormattedTool = OpenAiTool | AnthropicTool | McpTool | OxpTool | ToolDefinition | JsonSchema

export interface HttpWorkerChange {
  readonly uri?: string | undefined
  /** The server’s own secret, with which every request is signed */
  readonly secret?: string | undefined
  /** Seconds */
  readonly timeout?: number | undefined
  readonly retry?: number | undefined
}

export interface HttpWorkerRegistration {
  readonly uri: string
  /** The server’s own secret, with which every request is signed */
  readonly secret: string
  /**
   * Seconds
   * Default: `30`
   */
  readonly timeout?: number | undefined
  /** Default: `3` */
  readonly retry?: number | undefined
}

export interface HttpWorkerSettings {
  readonly uri: string
  readonly timeout: number
  readonly retry: number
  readonly secret: KeptSecret
}

/** The result of each document, in their order */
export interface ImportResult {
  readonly items: readonly ImportedTool[]
}

export interface ImportedConnection {
  readonly index: number
  /** `present`: there is a connection of this user, provider and account, which is not changed */
  readonly result: 'created' | 'replaced' | 'present' | 'refused'
  readonly connection_id?: string
  /**
   * What the refresh showed: a `refused` connection is stored and needs a new consent; one whose check
   * was `unavailable`, for the `reason`, is refreshed when it is used
   */
  readonly check?: 'refreshed' | 'refused' | 'unavailable' | 'not_possible'
  /** The member that is the reason */
  readonly member?: string
  readonly reason?: string
}

export interface ImportedTool {
  readonly name: string
  readonly tool_id?: string
  readonly result: 'created' | 'updated' | 'unchanged' | 'refused'
  /** Why it was refused, and what to do */
  readonly reason?: string
  readonly providers: readonly {
    readonly id: string
    readonly name: string
    /** To register at the provider */
    readonly redirect_uri?: string
    /** `client_id`, `client_secret`: what is still to be set */
    readonly missing: readonly string[]
  }[]
  /** Where the tool was read differently from what the document says */
  readonly warnings: readonly { readonly path: string; readonly message: string }[]
}

export interface IssuedApiKey {
  readonly id: string
  /** The key itself. No other answer has it */
  readonly key: string
  readonly project: string
  readonly role: 'admin' | 'caller' | 'readonly' | 'approver'
  readonly name: string
  /** The only user that the key acts for */
  readonly user_id?: string
  /** Of an approver: the groups whose calls it lists and decides about; without it, all */
  readonly groups?: readonly string[]
  readonly expires_at?: string
  readonly rate_limit?: number
}

/** An object whose members a tool, a provider or a caller chooses */
export type JsonObject = { readonly [name: string]: JsonValue }

/** A JSON Schema, 2020-12 or draft-07 by its `$schema` */
export type JsonSchema = { readonly [name: string]: JsonValue }

/** Any JSON value: its form is that of a tool, a provider or a caller */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }

export interface KeptSecret {
  readonly binding: 'project'
  readonly editable: true
  readonly exists: boolean
}

export interface McpClient {
  readonly id: string
  readonly user_id: string
  /** The URL of the metadata document of the client */
  readonly client_id: string
  /** The name that the client gives itself */
  readonly client_name: string
  /** A loopback URI is shown without its port */
  readonly redirect_uri: string
  readonly scopes: readonly string[]
  /**
   * False: its tokens are refused until the user allows it again, since the access has ended or another
   * GATEPASS_USER_VERIFIER identified the user
   */
  readonly has_access: boolean
  readonly created_at: string
  /** When it last got an access token */
  readonly last_used_at?: string
}

/** The CallToolResult of the MCP server that ran the tool */
export interface McpResult {
  readonly content?: readonly JsonObject[]
  readonly structuredContent?: JsonValue
  readonly isError?: boolean
  readonly _meta?: JsonObject
  readonly [name: string]: unknown
}

export interface McpTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly JsonObject[]
  readonly _meta?: JsonObject
}

export interface McpToolRequirements {
  readonly authorization?:
    | readonly {
        readonly id?: string | undefined
        readonly provider_id?: string | undefined
        /** Default: `[]` */
        readonly scopes?: readonly string[] | undefined
      }[]
    | undefined
  readonly secrets?: readonly string[] | undefined
}

export interface McpWorkerChange {
  readonly uri?: string | undefined
  /**
   * Shared with the server: every request is signed with it, as for workers over HTTP, so that the
   * server can trust `_meta`
   */
  readonly secret?: string | null | undefined
  /** Seconds */
  readonly timeout?: number | undefined
  readonly retry?: number | undefined
  /** Values for `headers`, by name */
  readonly secrets?: { readonly [name: string]: string | null } | null | undefined
  readonly oauth2?:
    | {
        readonly client_id?: string | null | undefined
        readonly client_secret?: string | null | undefined
        /** The issuer to use, where the server names several authorization servers or none */
        readonly authorization_url?: string | null | undefined
        readonly external_id?: string | null | undefined
        /**
         * Requested in addition to those that the server lists. `openid` is requested only if it is listed
         * here; then the ID token is checked
         */
        readonly scopes?: readonly string[] | null | undefined
      }
    | null
    | undefined
  /** Sent with every request; ${secret:NAME} is replaced by that secret */
  readonly headers?: { readonly [name: string]: string } | null | undefined
  /** The namespace of its tools; by default it is made from the server’s own name */
  readonly namespace?: string | null | undefined
  /** The member of a call’s `_meta` that carries tokens and secrets; `arcade_context` by default */
  readonly token_meta?: string | null | undefined
  /** The only providers that its tools may declare for themselves; all by default */
  readonly providers?: readonly string[] | null | undefined
  /**
   * The requirements of tools that declare none. Those in `tools`, by the name of a tool, replace what
   * the tool declares
   */
  readonly requirements?:
    | (McpToolRequirements & {
        readonly tools?: { readonly [name: string]: McpToolRequirements } | undefined
      })
    | null
    | undefined
}

export interface McpWorkerRegistration {
  readonly uri: string
  /**
   * Shared with the server: every request is signed with it, as for workers over HTTP, so that the
   * server can trust `_meta`
   */
  readonly secret?: string | null | undefined
  /**
   * Seconds
   * Default: `30`
   */
  readonly timeout?: number | undefined
  /** Default: `3` */
  readonly retry?: number | undefined
  /** Values for `headers`, by name */
  readonly secrets?: { readonly [name: string]: string } | null | undefined
  readonly oauth2?:
    | {
        readonly client_id?: string | null | undefined
        readonly client_secret?: string | null | undefined
        /** The issuer to use, where the server names several authorization servers or none */
        readonly authorization_url?: string | null | undefined
        readonly external_id?: string | null | undefined
        /**
         * Requested in addition to those that the server lists. `openid` is requested only if it is listed
         * here; then the ID token is checked
         */
        readonly scopes?: readonly string[] | null | undefined
      }
    | null
    | undefined
  /** Sent with every request; ${secret:NAME} is replaced by that secret */
  readonly headers?: { readonly [name: string]: string } | null | undefined
  /** The namespace of its tools; by default it is made from the server’s own name */
  readonly namespace?: string | null | undefined
  /** The member of a call’s `_meta` that carries tokens and secrets; `arcade_context` by default */
  readonly token_meta?: string | null | undefined
  /** The only providers that its tools may declare for themselves; all by default */
  readonly providers?: readonly string[] | null | undefined
  /**
   * The requirements of tools that declare none. Those in `tools`, by the name of a tool, replace what
   * the tool declares
   */
  readonly requirements?:
    | (McpToolRequirements & {
        readonly tools?: { readonly [name: string]: McpToolRequirements } | undefined
      })
    | null
    | undefined
}

export interface McpWorkerSettings {
  readonly uri: string
  readonly timeout: number
  readonly retry: number
  readonly secret?: KeptSecret
  readonly headers?: { readonly [name: string]: string }
  readonly secrets?: { readonly [name: string]: KeptSecret }
  readonly namespace?: string
  readonly token_meta?: string
  readonly providers?: readonly string[]
  readonly requirements?: McpToolRequirements & {
    readonly tools?: { readonly [name: string]: McpToolRequirements }
  }
  readonly external_id?: string
  readonly redirect_uri?: string
  readonly oauth2?: {
    readonly client_id?: string
    readonly client_secret: KeptSecret
    readonly authorization_url?: string
    readonly external_id?: string
    readonly scopes?: readonly string[]
    /** To register at the authorization server */
    readonly redirect_uri?: string
    readonly supported_scopes?: readonly string[]
  }
  /** If the server requires OAuth: the user whose connection lists its tools */
  readonly authorization?: { readonly user_id?: string; readonly scopes: readonly string[] }
}

export interface NewPack {
  /** The id of the pack, and of its worker and its toolset */
  readonly id: string
  /**
   * Only tools that change nothing
   * Default: `false`
   */
  readonly read_only?: boolean | undefined
  /** Only these tools */
  readonly tools?: readonly string[] | undefined
  /** The id of the provider entry whose tokens they use; any entry of the pack’s provider unless given */
  readonly provider_id?: string | undefined
  /**
   * Who approves calls that destroy something or reach other people: the user, or people of a group.
   * `false`: no policy is made
   * Default: `"user"`
   */
  readonly approvals?: 'user' | { readonly group: string } | false | undefined
}

export interface NewPolicy {
  readonly id: string
  readonly description?: string | null | undefined
  /** Default: `true` */
  readonly enabled?: boolean | undefined
  /**
   * `deny`: a use that it matches is refused. `allow`: if there are such policies, a use that none of
   * them matches is refused. `hook`: a use that it matches is refused unless the hook permits it.
   * `approve`: a use that it matches waits until a person has approved it.
   */
  readonly effect: 'allow' | 'deny' | 'hook' | 'approve'
  readonly match: PolicyMatch
  readonly hook?:
    | {
        readonly url: string
        /**
         * `arcade`: asked as Arcade's `/pre` hooks are, answers `{"code": "OK"}`. `authzen`: `url` is the
         * address of a policy decision point (AuthZEN 1.0), whose `/access/v1/evaluation` answers
         * `{"decision": true}`
         * Default: `"arcade"`
         */
        readonly format?: 'arcade' | 'authzen' | undefined
        /** Default: `2000` */
        readonly timeout_ms?: number | undefined
        /**
         * The decision when the hook fails or its answer is invalid
         * Default: `"deny"`
         */
        readonly on_failure?: 'deny' | 'allow' | undefined
        /** Sent as `Authorization: Bearer <secret>` */
        readonly secret?: string | undefined
      }
    | undefined
  readonly approve?: PolicyApproval | undefined
}

export interface NewWebhook {
  /** Receives each event by POST. No query, no redirects */
  readonly url: string
  readonly description?: string | undefined
  /** Absent: all types, those of later releases too */
  readonly types?:
    | readonly (
        | 'authorization.completed'
        | 'authorization.failed'
        | 'authorization.expired'
        | 'connection.created'
        | 'connection.refreshed_scopes'
        | 'connection.needs_authorization'
        | 'connection.revoked'
        | 'connection.deleted'
        | 'tool.run.failed'
        | 'worker.requirements_changed'
        | 'approval.requested'
        | 'approval.decided'
        | 'approval.expired'
        | 'worker.tools_changed'
      )[]
    | undefined
  /** Default: `true` */
  readonly enabled?: boolean | undefined
}

export interface OAuth2ErrorResponse {
  readonly at: string
  readonly success: readonly string[]
  readonly code?: string
  readonly description?: string
  readonly codes?: { readonly [name: string]: string }
}

export interface OAuth2Request {
  readonly endpoint: string
  readonly method: string
  readonly auth_method: string
  readonly params: { readonly [name: string]: string }
  readonly parameter_names?: { readonly [name: string]: string }
  readonly headers?: { readonly [name: string]: string }
  readonly auth_header_value_format?: string
  readonly request_content_type: string
  readonly response_content_type: string
  readonly response_map?: { readonly [name: string]: string }
  readonly error_response?: OAuth2ErrorResponse
  readonly expiration_format?: string
}

export type OAuth2RequestOfIssuer = {
  readonly endpoint?: string | undefined
  readonly method?: 'GET' | 'POST' | 'DELETE' | null | undefined
  /**
   * How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in
   * `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade:
   * `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC
   * 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`,
   * `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key
   * that is not sent (`client_assertion`).
   */
  readonly auth_method?: string | null | undefined
  readonly params?: { readonly [name: string]: string } | null | undefined
  /**
   * Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place
   * of its own.
   */
  readonly parameter_names?:
    | {
        readonly client_id?: string | undefined
        readonly client_secret?: string | undefined
        readonly code?: string | undefined
        readonly code_challenge?: string | undefined
        readonly code_challenge_method?: string | undefined
        readonly code_verifier?: string | undefined
        readonly grant_type?: string | undefined
        readonly redirect_uri?: string | undefined
        readonly refresh_token?: string | undefined
        readonly response_type?: string | undefined
        readonly scope?: string | undefined
      }
    | null
    | undefined
  /**
   * Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id":
   * "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.
   */
  readonly headers?: { readonly [name: string]: string } | null | undefined
  readonly auth_header_value_format?: string | null | undefined
  readonly request_content_type?: 'application/x-www-form-urlencoded' | 'application/json' | null | undefined
  readonly response_content_type?: 'application/x-www-form-urlencoded' | 'application/json' | null | undefined
  readonly response_map?: { readonly [name: string]: string } | null | undefined
  /**
   * Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that
   * decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there
   * is no error. `code` and `description` locate the server's error code (default: the value at `at`)
   * and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant`
   * requires a new consent.
   */
  readonly error_response?:
    | {
        readonly at: string
        readonly success?: readonly (string | number | boolean)[] | undefined
        readonly code?: string | null | undefined
        readonly description?: string | null | undefined
        readonly codes?:
          | {
              readonly [name: string]:
                | 'invalid_grant'
                | 'invalid_client'
                | 'unauthorized_client'
                | 'invalid_request'
                | 'invalid_scope'
                | 'unsupported_grant_type'
                | 'access_denied'
                | 'server_error'
                | 'temporarily_unavailable'
                | 'slow_down'
                | 'authorization_pending'
                | 'expired_token'
            }
          | null
          | undefined
      }
    | null
    | undefined
  /**
   * What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt`
   * for the `exp` of an access token that is a JWT.
   */
  readonly expiration_format?:
    | 'relative_seconds'
    | 'relative_milliseconds'
    | 'absolute_unix_timestamp'
    | 'iso_8601'
    | 'access_token_jwt'
    | null
    | undefined
} | null

export interface OpenAiTool {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/**
 * The provider’s `id` or `provider_id`, or the key of a secret. `header` names the header for a scheme
 * that the document does not define; `authorization` by default
 */
export type OpenapiCredential =
  | {
      readonly id: string
      readonly scopes?: readonly string[] | undefined
      /** The header of the token; `authorization` by default */
      readonly header?: string | undefined
      /**
       * Whether it is sent with operations for which the document requires no credential, too; without it,
       * `sync_error` names them
       */
      readonly always?: boolean | undefined
    }
  | {
      readonly provider_id: string
      readonly scopes?: readonly string[] | undefined
      /** The header of the token; `authorization` by default */
      readonly header?: string | undefined
      /**
       * Whether it is sent with operations for which the document requires no credential, too; without it,
       * `sync_error` names them
       */
      readonly always?: boolean | undefined
    }
  | {
      readonly secret: string
      /** The header of the token; `authorization` by default */
      readonly header?: string | undefined
      /**
       * Whether it is sent with operations for which the document requires no credential, too; without it,
       * `sync_error` names them
       */
      readonly always?: boolean | undefined
    }

/** A tool that sends one HTTP request */
export interface OpenapiRequest {
  readonly name: string
  readonly version?: string | undefined
  readonly title?: string | undefined
  readonly description: string
  /** Default: `"GET"` */
  readonly method?: string | undefined
  /**
   * Absolute, or a path below `server_url`. Its path may have `{name}` for a property of the input, and
   * `{{name}}` for a value of the connection
   */
  readonly url: string
  /** The values of placeholders in the path that are not simply a property of the input: conversions */
  readonly path?: { readonly [name: string]: JsonValue } | undefined
  /** Constants, `{name}`, or a conversion: an object whose first member begins with `$` */
  readonly headers?: { readonly [name: string]: JsonValue } | undefined
  /**
   * Constants, `{name}` for a property of the input, or a conversion: an object whose first member
   * begins with `$`
   */
  readonly query?: { readonly [name: string]: JsonValue } | undefined
  /**
   * Any JSON; `"{name}"` is replaced by a property of the input, and so is a conversion by what it makes
   * of one
   */
  readonly body?: JsonValue | undefined
  /** JSON, a form, `multipart/related`, or a type of text; or `{name}` for one that the input names */
  readonly content_type?: string | undefined
  /**
   * Whether a redirect is followed, at most twice, over https and without the token: for files that lie
   * elsewhere. For GET alone
   */
  readonly follow_redirects?: boolean | undefined
  readonly input_schema: JsonSchema
  readonly output_schema?: JsonSchema | undefined
  readonly tags?: readonly string[] | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly authorization?:
    | OpenapiRequestToken
    | OpenapiRequestTokenByKind
    | { readonly secret: string; readonly in: 'header' | 'query'; readonly name: string }
    | readonly OpenapiRequestCredential[]
    | undefined
  readonly answer?: AnswerDescription | undefined
  readonly errors?: ErrorDescription | undefined
  readonly pages?:
    | {
        readonly by: 'token' | 'link' | 'number' | 'offset' | 'last'
        /** `a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole */
        readonly at?: string | undefined
        readonly parameters?: readonly string[] | undefined
        readonly after?: string | undefined
        readonly more?: AnswerCondition | undefined
        /** What differs in the request for the pages after the first */
        readonly request?:
          | {
              readonly method?: string | undefined
              /**
               * Absolute, or a path below `server_url`. Its path may have `{name}` for a property of the input, and
               * `{{name}}` for a value of the connection
               */
              readonly url?: string | undefined
              /** The values of placeholders in the path that are not simply a property of the input: conversions */
              readonly path?: { readonly [name: string]: JsonValue } | undefined
              /** Constants, `{name}`, or a conversion: an object whose first member begins with `$` */
              readonly headers?: { readonly [name: string]: JsonValue } | undefined
              /**
               * Constants, `{name}` for a property of the input, or a conversion: an object whose first member
               * begins with `$`
               */
              readonly query?: { readonly [name: string]: JsonValue } | undefined
              /**
               * Any JSON; `"{name}"` is replaced by a property of the input, and so is a conversion by what it makes
               * of one
               */
              readonly body?: JsonValue | undefined
              /** JSON, a form, `multipart/related`, or a type of text; or `{name}` for one that the input names */
              readonly content_type?: string | undefined
            }
          | undefined
      }
    | undefined
}

export type OpenapiRequestCredential =
  | OpenapiRequestToken
  | OpenapiRequestTokenByKind
  | { readonly secret: string; readonly in: 'header' | 'query'; readonly name: string }

export interface OpenapiRequestToken {
  readonly id: string
  readonly scopes?: readonly string[] | undefined
  /** Other sets of scopes that suffice; only where this is the single credential */
  readonly alternatives?: readonly (readonly string[])[] | undefined
  /** The header of the token; `authorization` by default */
  readonly header?: string | undefined
}

export interface OpenapiRequestTokenByKind {
  readonly provider_id: string
  readonly scopes?: readonly string[] | undefined
  /** Other sets of scopes that suffice; only where this is the single credential */
  readonly alternatives?: readonly (readonly string[])[] | undefined
  /** The header of the token; `authorization` by default */
  readonly header?: string | undefined
}

export interface OpenapiWorkerChange {
  /** An OpenAPI 3.1 or 3.0 or Swagger 2.0 document: an object, or JSON or YAML as text */
  readonly document?: string | JsonObject | undefined
  /** Where the document is; every sync reads it again */
  readonly url?: string | undefined
  readonly request?: OpenapiRequest | undefined
  /** A tool for each, of one API */
  readonly requests?: readonly OpenapiRequest[] | undefined
  /** In place of the servers that the document names */
  readonly server_url?: string | undefined
  /** The namespace of its tools; the id of the worker by default */
  readonly namespace?: string | undefined
  /** By the names of the document’s security schemes: the provider or the secret */
  readonly authorization?: { readonly [name: string]: OpenapiCredential } | undefined
  /** By operationId, tag or the name of the tool */
  readonly operations?:
    | { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined }
    | undefined
  /** Sent with every request; they must hold no secret */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Whether an answer that does not match the schema of the document is an error; true by default */
  readonly check_output?: boolean | undefined
  /** Seconds */
  readonly timeout?: number | undefined
  readonly retry?: number | undefined
}

export interface OpenapiWorkerRegistration {
  /** An OpenAPI 3.1 or 3.0 or Swagger 2.0 document: an object, or JSON or YAML as text */
  readonly document?: string | JsonObject | undefined
  /** Where the document is; every sync reads it again */
  readonly url?: string | undefined
  readonly request?: OpenapiRequest | undefined
  /** A tool for each, of one API */
  readonly requests?: readonly OpenapiRequest[] | undefined
  /** In place of the servers that the document names */
  readonly server_url?: string | undefined
  /** The namespace of its tools; the id of the worker by default */
  readonly namespace?: string | undefined
  /** By the names of the document’s security schemes: the provider or the secret */
  readonly authorization?: { readonly [name: string]: OpenapiCredential } | undefined
  /** By operationId, tag or the name of the tool */
  readonly operations?:
    | { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined }
    | undefined
  /** Sent with every request; they must hold no secret */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Whether an answer that does not match the schema of the document is an error; true by default */
  readonly check_output?: boolean | undefined
  /**
   * Seconds
   * Default: `30`
   */
  readonly timeout?: number | undefined
  /** Default: `3` */
  readonly retry?: number | undefined
}

export interface OpenapiWorkerSettings {
  readonly document?: { readonly openapi: string; readonly title?: string; readonly version?: string }
  /** Where the document is; every sync reads it again */
  readonly url?: string
  readonly request?: OpenapiRequest
  /** A tool for each, of one API */
  readonly requests?: readonly OpenapiRequest[]
  /** In place of the servers that the document names */
  readonly server_url?: string
  /** The namespace of its tools; the id of the worker by default */
  readonly namespace?: string
  /** By the names of the document’s security schemes: the provider or the secret */
  readonly authorization?: { readonly [name: string]: OpenapiCredential }
  /** By operationId, tag or the name of the tool */
  readonly operations?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] }
  /** Sent with every request; they must hold no secret */
  readonly headers?: { readonly [name: string]: string }
  /** Whether an answer that does not match the schema of the document is an error; true by default */
  readonly check_output?: boolean
  readonly timeout: number
  readonly retry: number
}

export interface OwnDomain {
  readonly name: string
  /** Users see the pages at the domain when it is `proved` */
  readonly status: 'unproved' | 'proved'
  /** The DNS record that proves the domain */
  readonly challenge: { readonly type: 'TXT'; readonly name: string; readonly value: string }
  readonly proved_at?: string
  /** Where users see the pages once the domain is proved */
  readonly origin: string
  /**
   * Register these at the providers before the proof, because the proof makes users return to them. The
   * first 500; GET /v1/admin/auth_providers has all, once the domain is proved
   */
  readonly redirect_uris: readonly { readonly provider_id: string; readonly redirect_uri: string }[]
  /** Register this too, at the issuer at which users log in */
  readonly login_redirect_uri?: string
}

export interface OwnTexts {
  readonly 'connect.note'?: string | undefined
  readonly 'completed.note'?: string | undefined
  readonly 'failed.note'?: string | undefined
}

export interface OxpCall {
  /** `Toolkit.Tool`, with `@version` or without */
  readonly tool_id: string
  /** Idempotency key: a repetition of the call within ten minutes gets the first answer */
  readonly call_id?: string | null | undefined
  readonly trace_id?: string | null | undefined
  readonly input?: JsonObject | null | undefined
  /** Another name of `input` */
  readonly inputs?: { readonly [name: string]: JsonValue } | null | undefined
  readonly context?:
    | {
        readonly authorization?:
          | readonly { readonly id: string; readonly token?: string | null | undefined }[]
          | null
          | undefined
        readonly secrets?:
          | readonly { readonly id: string; readonly value?: string | null | undefined }[]
          | null
          | undefined
        readonly user_id?: string | null | undefined
      }
    | null
    | undefined
}

export interface OxpFailure {
  readonly call_id: string
  /** Milliseconds */
  readonly duration: number
  readonly success: false
  readonly error: ExecuteError
}

export type OxpResult = OxpSuccess | OxpFailure

export interface OxpSuccess {
  readonly call_id: string
  /** Milliseconds */
  readonly duration: number
  readonly success: true
  readonly value: JsonValue
}

export interface OxpTool {
  /** `Toolkit.Tool`, with `@x.y.z` where it has a version */
  readonly id: string
  readonly name: string
  readonly description: string
  readonly version: string
  readonly input_schema: JsonSchema
  /** `null`: the tool returns nothing */
  readonly output_schema: JsonSchema | null
  readonly requirements?: {
    readonly authorization?: readonly {
      readonly id: string
      readonly oauth2: { readonly scopes: readonly string[] }
    }[]
    readonly secrets?: readonly { readonly id: string }[]
    readonly user_id?: true
  }
}

export interface OxpWorkerChange {
  readonly uri?: string | undefined
  /** `null` removes it */
  readonly api_key?: string | null | undefined
  /** `null` removes it */
  readonly jwt_secret?: string | null | undefined
  /** The JWT's `aud` */
  readonly audience?: string | null | undefined
  /** `none` for servers that expect the call itself as the body, without the member `request` around it */
  readonly envelope?: 'request' | 'none' | undefined
  /** Seconds */
  readonly timeout?: number | undefined
  readonly retry?: number | undefined
}

export interface OxpWorkerRegistration {
  readonly uri: string
  /** Sent as the header `OXP-API-Key` */
  readonly api_key?: string | undefined
  /** Signs a JWT for each request (HS256), sent as the bearer token */
  readonly jwt_secret?: string | undefined
  /** The JWT's `aud` */
  readonly audience?: string | undefined
  /**
   * `none` for servers that expect the call itself as the body, without the member `request` around it
   * Default: `"request"`
   */
  readonly envelope?: 'request' | 'none' | undefined
  /**
   * Seconds
   * Default: `30`
   */
  readonly timeout?: number | undefined
  /** Default: `3` */
  readonly retry?: number | undefined
}

export interface OxpWorkerSettings {
  readonly uri: string
  readonly api_key?: KeptSecret
  readonly jwt_secret?: KeptSecret
  readonly audience?: string
  /** `none` for servers that expect the call itself as the body, without the member `request` around it */
  readonly envelope: 'request' | 'none'
  readonly timeout: number
  readonly retry: number
}

export interface Pack {
  readonly id: string
  readonly name: string
  readonly summary: string
  /** The provider of the catalogue whose tokens the tools use */
  readonly provider_id: string
  readonly version: string
  readonly tool_count: number
  /** The tools that were compared with the description of the vendor’s API or with a client of it */
  readonly checked_count: number
  /**
   * How many tools were compared with the description of the vendor’s API, with a client of it, and with
   * neither. A tool may be compared with both
   */
  readonly compared: { readonly description: number; readonly client: number; readonly nothing: number }
  /** The day of the last comparison */
  readonly checked_at: string
  /** `gatepass`: Gatepass ships it. `own`: it is in the folder `GATEPASS_PACKS` of the server */
  readonly source: 'gatepass' | 'own'
}

export interface PackDetail extends Pack {
  /** What the tools were written after */
  readonly sources: readonly string[]
  readonly tools: readonly PackTool[]
  /** Of all these tools together */
  readonly scopes: readonly string[]
  /** The body of `POST /v1/workers` that adds these tools */
  readonly worker: JsonObject
  /** The body of `POST /v1/toolsets` that selects them */
  readonly toolset: JsonObject
  /**
   * The body of `POST /v1/admin/policies` that has a person approve the calls of tools with `ask`;
   * absent: there are none
   */
  readonly policy?: JsonObject
}

export interface PackTool {
  readonly name: string
  readonly description: string
  /** The provider of the catalogue whose connections it uses */
  readonly provider_id: string
  /** The least that it needs */
  readonly scopes: readonly string[]
  /** `ask`: a person should approve each call */
  readonly approval: 'none' | 'ask'
  readonly read_only: boolean
  readonly destructive: boolean
  readonly checks: readonly ('description' | 'client')[]
}

export interface PackUpdate {
  readonly id: string
  /** Of the pack whose definitions these are */
  readonly version: string
  readonly dry_run: boolean
  /** How many tools have these definitions already */
  readonly unchanged: number
  readonly changed: readonly {
    readonly name: string
    /** What differs, by JSON Pointers into the description of the request */
    readonly members: readonly {
      readonly at: string
      readonly before?: JsonValue
      readonly after?: JsonValue
    }[]
  }[]
  /** Tools that the pack no longer has: they are removed */
  readonly gone: readonly string[]
  /** Tools of the pack that are not added, now or before */
  readonly 'new': readonly string[]
  /**
   * Tools whose definitions the worker’s pinning holds until an administrator accepts them; absent in a
   * dry run
   */
  readonly waiting?: readonly string[]
}

export interface Policy {
  readonly id: string
  readonly description?: string
  readonly enabled: boolean
  readonly effect: 'allow' | 'deny' | 'hook' | 'approve'
  readonly match: PolicyMatch
  readonly hook?: {
    readonly url: string
    readonly format: 'arcade' | 'authzen'
    readonly timeout_ms: number
    /** The decision when the hook fails or its answer is invalid */
    readonly on_failure: 'deny' | 'allow'
    readonly secret: { readonly exists: boolean }
  }
  readonly approve?: PolicyApproval
  readonly created_at: string
  readonly updated_at: string
}

export interface PolicyApproval {
  /**
   * `user`: the user for whom the call is made, on a page of Gatepass. A group: `count` different people
   * of it, in the console or by an API key of the role `approver`. `user_in_client`: the user, through
   * the form of the MCP client that made the call, which may be the model's own program.
   * Default: `"user"`
   */
  readonly by?:
    | 'user'
    | 'user_in_client'
    | {
        readonly group: string
        /** Default: `1` */
        readonly count?: number | undefined
      }
    | undefined
  /**
   * How long the question waits for an answer
   * Default: `600`
   */
  readonly expires_seconds?: number | undefined
  /**
   * How long an approval counts before the call is made
   * Default: `600`
   */
  readonly use_within_seconds?: number | undefined
  /**
   * What the approver may choose from
   * Default: `["once"]`
   */
  readonly remember?: readonly ('once' | 'hour' | 'standing')[] | undefined
}

export interface PolicyArgument {
  /** A JSON Pointer such as `/to`; `*` is every item: `/items/*\/id` */
  readonly at: string
  /**
   * `email`: reads an address list (RFC 5322) and compares each address. `url`: compares the host of the
   * URL
   */
  readonly as?: 'email' | 'url' | undefined
  /** The value is one of these; a number equals its text */
  readonly one_of?: readonly (string | number | boolean | null)[] | undefined
  /** An RE2 pattern that the whole value matches */
  readonly matches?: string | undefined
  /** The domain is one of these; `*.acme.com` is each below `acme.com` */
  readonly domains?: readonly string[] | undefined
  /** A JSON Schema (2020-12) that the value fits; patterns are RE2 */
  readonly schema?: { readonly [name: string]: JsonValue } | undefined
  /** In place of the test: the test that fails */
  readonly not?:
    | {
        /** The value is one of these; a number equals its text */
        readonly one_of?: readonly (string | number | boolean | null)[] | undefined
        /** An RE2 pattern that the whole value matches */
        readonly matches?: string | undefined
        /** The domain is one of these; `*.acme.com` is each below `acme.com` */
        readonly domains?: readonly string[] | undefined
        /** A JSON Schema (2020-12) that the value fits; patterns are RE2 */
        readonly schema?: { readonly [name: string]: JsonValue } | undefined
      }
    | undefined
  /** Whether the condition holds without the argument; absent: `no_match`, with `not` `match` */
  readonly missing?: 'match' | 'no_match' | undefined
}

export interface PolicyDryRun {
  readonly since: string
  readonly until: string
  /**
   * Whether every use in the time was judged. If there were more than 20000, only the latest are judged,
   * and `since` is the time of the first of them
   */
  readonly complete: boolean
  /** Uses of tokens that took place */
  readonly uses: number
  readonly permitted: number
  readonly refused: number
  /** Uses that would have waited for a person’s approval */
  readonly asked: number
  /** A hook would be called, or the arguments, hosts, scopes or worker of the use are not known any more */
  readonly undecided: number
  readonly refused_by: readonly { readonly id: string; readonly refused: number }[]
  /** The policies that would have asked, about how many uses, and whom */
  readonly asked_by: readonly {
    readonly id: string
    readonly asked: number
    readonly by:
      | 'user'
      | 'user_in_client'
      | {
          readonly group: string
          /** Default: `1` */
          readonly count?: number
        }
  }[]
  /**
   * At most 50: the refused uses, then those about which a person would have been asked, then the
   * undecided ones, each newest first
   */
  readonly samples: readonly {
    readonly at: string
    /** The number of its first audit entry */
    readonly seq: number
    readonly user_id: string
    readonly use: 'tool' | 'proxy' | 'token'
    readonly tool?: string
    readonly providers: readonly string[]
    readonly decision: 'refused' | 'asked' | 'undecided'
    readonly reason?:
      | 'denied'
      | 'not_allowed'
      | 'arguments_failed'
      | 'rate'
      | 'quota'
      | 'hook_refused'
      | 'hook_failed'
      | 'not_approved'
    /**
     * What is not known: the arguments of the call, the answer of a hook, where the token went, its
     * scopes, or the worker
     */
    readonly because?: readonly ('arguments' | 'hook' | 'hosts' | 'scopes' | 'workers')[]
    /** Ids of the policies */
    readonly policies: readonly string[]
  }[]
}

export interface PolicyMatch {
  /** Users; `*` matches any characters, here and in all lists */
  readonly users?: readonly string[] | undefined
  /** Tools by any of their names, in any case; `allow` only by names of their own */
  readonly tools?: readonly string[] | undefined
  /** Ids of the workers that run the tool */
  readonly workers?: readonly string[] | undefined
  /** Ids of provider entries */
  readonly providers?: readonly string[] | undefined
  /**
   * Who owns the connection that is used: `user`, or `project` for those that an administrator shares.
   * While that is not known, `allow` does not match, and the other effects do
   */
  readonly owners?: readonly ('user' | 'project')[] | undefined
  /** What the token may do */
  readonly scopes?: readonly string[] | undefined
  /** Where the token goes: `api.github.com`, `*.example.com`, `localhost:8080` */
  readonly hosts?: readonly string[] | undefined
  readonly uses?: readonly ('tool' | 'proxy' | 'token')[] | undefined
  /** What tools do, by their annotations. A tool without annotations counts as destructive and open */
  readonly hints?: readonly ('read_only' | 'destructive' | 'open_world')[] | undefined
  /** Methods of requests that the proxy forwards */
  readonly methods?: readonly string[] | undefined
  /** Paths of requests that the proxy forwards, without their query */
  readonly paths?: readonly string[] | undefined
  /** Conditions on the arguments of a tool, all of which must hold */
  readonly arguments?: readonly PolicyArgument[] | undefined
  readonly time?:
    | {
        /** 1 is Monday */
        readonly days?: readonly number[] | undefined
        readonly from?: string | undefined
        /** The end; this minute is not included */
        readonly to?: string | undefined
        /** Such as Europe/Berlin; absent: UTC */
        readonly zone?: string | undefined
      }
    | undefined
  /** Matches once there were more than `limit` uses within `seconds` */
  readonly rate?:
    | { readonly limit: number; readonly seconds: number; readonly per: 'user' | 'tool' | 'project' }
    | undefined
  /**
   * Matches once there were `limit` runs in the calendar hour or day, counted over all nodes; only with
   * `deny` and `approve`
   */
  readonly quota?:
    | {
        readonly limit: number
        readonly per: 'user' | 'tool' | 'agent' | 'project'
        readonly window: 'hour' | 'day'
        /** Such as Europe/Berlin; absent: UTC */
        readonly zone?: string | undefined
      }
    | undefined
}

export interface PolicyVerdict {
  /**
   * `depends`: on the rate of uses, on hooks, on people who must approve, or on arguments or an owner
   * that were not given, which `undecided` lists
   */
  readonly decision: 'permitted' | 'refused' | 'depends'
  readonly reason?: 'denied' | 'not_allowed' | 'arguments_failed'
  /** Ids of policies */
  readonly refused_by: readonly string[]
  readonly undecided: readonly {
    readonly id: string
    readonly by: 'arguments' | 'owners' | 'rate' | 'quota' | 'hook' | 'approval'
  }[]
  /** The policies that ask for an approval, and whom */
  readonly asks?: readonly {
    readonly id: string
    readonly by:
      | 'user'
      | 'user_in_client'
      | {
          readonly group: string
          /** Default: `1` */
          readonly count?: number
        }
  }[]
  /**
   * Ids of providers whose users type keys or passwords. These have no scopes, so what they may do is
   * not known: a rule that allows by `scopes` refuses them, and one that denies by `scopes` misses them.
   * Rules by `providers` apply to them.
   */
  readonly without_scopes?: readonly string[]
}

export interface PortalLink {
  /** Works once. Give it only to this user, after the user has logged in */
  readonly url: string
  readonly expires_at: string
}

export interface PortalLinkRequest {
  /** Where the page leads back to; its origin must be one that a `next_uri` may lead to */
  readonly return_url?: string | null | undefined
  /** The user's name, for the page. Without it the page has the user id */
  readonly user_display?: string | null | undefined
  /** The language of the page; else that of the browser. en, de, fr, es, pt, ja, zh */
  readonly lang?: string | null | undefined
  /**
   * `view`: see what is connected; `disconnect`: disconnect accounts and applications; `connect`:
   * connect further accounts, reconnect broken ones, and choose the default; `approve`: decide about
   * calls where users are not verified (`GATEPASS_USER_VERIFIER=open`), and take decisions back;
   * `export`: download what is kept; `erase`: delete it all
   * Default: `["view","disconnect"]`
   */
  readonly may?: readonly ('view' | 'disconnect' | 'connect' | 'approve' | 'export' | 'erase')[] | undefined
  /**
   * How long the link works
   * Default: `300`
   */
  readonly seconds?: number | undefined
}

export interface ProgressEvent {
  readonly kind: 'progress'
  readonly toolId: string
  readonly data: { readonly progress: number; readonly total?: number; readonly message?: string }
}

export interface Project {
  readonly id: string
  readonly name: string
  readonly created_at: string
}

export interface ProviderVariable {
  readonly value?: string
  readonly ask?: 'user'
  readonly pattern?: string
  readonly one_of?: readonly string[]
  readonly label?: string
  readonly example?: string
}

export interface ProxyError extends ErrorBody {
  /** The consent that the tool needs first */
  readonly requires_authorization?: RequiredAuthorization
}

export interface Quota {
  readonly policy_id: string
  readonly per: 'user' | 'tool' | 'agent' | 'project'
  /** The user, the tool, or the API key or MCP client; absent: of the project */
  readonly subject?: string
  /** Of a limit above 1,000 with what nodes have counted in advance, a hundredth at a time */
  readonly used: number
  readonly limit: number
  readonly window_start: string
  readonly window_end: string
}

/** What a person must approve; then the same request can be made again */
export interface RequiredAuthorization {
  /** For GET /v1/auth/status */
  readonly id: string
  /** The link for the user */
  readonly url: string
  /** What the user is asked to approve */
  readonly scopes: readonly string[]
  readonly status: 'not_started' | 'pending' | 'completed' | 'failed'
}

/** The first provider whose requirement is not met. If all are met, the first */
export interface RequiredProvider {
  /** The id of the provider entry */
  readonly id?: string
  /** A well-known kind, such as `github` */
  readonly provider_id?: string
  readonly provider_type: 'oauth2'
  readonly oauth2: { readonly scopes: readonly string[] }
  /** Whether the provider is configured and switched on */
  readonly status?: 'active' | 'inactive'
  /** Why it is not met, and what to do */
  readonly status_reason?: string
  /** What the user has granted; only if the request names a user */
  readonly token_status?: 'not_started' | 'pending' | 'completed' | 'failed'
}

export interface RequiredSecret {
  readonly key: string
  /** Whether the requirement is met */
  readonly met?: boolean
  /** Why it is not met, and what to do */
  readonly status_reason?: string
}

/** What runs the tool */
export interface RequiredWorker {
  readonly id: string
  /** Whether the requirement is met */
  readonly met: boolean
  readonly status: 'active' | 'inactive' | 'unreachable'
  /** Why it is not met, and what to do */
  readonly status_reason?: string
}

/** Absent where nothing runs the tool */
export type RunBackend =
  | { readonly kind: 'mcp'; readonly mcp: { readonly serverName: string } }
  | { readonly kind: 'provider'; readonly provider: { readonly providerId: string; readonly toolId: string } }
  | { readonly kind: 'local'; readonly local: { readonly name: string } }

export interface RunError {
  readonly kind: ToolErrorKind
  /** For users and models */
  readonly message: string
  /** Whether the same call may be repeated without doing anything twice */
  readonly can_retry: boolean
  /** To be added to a model's prompt before it tries again */
  readonly additional_prompt_content?: string
  /** Milliseconds to wait before a repetition */
  readonly retry_after_ms?: number
  /** For developers, never for a model */
  readonly developer_message?: string
  /** The HTTP status of the API that the tool called */
  readonly status_code?: number
  readonly extra?: JsonObject
  /** In which step of the run it failed */
  readonly op: 'resolve' | 'select_backend' | 'validate_input' | 'execute' | 'validate_output'
  readonly toolId: string
}

export interface RunFailed {
  readonly tool: RunTool
  readonly backend?: RunBackend
  readonly executionId: string
  /** Milliseconds */
  readonly duration: number
  readonly error: RunError
  readonly mcpResult?: McpResult
}

/** With `when_approved`: the run waits for an approval, `requires_authorization` has the link */
export interface RunHeld {
  readonly tool: RunTool
  readonly backend?: RunBackend
  readonly executionId: string
  /** Milliseconds */
  readonly duration: number
  readonly status: 'scheduled' | 'waiting_for_approval' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** The consent that the tool needs first */
  readonly requires_authorization?: RequiredAuthorization
}

export interface RunRequest {
  /** A tool by any of its names */
  readonly toolId: string
  /** Absent: the newest version */
  readonly tool_version?: string | null | undefined
  /** The tool's arguments, checked by its schema before anything runs */
  readonly args?: JsonObject | undefined
  /** The user for whom the tool runs; required by tools that act for a user */
  readonly user_id?: string | null | undefined
  /** Which of the user's accounts: a connection's id, an account's id or name */
  readonly account?: string | null | undefined
  /** The account at each of several providers, by the ids of their entries */
  readonly accounts?: { readonly [name: string]: string } | null | undefined
  readonly next_uri?: string | null | undefined
  /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
  readonly user_display?: string | null | undefined
  /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
  readonly lang?: string | null | undefined
  /** For tools that declare it; a tool gets only what it declares */
  readonly metadata?: { readonly [name: string]: string } | null | undefined
  /** Store input and output in the execution history, which has neither by default */
  readonly keep_content?: boolean | null | undefined
  /**
   * Where a policy wants a person to approve the call: `run` keeps it, and it runs once when it is
   * approved. `requires_authorization` has the link, and GET /v1/executions/{id} the result
   */
  readonly when_approved?: 'run' | null | undefined
}

export interface RunRequiresAuthorization {
  readonly tool: RunTool
  readonly backend?: RunBackend
  readonly executionId: string
  /** Milliseconds */
  readonly duration: number
  /** The consent that the tool needs first */
  readonly requires_authorization: RequiredAuthorization
}

/** If there is no result, it has `error` or `requires_authorization` */
export type RunResult = RunFailed | RunHeld | RunRequiresAuthorization | RunSucceeded

export interface RunSucceeded {
  readonly tool: RunTool
  readonly backend?: RunBackend
  readonly executionId: string
  /** Milliseconds */
  readonly duration: number
  /** Absent where the tool answered nothing */
  readonly structured?: JsonValue
  readonly mcpResult?: McpResult
}

/** The tool that was run: MCP's Tool with its namespace, version and tags */
export interface RunTool {
  readonly name: string
  readonly namespace?: string
  readonly version?: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly _meta?: JsonObject
  readonly icons?: readonly JsonObject[]
  readonly tags: readonly string[]
}

export interface Secret {
  readonly id: string
  readonly key: string
  readonly description?: string
  readonly binding: { readonly id: string; readonly type: 'project' }
  readonly created_at: string
  readonly updated_at: string
  readonly last_accessed_at?: string
}

export interface SessionVerification {
  /** Empty unless a page of the caller verifies users */
  readonly verifier_url: string
  readonly unsafe_skip_verification: boolean
  /** It is the operator’s choice, by GATEPASS_USER_VERIFIER */
  readonly unsafe_skip_verification_choice_allowed: false
}

export interface SharedConnection {
  readonly id: string
  readonly provider_id?: string
  readonly owner: 'project'
  readonly name: string
  readonly scopes?: readonly string[]
  /** Who may use the connection: a use has to match all members */
  readonly shared_with: {
    /** The ids of users; `*` is any characters */
    readonly users: readonly string[]
    /**
     * The ids and names of API keys, and the client ids of MCP clients. Left out: any; `*` is any
     * characters
     */
    readonly agents?: readonly string[]
    /**
     * Names of tools. Left out: any tool, and uses without a tool, such as the proxy and tokens that
     * callers fetch; `*` is any characters
     */
    readonly tools?: readonly string[]
  }
  /** `needs_attention`: callers are refused until an administrator has looked after it */
  readonly status: 'active' | 'needs_attention'
  readonly status_reason?:
    | 'refresh_refused'
    | 'consent_withdrawn'
    | 'token_expired'
    | 'refresh_token_expired'
    | 'provider_changed'
    | 'refresh_outcome_lost'
    | 'account_changed'
    | 'credential_refused'
    | 'installation_removed'
    | 'unreadable'
  readonly created_at: string
  readonly updated_at: string
}

export interface SharedProvider {
  /** Whether the requirement is met */
  readonly met: boolean
  readonly provider_id: string
  readonly provider_type: 'oauth2'
  readonly scopes: readonly string[]
  readonly status: 'active' | 'inactive'
  /** Why it is not met, and what to do */
  readonly status_reason?: string
  /** What the user has granted; only if the request names a user */
  readonly token_status?: 'not_started' | 'pending' | 'completed' | 'failed'
  /** The ids of the tools that need it */
  readonly tool_names: readonly string[]
  /** Set if the request has `authorize` and a consent is missing */
  readonly authorization_id?: string
  /** The link for the user */
  readonly url?: string
}

export interface SharedRequirements {
  readonly met: boolean
  /** By the ids of the provider entries */
  readonly authorization: {
    readonly met: boolean
    readonly items: { readonly [name: string]: SharedProvider }
  }
  /** By their keys */
  readonly secrets: { readonly met: boolean; readonly items: { readonly [name: string]: SharedSecret } }
  /** By their ids */
  readonly workers: { readonly met: boolean; readonly items: { readonly [name: string]: SharedWorker } }
  /** Set if the request has `authorize` and a consent is missing */
  readonly authorization_id?: string
  /** The link for the user */
  readonly url?: string
}

export interface SharedSecret {
  /** Whether the requirement is met */
  readonly met: boolean
  /** Why it is not met, and what to do */
  readonly status_reason?: string
  /** The ids of the tools that need it */
  readonly tool_names: readonly string[]
}

export interface SharedWorker {
  /** Whether the requirement is met */
  readonly met: boolean
  readonly status: 'active' | 'inactive' | 'unreachable'
  /** Why it is not met, and what to do */
  readonly status_reason?: string
  /** The ids of the tools that need it */
  readonly tool_names: readonly string[]
}

export interface ShownTool {
  /** The name for MCP clients: at most 48 of `[A-Za-z0-9_-]` */
  readonly name: string
  readonly tool_id: string
  readonly description: string
}

export interface StandingApproval {
  readonly id: string
  readonly kind: 'approval' | 'block'
  readonly user_id?: string
  readonly agent: string
  /** The tool or provider; empty for a block */
  readonly subject: string
  /** Arguments that must be the same. No argument is added or left out. */
  readonly fixed: readonly string[]
  readonly created_at: string
  readonly expires_at: string
}

/** The data of one event: `progress` and `chunk` in any number, then one `done` or `error` */
export type StreamEvent = ProgressEvent | ChunkEvent | DoneEvent | ErrorEvent

export interface StreamRunRequest {
  /** A tool by any of its names */
  readonly toolId: string
  /** Absent: the newest version */
  readonly tool_version?: string | null | undefined
  /** The tool's arguments, checked by its schema before anything runs */
  readonly args?: JsonObject | undefined
  /** The user for whom the tool runs; required by tools that act for a user */
  readonly user_id?: string | null | undefined
  /** Which of the user's accounts: a connection's id, an account's id or name */
  readonly account?: string | null | undefined
  /** The account at each of several providers, by the ids of their entries */
  readonly accounts?: { readonly [name: string]: string } | null | undefined
  readonly next_uri?: string | null | undefined
  /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
  readonly user_display?: string | null | undefined
  /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
  readonly lang?: string | null | undefined
  /** For tools that declare it; a tool gets only what it declares */
  readonly metadata?: { readonly [name: string]: string } | null | undefined
  /** Store input and output in the execution history, which has neither by default */
  readonly keep_content?: boolean | null | undefined
}

/** MCP's hints about what a tool does, never promises */
export interface ToolAnnotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

export interface ToolDefinition {
  /** `Toolkit.Name@version` */
  readonly fully_qualified_name: string
  /** `Toolkit.Name` */
  readonly qualified_name: string
  readonly name: string
  /** `namespace:name[:version]` */
  readonly tool_id: string
  readonly description: string
  readonly toolkit: { readonly name: string; readonly version?: string; readonly description?: string }
  readonly input: { readonly parameters: readonly ToolParameter[] }
  readonly output: {
    readonly available_modes: readonly string[]
    readonly description?: string
    readonly value_schema?: ValueSchema
  }
  readonly requirements: ToolRequirements
  /** What the worker states about the behavior of the tool */
  readonly metadata?: JsonObject
  readonly tags?: readonly string[]
}

export interface ToolDetail extends DescribedTool {
  /** The metadata of an imported tool */
  readonly document?: JsonObject
}

export interface ToolError {
  readonly kind: ToolErrorKind
  /** For users and models */
  readonly message: string
  /** Whether the same call may be repeated without doing anything twice */
  readonly can_retry: boolean
  /** To be added to a model's prompt before it tries again */
  readonly additional_prompt_content?: string
  /** Milliseconds to wait before a repetition */
  readonly retry_after_ms?: number
  /** For developers, never for a model */
  readonly developer_message?: string
  /** The HTTP status of the API that the tool called */
  readonly status_code?: number
  readonly extra?: JsonObject
  /** Only if it was requested */
  readonly stacktrace?: string
}

export type ToolErrorKind =
  | 'TOOLKIT_LOAD_FAILED'
  | 'TOOL_DEFINITION_BAD_DEFINITION'
  | 'TOOL_DEFINITION_BAD_INPUT_SCHEMA'
  | 'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA'
  | 'TOOL_REQUIREMENTS_NOT_MET'
  | 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  | 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'
  | 'TOOL_RUNTIME_RETRY'
  | 'TOOL_RUNTIME_CONTEXT_REQUIRED'
  | 'TOOL_RUNTIME_FATAL'
  | 'CONTEXT_CHECK_FAILED'
  | 'CONTEXT_DENIED'
  | 'UPSTREAM_RUNTIME_BAD_REQUEST'
  | 'UPSTREAM_RUNTIME_AUTH_ERROR'
  | 'UPSTREAM_RUNTIME_NOT_FOUND'
  | 'UPSTREAM_RUNTIME_VALIDATION_ERROR'
  | 'UPSTREAM_RUNTIME_RATE_LIMIT'
  | 'UPSTREAM_RUNTIME_SERVER_ERROR'
  | 'UPSTREAM_RUNTIME_UNMAPPED'
  | 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT'
  | 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'
  | 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED'
  | 'UNKNOWN'

export interface ToolExecution {
  readonly id: string
  readonly tool_id: string
  readonly tool_name: string
  readonly toolkit_name: string
  readonly toolkit_version?: string
  readonly user_id?: string
  readonly execution_type: 'immediate' | 'scheduled'
  readonly execution_status:
    | 'scheduled'
    | 'waiting_for_approval'
    | 'running'
    | 'completed'
    | 'failed'
    | 'cancelled'
  /** The endpoint that ran it */
  readonly entry_point:
    | 'execute'
    | 'run'
    | 'run_stream'
    | 'run_chain'
    | 'code'
    | 'oxp'
    | 'mcp'
    | 'tool'
    | 'console'
  readonly outcome?: 'value' | 'artifact' | 'error' | 'requires_authorization'
  /** The kind of a ToolError */
  readonly error_kind?: string
  /** Milliseconds */
  readonly duration?: number
  readonly run_at?: string
  /** The approval for which a scheduled run waits or has waited */
  readonly approval_id?: string
  readonly created_at: string
  readonly updated_at: string
  readonly started_at?: string
  readonly finished_at?: string
  readonly api_key_id?: string
}

export interface ToolExecutionDetail extends ToolExecution {
  readonly input?: JsonObject
  readonly attempts?: readonly {
    readonly id: string
    readonly started_at: string
    readonly finished_at: string
    readonly success: boolean
    readonly output?: AttemptOutput
    readonly system_error_message?: string
  }[]
  /** Members that the answer leaves out, because they were altered in the database */
  readonly unreadable?: readonly ('input' | 'attempts')[]
}

/** Tool metadata in the Shinkai format (docs/guides/tool-metadata.md); other members are kept */
export interface ToolMetadata {
  /** The title of the tool. Its name is derived from the title */
  readonly name: string
  /** The namespace; `local` when empty */
  readonly tool_set?: string | null | undefined
  /** SemVer */
  readonly version?: string | number | null | undefined
  /** What it does */
  readonly description?: string | null | undefined
  /** A JSON Schema of the input */
  readonly parameters?: { readonly [name: string]: JsonValue } | undefined
  /** A JSON Schema of the output */
  readonly result?: { readonly [name: string]: JsonValue } | undefined
  /** A JSON Schema; its members that look secret become secrets of the tool */
  readonly configurations?: { readonly [name: string]: JsonValue } | undefined
  /** The providers that the tool needs */
  readonly oauth?:
    | readonly {
        readonly name: string
        /** `2.0` */
        readonly version?: string | null | undefined
        /** `code` */
        readonly responseType?: string | null | undefined
        /** Not needed beside `issuer` */
        readonly authorizationUrl?: string | null | undefined
        /** Not needed beside `issuer` */
        readonly tokenUrl?: string | null | undefined
        /** Its metadata supplies what the entry leaves out */
        readonly issuer?: string | null | undefined
        readonly scopes?: readonly string[] | null | undefined
        readonly scopeImplies?: { readonly [name: string]: readonly string[] } | null | undefined
        readonly scopeAliases?: { readonly [name: string]: string } | null | undefined
        /** May be empty: it can be set later */
        readonly clientId?: string | null | undefined
        /** May be empty */
        readonly clientSecret?: string | null | undefined
        /** For information: the redirect URI is that of the answer */
        readonly redirectUrl?: string | null | undefined
        /** `S256` or `plain` */
        readonly pkceType?: string | null | undefined
        /** The media type of token requests */
        readonly requestTokenContentType?: string | null | undefined
        /** `basic`, or absent */
        readonly requestTokenAuthHeader?: string | null | undefined
        readonly tokenTypes?: readonly string[] | null | undefined
        /** Whether a refresh token is asked for */
        readonly refreshToken?: string | boolean | null | undefined
        readonly [name: string]: unknown
      }[]
    | null
    | undefined
  readonly [name: string]: unknown
}

export interface ToolParameter {
  readonly name: string
  readonly value_schema: ValueSchema
  readonly description?: string
  readonly required: boolean
  /** Whether a model can know its value */
  readonly inferrable: boolean
}

export interface ToolRequirements {
  /** Whether all requirements are met; with `user_id`, for that user */
  readonly met?: boolean
  readonly authorization?: RequiredProvider
  /** All providers, where there are several */
  readonly authorizations?: readonly RequiredProvider[]
  readonly secrets: readonly RequiredSecret[]
  readonly worker?: RequiredWorker
}

export interface Toolset {
  readonly id: string
  /** The address for MCP clients */
  readonly url: string
  /**
   * Names of tools, in any spelling that a tool answers to, with a version or without; `["*"]` is every
   * tool. Answers give the ids of known tools
   */
  readonly tools?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly tags?: readonly string[]
  /** Tools that need one of these providers, by id */
  readonly providers?: readonly string[]
  /**
   * `prefixed`: `Namespace_Tool`, as in the other lists; `bare`: the tool’s own name, or the prefixed
   * one if another tool of the toolset has that name already. A bare name is never given to another tool
   */
  readonly names: 'prefixed' | 'bare'
  /** Text for the model about these tools */
  readonly instructions?: string
  /**
   * `all`: MCP clients list every tool; `search`: they list a tool that searches and one that calls.
   * Absent: `search` for more than 128 tools
   */
  readonly listing?: 'all' | 'search'
  readonly created_at: string
  readonly updated_at: string
}

export interface ToolsetDetail extends Toolset {
  /** The tools that are in it now */
  readonly tool_count: number
  /** Selectors that match no tool now. They also select tools that are added later */
  readonly warnings: readonly { readonly path: string; readonly message: string }[]
}

export interface UnreadableColour {
  readonly name: 'invalid_request'
  readonly message: string
  readonly errors: readonly { readonly path: string; readonly code: string; readonly message: string }[]
  /** The nearest shade that can be read */
  readonly nearest: string
}

export interface UserConnection {
  readonly id: string
  readonly connection_id: string
  readonly connection_status: 'active' | 'needs_authorization'
  readonly provider_id: string
  readonly provider_type: 'oauth2'
  readonly provider_description: string
  readonly provider_user_info: JsonObject
  readonly scopes: readonly string[]
  readonly user_id: string
}

/** The type of a value in the form of Arcade's API */
export interface ValueSchema {
  readonly val_type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'array'
  /** The type of the items of an array */
  readonly inner_val_type?: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'array'
  readonly enum?: readonly string[]
  readonly properties?: { readonly [name: string]: ValueSchema }
  readonly required_keys?: readonly string[]
  readonly inner_properties?: { readonly [name: string]: ValueSchema }
  readonly inner_required_keys?: readonly string[]
  readonly items?: ValueSchema
  readonly nullable?: true
  readonly description?: string
}

export interface Webhook {
  readonly id: string
  readonly url: string
  readonly description?: string
  /** Absent: all */
  readonly types?: readonly (
    | 'authorization.completed'
    | 'authorization.failed'
    | 'authorization.expired'
    | 'connection.created'
    | 'connection.refreshed_scopes'
    | 'connection.needs_authorization'
    | 'connection.revoked'
    | 'connection.deleted'
    | 'tool.run.failed'
    | 'worker.requirements_changed'
    | 'approval.requested'
    | 'approval.decided'
    | 'approval.expired'
    | 'worker.tools_changed'
  )[]
  readonly enabled: boolean
  /** `failing`: five attempts failed in a row, and one event at a time is tried */
  readonly state: 'active' | 'failing' | 'disabled'
  /** `failing`: nothing was delivered for three days; `gone`: the receiver answered 410 */
  readonly disabled_reason?: 'operator' | 'failing' | 'gone'
  readonly disabled_at?: string
  /** Attempts that failed since the last one that succeeded */
  readonly failures: number
  readonly failing_since?: string
  /** Until then events are also signed with the secret before the last rotation */
  readonly previous_secret_until?: string
  readonly created_at: string
  readonly updated_at: string
}

export interface WebhookDelivery {
  /** The header `webhook-id`: the same at each attempt */
  readonly event_id: string
  readonly type:
    | 'authorization.completed'
    | 'authorization.failed'
    | 'authorization.expired'
    | 'connection.created'
    | 'connection.refreshed_scopes'
    | 'connection.needs_authorization'
    | 'connection.revoked'
    | 'connection.deleted'
    | 'tool.run.failed'
    | 'worker.requirements_changed'
    | 'approval.requested'
    | 'approval.decided'
    | 'approval.expired'
    | 'worker.tools_changed'
  /** What the event is about: events of one subject come in order */
  readonly subject: string
  readonly sequence: number
  readonly state: 'waiting' | 'delivered' | 'failed'
  readonly attempts: number
  /** Absent while an earlier event of the subject waits, and when there will be no further attempt */
  readonly next_attempt_at?: string
  /** The HTTP status of the last answer */
  readonly last_status?: number
  /** Why the last attempt had no answer */
  readonly last_error?: string
  readonly created_at: string
  readonly ended_at?: string
}

export interface WebhookReplay {
  readonly replayed: number
  /** Set if there may be more events */
  readonly next_cursor?: string
}

export interface WebhookTest {
  readonly delivered: boolean
  readonly status?: number
  readonly error?: string
}

export interface WebhookWithSecret extends Webhook {
  /** `whsec_…`, shown this once */
  readonly secret: string
}

export interface Worker {
  readonly id: string
  readonly type: 'http' | 'oxp' | 'mcp' | 'openapi' | 'module'
  readonly enabled: boolean
  /**
   * `inactive`: switched off. `unreachable`: its catalogue could not be read; `sync_error` says why.
   * `unauthorized`: a user has to authorize it first
   */
  readonly status: 'active' | 'inactive' | 'unreachable' | 'unauthorized'
  /** Whether the worker comes from the settings, so that the API cannot change it */
  readonly managed: boolean
  readonly binding: { readonly id: string; readonly type: 'project' }
  readonly http?: HttpWorkerSettings
  readonly mcp?: McpWorkerSettings
  readonly openapi?: OpenapiWorkerSettings
  readonly oxp?: OxpWorkerSettings
  readonly requirements: {
    readonly met: boolean
    readonly status_reason?: string
    readonly authorization?: { readonly met: boolean; readonly oauth2: { readonly met: boolean } }
  }
  /** When its catalogue was last read */
  readonly synced_at?: string
  /** Why the catalogue could not be read the last time; Gatepass tries again */
  readonly sync_error?: string
  /**
   * `hold`: a tool whose definition has changed does not run, and keeps its accepted text, until an
   * administrator accepts the new one; new tools wait. `record`: changes apply, on record. `off`: they
   * apply
   */
  readonly pinning: 'hold' | 'record' | 'off'
  readonly acceptance: WorkerAcceptance
}

/** Which providers, scopes and secrets the tools of the worker may ask for */
export interface WorkerAcceptance {
  readonly accepted: {
    readonly providers: readonly { readonly id: string; readonly scopes: readonly string[] }[]
    readonly secrets: readonly string[]
  }
  /**
   * Requirements and names that the catalogue of the worker has named since, and names that another
   * source had at its registration. Until requirements are accepted, users are not asked for them and
   * tools do not get them
   */
  readonly waiting?: {
    readonly providers: readonly { readonly id: string; readonly scopes: readonly string[] }[]
    readonly secrets: readonly string[]
    /** The ids of the tools with these requirements. They run again once the requirements are accepted */
    readonly tools: readonly string[]
    /**
     * Names of its tools that do not belong to it. Until they are accepted, these tools are in no list and
     * are found by their full ids alone
     */
    readonly names: readonly {
      readonly name: string
      /**
       * The id of the worker that has the name, or `import`; absent: no source has it, but the toolkit is
       * new or belongs to another worker
       */
      readonly owner?: string
    }[]
    /** A digest of these requirements and names, for POST /v1/workers/{id}/accept */
    readonly digest: string
  }
  /**
   * Tools whose definition has changed since it was accepted, and new ones. The former are listed as
   * they were accepted and do not run, the latter are not listed
   */
  readonly changed?: readonly {
    /** The id of the tool */
    readonly tool: string
    /** The digest of the accepted definition; absent for a new tool */
    readonly from?: string
    /** The digest of the definition that waits */
    readonly to: string
    readonly since: string
    /** It has changed and returned to what was accepted */
    readonly unstable?: true
    /** A tool of another source whose name looks like this one */
    readonly looks_like?: { readonly tool: string; readonly worker: string }
    /** JSON Pointers of texts that seem to be for the model; nothing is decided by it */
    readonly addresses_model?: readonly string[]
    /** What differs; not in lists of workers */
    readonly diff?: readonly {
      /** A JSON Pointer into the definition */
      readonly at: string
      readonly before?: JsonValue
      readonly after?: JsonValue
    }[]
  }[]
  /**
   * Tools of the worker whose names look like those of another source (`worker`), 50 at most; not in
   * lists of workers
   */
  readonly look_alikes?: readonly { readonly tool: string; readonly like: string; readonly worker: string }[]
  /** In development, and for modules that the settings name, everything is accepted automatically */
  readonly automatic?: true
}

/** Every operation by its id. `path` has its parameters as `{name}`. */
export interface Operations {
  /** Accept the new requirements, names and definitions of the tools of a worker */
  readonly acceptWorkerRequirements: {
    readonly method: 'POST'
    readonly path: '/v1/workers/{id}/accept'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body:
      | {
          readonly digest?: string | undefined
          /** Members of `acceptance.changed`, each with the digest that was shown */
          readonly tools?: readonly { readonly tool: string; readonly to: string }[] | undefined
        }
      | undefined
    readonly answer: Worker
  }
  /** Add a connection of the project, and share it */
  readonly addConnectionOfProject: {
    readonly method: 'POST'
    readonly path: '/v1/admin/connections'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** A provider entry, by its id or its kind */
      readonly provider_id: string
      readonly owner?: 'project' | null | undefined
      /** What people call it; unique for its provider */
      readonly name: string
      /** The most that its tokens may have. Left out: what each tool needs */
      readonly scopes?: readonly string[] | null | undefined
      /**
       * For a provider of the type `credentials`: all its fields (`credentials.fields`), secrets too. The
       * service is asked first; nothing is stored that it refuses
       */
      readonly fields?: { readonly [name: string]: string } | null | undefined
      /** Who may use the connection: a use has to match all members */
      readonly shared_with: {
        /** The ids of users; `*` is any characters */
        readonly users: readonly string[]
        /**
         * The ids and names of API keys, and the client ids of MCP clients. Left out: any; `*` is any
         * characters
         */
        readonly agents?: readonly string[] | undefined
        /**
         * Names of tools. Left out: any tool, and uses without a tool, such as the proxy and tokens that
         * callers fetch; `*` is any characters
         */
        readonly tools?: readonly string[] | undefined
      }
    }
    readonly answer: SharedConnection
  }
  /** Add the tools of a pack */
  readonly addPack: {
    readonly method: 'POST'
    readonly path: '/v1/packs'
    readonly params: undefined
    readonly query: undefined
    readonly body: NewPack
    readonly answer: AddedPack
  }
  /** Begin an authorization, or get the token when it is covered */
  readonly authorize: {
    readonly method: 'POST'
    readonly path: '/v1/auth/authorize'
    readonly params: undefined
    readonly query: undefined
    readonly body: AuthorizeRequest
    readonly answer: Authorization
  }
  /** Begin the authorization that a tool needs, for a user */
  readonly authorizeTool: {
    readonly method: 'POST'
    readonly path: '/v1/tools/authorize'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** A tool by any of its names */
      readonly tool_name: string
      /** Absent: the newest version */
      readonly tool_version?: string | null | undefined
      /** The user for whom the tool runs; required by tools that act for a user */
      readonly user_id?: string | null | undefined
      /** Which of the user's accounts: a connection's id, an account's id or name */
      readonly account?: string | null | undefined
      /** The account at each of several providers, by the ids of their entries */
      readonly accounts?: { readonly [name: string]: string } | null | undefined
      readonly next_uri?: string | null | undefined
      /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
      readonly user_display?: string | null | undefined
      /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
      readonly lang?: string | null | undefined
    }
    readonly answer: Authorization
  }
  /** Begin the authorization that an MCP server itself needs */
  readonly authorizeWorker: {
    readonly method: 'POST'
    readonly path: '/v1/workers/{id}/authorize'
    readonly params: { readonly id: string }
    readonly query: { readonly user_id: string; readonly next_uri?: string | undefined }
    readonly body: undefined
    readonly answer: Authorization
  }
  /** Begin the authorization that an MCP server itself needs */
  readonly authorizeWorkerByGet: {
    readonly method: 'GET'
    readonly path: '/v1/workers/{id}/authorize'
    readonly params: { readonly id: string }
    readonly query: { readonly user_id: string; readonly next_uri?: string | undefined }
    readonly body: undefined
    readonly answer: Authorization
  }
  /** Bind a metadata tool to the worker tool that runs it */
  readonly bindTool: {
    readonly method: 'POST'
    readonly path: '/v1/tools/{name}/binding'
    readonly params: { readonly name: string }
    readonly query: undefined
    readonly body: { readonly worker_id: string; readonly tool: string }
    readonly answer: ToolDefinition
  }
  /** Call a tool by OXP */
  readonly callOxpTool: {
    readonly method: 'POST'
    readonly path: '/oxp/tools/call'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** `Toolkit.Tool`, with `@version` or without */
      readonly tool_id?: string | undefined
      /** Idempotency key: a repetition of the call within ten minutes gets the first answer */
      readonly call_id?: string | null | undefined
      readonly trace_id?: string | null | undefined
      readonly input?: JsonObject | null | undefined
      /** Another name of `input` */
      readonly inputs?: { readonly [name: string]: JsonValue } | null | undefined
      readonly context?:
        | {
            readonly authorization?:
              | readonly { readonly id: string; readonly token?: string | null | undefined }[]
              | null
              | undefined
            readonly secrets?:
              | readonly { readonly id: string; readonly value?: string | null | undefined }[]
              | null
              | undefined
            readonly user_id?: string | null | undefined
          }
        | null
        | undefined
      readonly $schema?: string | null | undefined
      readonly request?: OxpCall | undefined
    }
    readonly answer: { readonly result: OxpResult } | OxpSuccess | OxpFailure
  }
  /** Cancel the session for its user */
  readonly cancelCurrentConnectSession: {
    readonly method: 'POST'
    readonly path: '/v1/connect_sessions/current/cancel'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: ConnectSession
  }
  /** Cancel a run that has not begun */
  readonly cancelScheduledTool: {
    readonly method: 'DELETE'
    readonly path: '/v1/scheduled_tools/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ToolExecution
  }
  /** Change how the project's pages look */
  readonly changeBranding: {
    readonly method: 'PATCH'
    readonly path: '/v1/admin/projects/{id}/branding'
    readonly params: {
      /** The id or the name of the key's own project */
      readonly id: string
    }
    readonly query: undefined
    readonly body: BrandingChanges
    readonly answer: Branding
  }
  /** Confirm the user verifier */
  readonly confirmSessionVerification: {
    readonly method: 'PUT'
    readonly path: '/v1/admin/settings/session_verification'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly verifier_url?: string | null | undefined
      readonly unsafe_skip_verification?: boolean | null | undefined
      readonly unsafe_skip_verification_choice_allowed?: boolean | null | undefined
    }
    readonly answer: SessionVerification
  }
  /** Confirm the user who came back with a flow */
  readonly confirmUser: {
    readonly method: 'POST'
    readonly path: '/v1/auth/confirm_user'
    readonly params: undefined
    readonly query: undefined
    readonly body: { readonly flow_id: string; readonly user_id: string }
    readonly answer: ConfirmedUser
  }
  /** Create an API key, which is shown only once */
  readonly createApiKey: {
    readonly method: 'POST'
    readonly path: '/v1/admin/keys'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly role: 'admin' | 'caller' | 'readonly' | 'approver'
      /** By name; by default that of the calling key */
      readonly project?: string | null | undefined
      /** The purpose of the key, by which you recognize it */
      readonly name?: string | null | undefined
      /** The only user that the key acts for; not with the role `admin`. Without it, every user */
      readonly user_id?: string | null | undefined
      /**
       * Only with the role `approver`: the groups whose calls the key lists and decides about. Without it,
       * all
       */
      readonly groups?: readonly string[] | null | undefined
      /** The key is refused from then on; without `expires_at` and `expires_in` it never expires */
      readonly expires_at?: string | null | undefined
      /** Seconds */
      readonly expires_in?: number | null | undefined
      /** Requests a second, in place of GATEPASS_RATE_LIMIT; 0: no limit */
      readonly rate_limit?: number | null | undefined
      /** How the key begins: `arc` for software that accepts only the form of Arcade’s keys */
      readonly prefix?: 'gp' | 'arc' | null | undefined
    }
    readonly answer: IssuedApiKey
  }
  /** Add a provider */
  readonly createAuthProvider: {
    readonly method: 'POST'
    readonly path: '/v1/admin/auth_providers'
    readonly params: undefined
    readonly query: undefined
    readonly body: AuthProviderCreateRequest
    readonly answer: AuthProviderResponse
  }
  /** Let a page connect one user */
  readonly createConnectSession: {
    readonly method: 'POST'
    readonly path: '/v1/connect_sessions'
    readonly params: undefined
    readonly query: undefined
    readonly body: ConnectSessionRequest
    readonly answer: BegunConnectSession
  }
  /** Store what a user would type: a key, or a user name with a password */
  readonly createConnection: {
    readonly method: 'POST'
    readonly path: '/v1/connections'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly user_id: string
      /** The id of a provider of the project, or a well-known one */
      readonly provider_id: string
      /** All fields of the provider (`credentials.fields`), secrets too */
      readonly fields: { readonly [name: string]: string }
      /** Whether calls that name no account use it. The first connection is used anyway. */
      readonly default?: boolean | undefined
    }
    readonly answer: Connection
  }
  /** Make a policy */
  readonly createPolicy: {
    readonly method: 'POST'
    readonly path: '/v1/admin/policies'
    readonly params: undefined
    readonly query: undefined
    readonly body: NewPolicy
    readonly answer: Policy
  }
  /** A one-time link to the user's own page */
  readonly createPortalLink: {
    readonly method: 'POST'
    readonly path: '/v1/users/{user_id}/portal'
    readonly params: { readonly user_id: string }
    readonly query: undefined
    readonly body: PortalLinkRequest | undefined
    readonly answer: PortalLink
  }
  /** Create a project */
  readonly createProject: {
    readonly method: 'POST'
    readonly path: '/v1/admin/projects'
    readonly params: undefined
    readonly query: undefined
    readonly body: { readonly name: string }
    readonly answer: Project
  }
  /** Make a toolset */
  readonly createToolset: {
    readonly method: 'POST'
    readonly path: '/v1/toolsets'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** MCP clients reach the toolset at `/mcp/{id}` */
      readonly id: string
      /**
       * Names of tools, in any spelling that a tool answers to, with a version or without; `["*"]` is every
       * tool. Answers give the ids of known tools
       */
      readonly tools?: readonly string[] | null | undefined
      readonly namespaces?: readonly string[] | null | undefined
      readonly tags?: readonly string[] | null | undefined
      /** Tools that need one of these providers, by id */
      readonly providers?: readonly string[] | null | undefined
      /**
       * `prefixed`: `Namespace_Tool`, as in the other lists; `bare`: the tool’s own name, or the prefixed
       * one if another tool of the toolset has that name already. A bare name is never given to another tool
       * Default: `"prefixed"`
       */
      readonly names?: 'prefixed' | 'bare' | undefined
      /** Text for the model about these tools */
      readonly instructions?: string | null | undefined
      /**
       * `all`: MCP clients list every tool; `search`: they list a tool that searches and one that calls.
       * Absent: `search` for more than 128 tools
       */
      readonly listing?: 'all' | 'search' | null | undefined
    }
    readonly answer: ToolsetDetail
  }
  /** Register a receiver of events */
  readonly createWebhook: {
    readonly method: 'POST'
    readonly path: '/v1/webhooks'
    readonly params: undefined
    readonly query: undefined
    readonly body: NewWebhook
    readonly answer: WebhookWithSecret
  }
  /** Register a worker */
  readonly createWorker: {
    readonly method: 'POST'
    readonly path: '/v1/workers'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly id: string
      readonly type?: string | null | undefined
      /** Default: `true` */
      readonly enabled?: boolean | undefined
      /**
       * `hold`: a tool whose definition has changed does not run, and keeps its accepted text, until an
       * administrator accepts the new one; new tools wait. `record`: changes apply, on record. `off`: they
       * apply. Default: `hold` for MCP servers, OXP servers and OpenAPI documents at a URL, else `record`;
       * `off` in development
       */
      readonly pinning?: 'hold' | 'record' | 'off' | undefined
      readonly http?: HttpWorkerRegistration | undefined
      readonly mcp?: McpWorkerRegistration | undefined
      readonly openapi?: OpenapiWorkerRegistration | undefined
      readonly oxp?: OxpWorkerRegistration | undefined
    }
    readonly answer: Worker
  }
  /** Decide about a call */
  readonly decideApproval: {
    readonly method: 'POST'
    readonly path: '/v1/approvals/{id}/decision'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      readonly decision: 'approve' | 'deny'
      /** The digest of the approval that was shown */
      readonly digest: string
      readonly approver: string
      /** Default: `"once"` */
      readonly remember?: 'once' | 'hour' | 'standing' | undefined
      /**
       * Names of arguments that stay the same while the approval is remembered. No argument is added or left
       * out.
       * Default: `[]`
       */
      readonly fixed?: readonly string[] | undefined
      /** A sentence for the model, of a denial */
      readonly reason?: string | undefined
    }
    readonly answer: Approval
  }
  /** Delete a provider with its connections */
  readonly deleteAuthProvider: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/auth_providers/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: AuthProviderResponse | undefined
  }
  /** Delete a connection, and revoke its tokens at the provider */
  readonly deleteConnection: {
    readonly method: 'DELETE'
    readonly path: '/v1/connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: DeletedConnection
  }
  /** Delete a connection of the project with its tokens and its key */
  readonly deleteConnectionOfProject: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** End a client's access for its user */
  readonly deleteMcpClient: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/mcp_clients/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete a policy */
  readonly deletePolicy: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/policies/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete a secret by its id or key */
  readonly deleteSecret: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete a secret by its id or key */
  readonly deleteSecretForArcadeCli: {
    readonly method: 'DELETE'
    readonly path: '/v1/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Take back a remembered approval or a block */
  readonly deleteStandingApproval: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/standing_approvals/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete an imported tool */
  readonly deleteTool: {
    readonly method: 'DELETE'
    readonly path: '/v1/tools/{name}'
    readonly params: { readonly name: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete a toolset */
  readonly deleteToolset: {
    readonly method: 'DELETE'
    readonly path: '/v1/toolsets/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete the connection of any user, and revoke its tokens at the provider */
  readonly deleteUserConnection: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/user_connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete a webhook; events that wait for it are not sent */
  readonly deleteWebhook: {
    readonly method: 'DELETE'
    readonly path: '/v1/webhooks/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Delete a worker with its tools */
  readonly deleteWorker: {
    readonly method: 'DELETE'
    readonly path: '/v1/workers/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Test which of last week’s uses of tokens policies would have refused or asked about */
  readonly dryRunPolicies: {
    readonly method: 'POST'
    readonly path: '/v1/admin/policies/dry_run'
    readonly params: undefined
    readonly query: undefined
    readonly body:
      | {
          /**
           * Evaluated as if they were added, or replaced the policies with the same ids
           * Default: `[]`
           */
          readonly policies?: readonly NewPolicy[] | undefined
          /**
           * Ids of policies to leave out
           * Default: `[]`
           */
          readonly without?: readonly string[] | undefined
          /** By default a week before `until`; at most 31 days */
          readonly since?: string | undefined
          /** By default now */
          readonly until?: string | undefined
        }
      | undefined
    readonly answer: PolicyDryRun
  }
  /** Run a piece of code that calls tools */
  readonly executeCode: {
    readonly method: 'POST'
    readonly path: '/v1/code/execute'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** Default: `"javascript"` */
      readonly language?: 'javascript' | 'typescript' | undefined
      readonly code: string
      readonly limits?:
        | {
            /**
             * Milliseconds from the first statement of the code on, with the time of its tool calls; 30000 by
             * default. The maximum is 120000: 0 and numbers above it count as the maximum
             */
            readonly timeout_ms?: number | null | undefined
            /** Megabytes; 64 by default. The maximum is 256: 0 and numbers above it count as the maximum */
            readonly memory_mb?: number | null | undefined
            /**
             * The number of tool calls; each step of a chain counts; 100 by default. The maximum is 10000: 0 and
             * numbers above it count as the maximum
             */
            readonly tool_calls?: number | null | undefined
            /**
             * The number of steps of one chain; 100 by default. The maximum is 1000: 0 and numbers above it count
             * as the maximum
             */
            readonly chain_steps?: number | null | undefined
          }
        | null
        | undefined
      /** Continues a run that ended with `requires_authorization`; with the same code and language */
      readonly resume?: string | null | undefined
      /** The user for whom the tool runs; required by tools that act for a user */
      readonly user_id?: string | null | undefined
      /** Which of the user's accounts: a connection's id, an account's id or name */
      readonly account?: string | null | undefined
      /** The account at each of several providers, by the ids of their entries */
      readonly accounts?: { readonly [name: string]: string } | null | undefined
      readonly next_uri?: string | null | undefined
      /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
      readonly user_display?: string | null | undefined
      /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
      readonly lang?: string | null | undefined
      /** For tools that declare it; a tool gets only what it declares */
      readonly metadata?: { readonly [name: string]: string } | null | undefined
      /** Store input and output in the execution history, which has neither by default */
      readonly keep_content?: boolean | null | undefined
    }
    readonly answer: CodeResult
  }
  /** Run a tool, with the token of its user injected */
  readonly executeTool: {
    readonly method: 'POST'
    readonly path: '/v1/tools/execute'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** A tool by any of its names */
      readonly tool_name: string
      /** Absent: the newest version */
      readonly tool_version?: string | null | undefined
      /** The tool's arguments, checked by its schema before anything runs */
      readonly input?: JsonObject | undefined
      /**
       * Runs the tool at this time instead of now: `YYYY-MM-DDTHH:MM:SS` (UTC, or with an offset). GET
       * /v1/scheduled_tools/{id} has the result
       */
      readonly run_at?: string | null | undefined
      /**
       * Where a policy wants a person to approve the call: `run` keeps it, and it runs once when it is
       * approved. `requires_authorization` has the link, and GET /v1/executions/{id} the result
       */
      readonly when_approved?: 'run' | null | undefined
      readonly include_error_stacktrace?: boolean | null | undefined
      /** The user for whom the tool runs; required by tools that act for a user */
      readonly user_id?: string | null | undefined
      /** Which of the user's accounts: a connection's id, an account's id or name */
      readonly account?: string | null | undefined
      /** The account at each of several providers, by the ids of their entries */
      readonly accounts?: { readonly [name: string]: string } | null | undefined
      readonly next_uri?: string | null | undefined
      /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
      readonly user_display?: string | null | undefined
      /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
      readonly lang?: string | null | undefined
      /** For tools that declare it; a tool gets only what it declares */
      readonly metadata?: { readonly [name: string]: string } | null | undefined
      /** Store input and output in the execution history, which has neither by default */
      readonly keep_content?: boolean | null | undefined
    }
    readonly answer: ExecuteResult
  }
  /** Each step of an authorization, and why it failed or does not go on */
  readonly explainAuthorization: {
    readonly method: 'GET'
    readonly path: '/v1/auth/{id}/explain'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Explanation
  }
  /** Why a connection does not work */
  readonly explainConnection: {
    readonly method: 'GET'
    readonly path: '/v1/connections/{id}/explain'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Explanation
  }
  /** The audit trail as JSON lines, oldest first */
  readonly exportAuditEntries: {
    readonly method: 'GET'
    readonly path: '/v1/admin/audit/export'
    readonly params: undefined
    readonly query: {
      readonly user_id?: string | undefined
      readonly provider_id?: string | undefined
      readonly connection_id?: string | undefined
      readonly action?:
        | 'token.released'
        | 'authorization.confirmed'
        | 'authorization.completed'
        | 'authorization.failed'
        | 'authorization.refused'
        | 'connection.refreshed'
        | 'connection.needs_authorization'
        | 'connection.made_default'
        | 'connection.deleted'
        | 'connection.imported'
        | 'connections.exported'
        | 'shared_connection.added'
        | 'shared_connection.changed'
        | 'shared_connection.deleted'
        | 'provider.added'
        | 'provider.changed'
        | 'provider.connections_kept'
        | 'provider.environment_client_confirmed'
        | 'provider.deleted'
        | 'provider.tested'
        | 'tool.imported'
        | 'tool.bound'
        | 'tool.deleted'
        | 'tool.changed'
        | 'worker.added'
        | 'worker.changed'
        | 'worker.deleted'
        | 'worker.synced'
        | 'worker.waiting'
        | 'worker.accepted'
        | 'worker.named'
        | 'policy.set'
        | 'policy.deleted'
        | 'policy.refused'
        | 'toolset.set'
        | 'toolset.deleted'
        | 'tool.scheduled'
        | 'tool.cancelled'
        | 'tool.tried'
        | 'approval.requested'
        | 'approval.approved'
        | 'approval.denied'
        | 'approval.expired'
        | 'approval.used'
        | 'approval.superseded'
        | 'standing_approval.added'
        | 'standing_approval.removed'
        | 'secret.set'
        | 'secret.deleted'
        | 'project.created'
        | 'branding.set'
        | 'branding.domain_set'
        | 'branding.domain_proved'
        | 'branding.domain_removed'
        | 'key.created'
        | 'key.rotated'
        | 'key.revoked'
        | 'console.logged_in'
        | 'console.logged_out'
        | 'webhook.added'
        | 'webhook.changed'
        | 'webhook.secret_rotated'
        | 'webhook.replayed'
        | 'webhook.tested'
        | 'webhook.disabled'
        | 'webhook.deleted'
        | 'mcp_client.approved'
        | 'mcp_client.revoked'
        | 'connect_session.created'
        | 'connect_session.opened'
        | 'connect_session.restarted'
        | 'connect_session.cancelled'
        | 'portal.linked'
        | 'portal.entered'
        | 'user.exported'
        | 'user.erased'
        | 'audit.archived'
        | 'access.refused'
        | 'envelope.unreadable'
        | 'master_key.rotated'
        | 'installation.backed_up'
        | 'installation.restored'
        | 'installation.commits_lost'
        | 'installation.moved'
        | 'installation.rows_signed'
        | undefined
      readonly tool?: string | undefined
      readonly subject?: string | undefined
      /** The id of an API key, or of a user who called with an access token */
      readonly actor_id?: string | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      /**
       * Only entries after this number: where the last export ended. If the next entry is archived, the
       * answer is 410 `entries_archived`
       */
      readonly after?: number | undefined
    }
    readonly body: undefined
    readonly answer: string
    readonly mediaType: 'application/x-ndjson'
  }
  /** One API key, never the key itself */
  readonly getApiKey: {
    readonly method: 'GET'
    readonly path: '/v1/admin/keys/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ApiKey
  }
  /** One approval, with the arguments of its call */
  readonly getApproval: {
    readonly method: 'GET'
    readonly path: '/v1/approvals/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Approval
  }
  /** Readiness in the form of Arcade’s API */
  readonly getArcadeHealth: {
    readonly method: 'GET'
    readonly path: '/v1/health'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: { readonly healthy: boolean; readonly reason?: string }
  }
  /** One provider */
  readonly getAuthProvider: {
    readonly method: 'GET'
    readonly path: '/v1/admin/auth_providers/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: AuthProviderResponse
  }
  /** The status of an authorization */
  readonly getAuthorizationStatus: {
    readonly method: 'GET'
    readonly path: '/v1/auth/status'
    readonly params: undefined
    readonly query: { readonly id: string; readonly wait?: number | undefined }
    readonly body: undefined
    readonly answer: Authorization
  }
  /** How the project's pages look */
  readonly getBranding: {
    readonly method: 'GET'
    readonly path: '/v1/admin/projects/{id}/branding'
    readonly params: {
      /** The id or the name of the key's own project */
      readonly id: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Branding
  }
  /** One provider that Gatepass knows, with its whole definition */
  readonly getCatalogueDefinition: {
    readonly method: 'GET'
    readonly path: '/v1/admin/provider_catalogue/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: JsonObject
  }
  /** One connection */
  readonly getConnection: {
    readonly method: 'GET'
    readonly path: '/v1/connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Connection
  }
  /** One connection of the project */
  readonly getConnectionOfProject: {
    readonly method: 'GET'
    readonly path: '/v1/admin/connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: SharedConnection
  }
  /** The access token of a connection, refreshed if need be */
  readonly getConnectionToken: {
    readonly method: 'POST'
    readonly path: '/v1/connections/{id}/token'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: { readonly force_refresh?: boolean | undefined } | undefined
    readonly answer: AccessToken
  }
  /** The status of the session */
  readonly getCurrentConnectSession: {
    readonly method: 'GET'
    readonly path: '/v1/connect_sessions/current'
    readonly params: undefined
    readonly query: { readonly wait?: number | undefined }
    readonly body: undefined
    readonly answer: ConnectSession
  }
  /** Check the installation with the settings of this server, and say how to fix its faults */
  readonly getDiagnosis: {
    readonly method: 'GET'
    readonly path: '/v1/admin/diagnosis'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: { readonly ok: boolean; readonly checks: readonly DiagnosisCheck[] }
  }
  /** One run */
  readonly getExecution: {
    readonly method: 'GET'
    readonly path: '/v1/executions/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ToolExecutionDetail
  }
  /** A file that a tool answered */
  readonly getFile: {
    readonly method: 'GET'
    readonly path: '/v1/files/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
    readonly mediaType: 'application/octet-stream'
  }
  /** One tool in the format of a model provider */
  readonly getFormattedTool: {
    readonly method: 'GET'
    readonly path: '/v1/formatted_tools/{name}'
    readonly params: { readonly name: string }
    readonly query: {
      readonly user_id?: string | undefined
      /** Default: `"openai"` */
      readonly format?:
        | 'openai'
        | 'anthropic'
        | 'mcp'
        | 'jsonschema'
        | 'json_schema'
        | 'arcade'
        | 'oxp'
        | undefined
    }
    readonly body: undefined
    readonly answer: FormattedTool
  }
  /** The process is alive */
  readonly getHealth: {
    readonly method: 'GET'
    readonly path: '/health'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: { readonly status: 'ok' }
  }
  /** Metrics for Prometheus */
  readonly getMetrics: {
    readonly method: 'GET'
    readonly path: '/metrics'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
    readonly mediaType: 'text/plain'
  }
  /** Readiness for OXP, which defines no body */
  readonly getOxpHealth: {
    readonly method: 'GET'
    readonly path: '/oxp/health'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** One tool pack, and what registers it */
  readonly getPack: {
    readonly method: 'GET'
    readonly path: '/v1/packs/{id}'
    readonly params: { readonly id: string }
    readonly query: {
      /**
       * Only tools that change nothing
       * Default: `"false"`
       */
      readonly read_only?: 'true' | 'false' | undefined
      /** Only these tools: their names, separated by commas */
      readonly tools?: string | undefined
      /** The id of the provider entry whose tokens they use; any entry of the pack’s provider unless given */
      readonly provider_id?: string | undefined
    }
    readonly body: undefined
    readonly answer: PackDetail
  }
  /** One policy */
  readonly getPolicy: {
    readonly method: 'GET'
    readonly path: '/v1/admin/policies/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Policy
  }
  /**
   * The database can be written, the process has every master key in use, and it is not shutting down. A
   * worker of a distributed database that does not answer is named: all users but those whose
   * connections it holds are served
   */
  readonly getReadiness: {
    readonly method: 'GET'
    readonly path: '/ready'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: { readonly ready: true; readonly unavailable_database_workers?: readonly string[] }
  }
  /** One scheduled run, and its result */
  readonly getScheduledTool: {
    readonly method: 'GET'
    readonly path: '/v1/scheduled_tools/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ToolExecutionDetail
  }
  /** One secret by its key or id, without its value */
  readonly getSecret: {
    readonly method: 'GET'
    readonly path: '/v1/admin/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Secret
  }
  /** One secret by its key or id, without its value */
  readonly getSecretForArcadeCli: {
    readonly method: 'GET'
    readonly path: '/v1/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Secret
  }
  /** The user verifier, in the form of Arcade’s API */
  readonly getSessionVerification: {
    readonly method: 'GET'
    readonly path: '/v1/admin/settings/session_verification'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: SessionVerification
  }
  /** One tool, by any of its names */
  readonly getTool: {
    readonly method: 'GET'
    readonly path: '/v1/tools/{name}'
    readonly params: { readonly name: string }
    readonly query: { readonly user_id?: string | undefined; readonly include_format?: string | undefined }
    readonly body: undefined
    readonly answer: ToolDetail
  }
  /** What many tools need together */
  readonly getToolRequirements: {
    readonly method: 'POST'
    readonly path: '/v1/tools/requirements'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly tool_names?: readonly string[] | undefined
      readonly tools?:
        | readonly { readonly tool_name: string; readonly tool_version?: string | null | undefined }[]
        | undefined
      readonly user_id?: string | null | undefined
      readonly authorize?: boolean | null | undefined
    }
    readonly answer: SharedRequirements
  }
  /** One toolset, and how many tools it has now */
  readonly getToolset: {
    readonly method: 'GET'
    readonly path: '/v1/toolsets/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ToolsetDetail
  }
  /** One webhook */
  readonly getWebhook: {
    readonly method: 'GET'
    readonly path: '/v1/webhooks/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Webhook
  }
  /** One worker */
  readonly getWorker: {
    readonly method: 'GET'
    readonly path: '/v1/workers/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Worker
  }
  /** Whether the worker answers now */
  readonly getWorkerHealth: {
    readonly method: 'GET'
    readonly path: '/v1/workers/{id}/health'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly id: string
      readonly enabled: boolean
      readonly healthy: boolean
      readonly message?: string
    }
  }
  /** Import connections with their tokens */
  readonly importConnections: {
    readonly method: 'POST'
    readonly path: '/v1/admin/user_connections/import'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly connections: readonly ForeignConnection[]
      /** Replace connections that exist already */
      readonly replace?: boolean | undefined
      /** Refresh each stored connection once */
      readonly check?: boolean | undefined
    }
    readonly answer: { readonly items: readonly ImportedConnection[] }
  }
  /** Import tool metadata */
  readonly importTools: {
    readonly method: 'POST'
    readonly path: '/v1/tools/import'
    readonly params: undefined
    readonly query: {
      /** The worker that runs them */
      readonly worker_id?: string | undefined
      /**
       * Answers the result that each would have, and writes nothing. A provider that would be added has no
       * `redirect_uri`
       * Default: `"false"`
       */
      readonly dry_run?: 'true' | 'false' | undefined
    }
    readonly body: ToolMetadata | readonly ToolMetadata[] | null
    readonly answer: ImportResult
  }
  /** The project's API keys, never the keys themselves */
  readonly listApiKeys: {
    readonly method: 'GET'
    readonly path: '/v1/admin/keys'
    readonly params: undefined
    readonly query: {
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly ApiKey[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** Calls that wait or waited for an approval, newest first, without their arguments */
  readonly listApprovals: {
    readonly method: 'GET'
    readonly path: '/v1/approvals'
    readonly params: undefined
    readonly query: {
      readonly status?:
        | 'pending'
        | 'approved'
        | 'used'
        | 'denied'
        | 'expired'
        | 'cancelled'
        | 'superseded'
        | undefined
      readonly user_id?: string | undefined
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Approval[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** The audit trail, newest first */
  readonly listAuditEntries: {
    readonly method: 'GET'
    readonly path: '/v1/admin/audit'
    readonly params: undefined
    readonly query: {
      readonly user_id?: string | undefined
      readonly provider_id?: string | undefined
      readonly connection_id?: string | undefined
      readonly action?:
        | 'token.released'
        | 'authorization.confirmed'
        | 'authorization.completed'
        | 'authorization.failed'
        | 'authorization.refused'
        | 'connection.refreshed'
        | 'connection.needs_authorization'
        | 'connection.made_default'
        | 'connection.deleted'
        | 'connection.imported'
        | 'connections.exported'
        | 'shared_connection.added'
        | 'shared_connection.changed'
        | 'shared_connection.deleted'
        | 'provider.added'
        | 'provider.changed'
        | 'provider.connections_kept'
        | 'provider.environment_client_confirmed'
        | 'provider.deleted'
        | 'provider.tested'
        | 'tool.imported'
        | 'tool.bound'
        | 'tool.deleted'
        | 'tool.changed'
        | 'worker.added'
        | 'worker.changed'
        | 'worker.deleted'
        | 'worker.synced'
        | 'worker.waiting'
        | 'worker.accepted'
        | 'worker.named'
        | 'policy.set'
        | 'policy.deleted'
        | 'policy.refused'
        | 'toolset.set'
        | 'toolset.deleted'
        | 'tool.scheduled'
        | 'tool.cancelled'
        | 'tool.tried'
        | 'approval.requested'
        | 'approval.approved'
        | 'approval.denied'
        | 'approval.expired'
        | 'approval.used'
        | 'approval.superseded'
        | 'standing_approval.added'
        | 'standing_approval.removed'
        | 'secret.set'
        | 'secret.deleted'
        | 'project.created'
        | 'branding.set'
        | 'branding.domain_set'
        | 'branding.domain_proved'
        | 'branding.domain_removed'
        | 'key.created'
        | 'key.rotated'
        | 'key.revoked'
        | 'console.logged_in'
        | 'console.logged_out'
        | 'webhook.added'
        | 'webhook.changed'
        | 'webhook.secret_rotated'
        | 'webhook.replayed'
        | 'webhook.tested'
        | 'webhook.disabled'
        | 'webhook.deleted'
        | 'mcp_client.approved'
        | 'mcp_client.revoked'
        | 'connect_session.created'
        | 'connect_session.opened'
        | 'connect_session.restarted'
        | 'connect_session.cancelled'
        | 'portal.linked'
        | 'portal.entered'
        | 'user.exported'
        | 'user.erased'
        | 'audit.archived'
        | 'access.refused'
        | 'envelope.unreadable'
        | 'master_key.rotated'
        | 'installation.backed_up'
        | 'installation.restored'
        | 'installation.commits_lost'
        | 'installation.moved'
        | 'installation.rows_signed'
        | undefined
      readonly tool?: string | undefined
      readonly subject?: string | undefined
      /** The id of an API key, or of a user who called with an access token */
      readonly actor_id?: string | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      /** Only entries before this number: `next_before` of the page before */
      readonly before?: number | undefined
      /** A larger number counts as 1000 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly AuditEntry[]
      readonly next_before?: number
      /** Entries up to this number are no longer listed, because an administrator has archived them */
      readonly archived_through?: number
    }
  }
  /** All providers */
  readonly listAuthProviders: {
    readonly method: 'GET'
    readonly path: '/v1/admin/auth_providers'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly AuthProviderResponse[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** A user's connections, never with a token */
  readonly listConnections: {
    readonly method: 'GET'
    readonly path: '/v1/connections'
    readonly params: undefined
    readonly query: {
      readonly user_id?: string | undefined
      readonly provider_id?: string | undefined
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Connection[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** All connections of the project */
  readonly listConnectionsOfProject: {
    readonly method: 'GET'
    readonly path: '/v1/admin/connections'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly SharedConnection[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The history of runs, newest first */
  readonly listExecutions: {
    readonly method: 'GET'
    readonly path: '/v1/executions'
    readonly params: undefined
    readonly query: {
      readonly user_id?: string | undefined
      /** A tool by any of its names, or the id of a deleted tool */
      readonly tool?: string | undefined
      readonly type?: 'immediate' | 'scheduled' | undefined
      readonly status?:
        | 'scheduled'
        | 'waiting_for_approval'
        | 'running'
        | 'completed'
        | 'failed'
        | 'cancelled'
        | undefined
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly ToolExecution[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** The known tools in the format of a model provider */
  readonly listFormattedTools: {
    readonly method: 'GET'
    readonly path: '/v1/formatted_tools'
    readonly params: undefined
    readonly query: {
      readonly toolkit?: string | undefined
      /** Only the tools of this toolset, one version of each, under their names in the project */
      readonly toolset?: string | undefined
      readonly user_id?: string | undefined
      /** Default: `"false"` */
      readonly include_all_versions?: 'true' | 'false' | undefined
      /** Words that must all occur in its names, its description or its tags */
      readonly q?: string | undefined
      /** Any of these tags, separated by commas */
      readonly tag?: string | undefined
      /** Tools that need this provider */
      readonly provider?: string | undefined
      /** Whether all its requirements are met, for `user_id` if one is given */
      readonly met?: 'true' | 'false' | undefined
      /**
       * Arcade’s filter, as JSON: `service_domains` and `operations` by `any_of`, `all_of`, `none_of`;
       * `read_only`, `destructive`, `idempotent`, `open_world`; `extras`
       */
      readonly filter?: string | undefined
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** Default: `"openai"` */
      readonly format?:
        | 'openai'
        | 'anthropic'
        | 'mcp'
        | 'jsonschema'
        | 'json_schema'
        | 'arcade'
        | 'oxp'
        | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly FormattedTool[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The MCP clients that users have allowed to act for them */
  readonly listMcpClients: {
    readonly method: 'GET'
    readonly path: '/v1/admin/mcp_clients'
    readonly params: undefined
    readonly query: {
      readonly user_id?: string | undefined
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly McpClient[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** The known tools as OXP tool definitions */
  readonly listOxpTools: {
    readonly method: 'GET'
    readonly path: '/oxp/tools'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: { readonly items: readonly OxpTool[]; readonly tools: readonly OxpTool[] }
  }
  /** All tool packs */
  readonly listPacks: {
    readonly method: 'GET'
    readonly path: '/v1/packs'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Pack[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** The packs of the folder `GATEPASS_PACKS` that cannot be used, and why */
      readonly faults: readonly { readonly folder: string; readonly message: string }[]
    }
  }
  /** All policies */
  readonly listPolicies: {
    readonly method: 'GET'
    readonly path: '/v1/admin/policies'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Policy[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The projects */
  readonly listProjects: {
    readonly method: 'GET'
    readonly path: '/v1/admin/projects'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Project[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The providers that Gatepass knows */
  readonly listProviderCatalogue: {
    readonly method: 'GET'
    readonly path: '/v1/admin/provider_catalogue'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** A part of the id or of a name */
      readonly search?: string | undefined
      readonly category?: string | undefined
      readonly verified?: 'true' | 'false' | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly CatalogueEntry[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** What quotas have counted in the current hour or day */
  readonly listQuotas: {
    readonly method: 'GET'
    readonly path: '/v1/admin/quotas'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      readonly user_id?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Quota[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** Scheduled runs, newest first */
  readonly listScheduledTools: {
    readonly method: 'GET'
    readonly path: '/v1/scheduled_tools'
    readonly params: undefined
    readonly query: {
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly ToolExecution[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** All secrets, without their values */
  readonly listSecrets: {
    readonly method: 'GET'
    readonly path: '/v1/admin/secrets'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Secret[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** All secrets, without their values */
  readonly listSecretsForArcadeCli: {
    readonly method: 'GET'
    readonly path: '/v1/secrets'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Secret[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** Approvals that cover further calls, and blocked agents */
  readonly listStandingApprovals: {
    readonly method: 'GET'
    readonly path: '/v1/admin/standing_approvals'
    readonly params: undefined
    readonly query: {
      readonly user_id?: string | undefined
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly StandingApproval[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The known tools, and whether their requirements are met */
  readonly listTools: {
    readonly method: 'GET'
    readonly path: '/v1/tools'
    readonly params: undefined
    readonly query: {
      readonly toolkit?: string | undefined
      /** Only the tools of this toolset, one version of each, under their names in the project */
      readonly toolset?: string | undefined
      readonly user_id?: string | undefined
      /** Default: `"false"` */
      readonly include_all_versions?: 'true' | 'false' | undefined
      /** Words that must all occur in its names, its description or its tags */
      readonly q?: string | undefined
      /** Any of these tags, separated by commas */
      readonly tag?: string | undefined
      /** Tools that need this provider */
      readonly provider?: string | undefined
      /** Whether all its requirements are met, for `user_id` if one is given */
      readonly met?: 'true' | 'false' | undefined
      /**
       * Arcade’s filter, as JSON: `service_domains` and `operations` by `any_of`, `all_of`, `none_of`;
       * `read_only`, `destructive`, `idempotent`, `open_world`; `extras`
       */
      readonly filter?: string | undefined
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      readonly include_format?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly DescribedTool[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The tools of a toolset, oldest first, under the names that MCP clients get */
  readonly listToolsetTools: {
    readonly method: 'GET'
    readonly path: '/v1/toolsets/{id}/tools'
    readonly params: { readonly id: string }
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly ShownTool[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** All toolsets */
  readonly listToolsets: {
    readonly method: 'GET'
    readonly path: '/v1/toolsets'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Toolset[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** All users' connections, with the provider's user info of each account */
  readonly listUserConnections: {
    readonly method: 'GET'
    readonly path: '/v1/admin/user_connections'
    readonly params: undefined
    readonly query: {
      readonly provider_id?: string | undefined
      readonly user_id?: string | undefined
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly UserConnection[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** What was sent to a webhook, newest first */
  readonly listWebhookDeliveries: {
    readonly method: 'GET'
    readonly path: '/v1/webhooks/{id}/deliveries'
    readonly params: { readonly id: string }
    readonly query: {
      readonly state?: 'waiting' | 'delivered' | 'failed' | undefined
      /** How many items to skip, at most 10000. To go further use `cursor`. */
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
      /** `next_cursor` of the page before, with the same filters and without `offset` */
      readonly cursor?: string | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly WebhookDelivery[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
      /** Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret. */
      readonly next_cursor?: string
      /** Set when the list has more than 10000 items: `total_count` is a lower bound then */
      readonly total_count_is_minimum?: true
    }
  }
  /** All webhooks */
  readonly listWebhooks: {
    readonly method: 'GET'
    readonly path: '/v1/webhooks'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Webhook[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** The tools of a worker */
  readonly listWorkerTools: {
    readonly method: 'GET'
    readonly path: '/v1/workers/{id}/tools'
    readonly params: { readonly id: string }
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly ToolDefinition[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** All workers */
  readonly listWorkers: {
    readonly method: 'GET'
    readonly path: '/v1/workers'
    readonly params: undefined
    readonly query: {
      readonly offset?: number | undefined
      /** A larger number counts as 100 */
      readonly limit?: number | undefined
    }
    readonly body: undefined
    readonly answer: {
      readonly items: readonly Worker[]
      readonly total_count: number
      readonly offset: number
      readonly limit: number
      readonly page_count: number
    }
  }
  /** A request to a provider's API with the user's token put in */
  readonly proxyDelete: {
    readonly method: 'DELETE'
    readonly path: '/proxy/{provider}/{path}'
    readonly params: { readonly provider: string; readonly path: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
    readonly mediaType: '*/*'
  }
  /** A request to a provider's API with the user's token put in */
  readonly proxyGet: {
    readonly method: 'GET'
    readonly path: '/proxy/{provider}/{path}'
    readonly params: { readonly provider: string; readonly path: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
    readonly mediaType: '*/*'
  }
  /** A request to a provider's API with the user's token put in */
  readonly proxyPatch: {
    readonly method: 'PATCH'
    readonly path: '/proxy/{provider}/{path}'
    readonly params: { readonly provider: string; readonly path: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
    readonly mediaType: '*/*'
  }
  /** A request to a provider's API with the user's token put in */
  readonly proxyPost: {
    readonly method: 'POST'
    readonly path: '/proxy/{provider}/{path}'
    readonly params: { readonly provider: string; readonly path: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
    readonly mediaType: '*/*'
  }
  /** A request to a provider's API with the user's token put in */
  readonly proxyPut: {
    readonly method: 'PUT'
    readonly path: '/proxy/{provider}/{path}'
    readonly params: { readonly provider: string; readonly path: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
    readonly mediaType: '*/*'
  }
  /** Send past events once more */
  readonly replayWebhook: {
    readonly method: 'POST'
    readonly path: '/v1/webhooks/{id}/replay'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      /** At the earliest 14 days ago */
      readonly since?: string | undefined
      /** Absent: now */
      readonly until?: string | undefined
      readonly types?:
        | readonly (
            | 'authorization.completed'
            | 'authorization.failed'
            | 'authorization.expired'
            | 'connection.created'
            | 'connection.refreshed_scopes'
            | 'connection.needs_authorization'
            | 'connection.revoked'
            | 'connection.deleted'
            | 'tool.run.failed'
            | 'worker.requirements_changed'
            | 'approval.requested'
            | 'approval.decided'
            | 'approval.expired'
            | 'worker.tools_changed'
          )[]
        | undefined
      /**
       * Only events whose last attempt has failed
       * Default: `false`
       */
      readonly only_failed?: boolean | undefined
      readonly cursor?: string | undefined
    }
    readonly answer: WebhookReplay
  }
  /** Begin another authorization after a failure */
  readonly restartCurrentConnectSession: {
    readonly method: 'POST'
    readonly path: '/v1/connect_sessions/current/restart'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: ConnectSession
  }
  /** Revoke an API key; it is refused from then on */
  readonly revokeApiKey: {
    readonly method: 'DELETE'
    readonly path: '/v1/admin/keys/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: undefined
  }
  /** Create a key that replaces another */
  readonly rotateApiKey: {
    readonly method: 'POST'
    readonly path: '/v1/admin/keys/{id}/rotate'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body:
      | {
          /** How many seconds the old key stays valid; a day by default */
          readonly grace?: number | null | undefined
          /** How the key begins: `arc` for software that accepts only the form of Arcade’s keys */
          readonly prefix?: 'gp' | 'arc' | null | undefined
        }
      | undefined
    readonly answer: IssuedApiKey & {
      readonly replaces: { readonly id: string; readonly expires_at: string }
    }
  }
  /** Replace the secret of a webhook */
  readonly rotateWebhookSecret: {
    readonly method: 'POST'
    readonly path: '/v1/webhooks/{id}/rotate'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: { readonly overlap_seconds?: number | undefined }
    readonly answer: WebhookWithSecret
  }
  /** Run several tools in a row */
  readonly runChain: {
    readonly method: 'POST'
    readonly path: '/v1/tools/run_chain'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly steps?:
        | readonly {
            /** A tool by any of its names */
            readonly toolId: string
            /** Absent: the newest version */
            readonly tool_version?: string | null | undefined
            /** The tool's arguments, checked by its schema before anything runs */
            readonly args?: JsonObject | undefined
            /** Puts the result of the previous step into `args.previous` */
            readonly usePrevious?: boolean | null | undefined
          }[]
        | null
        | undefined
      readonly resume?: string | null | undefined
      /** The user for whom the tool runs; required by tools that act for a user */
      readonly user_id?: string | null | undefined
      /** Which of the user's accounts: a connection's id, an account's id or name */
      readonly account?: string | null | undefined
      /** The account at each of several providers, by the ids of their entries */
      readonly accounts?: { readonly [name: string]: string } | null | undefined
      readonly next_uri?: string | null | undefined
      /** The display name of the user, 1 to 80 characters: the connect page says *You are …* */
      readonly user_display?: string | null | undefined
      /** The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh */
      readonly lang?: string | null | undefined
      /** For tools that declare it; a tool gets only what it declares */
      readonly metadata?: { readonly [name: string]: string } | null | undefined
      /** Store input and output in the execution history, which has neither by default */
      readonly keep_content?: boolean | null | undefined
    }
    readonly answer: ChainResult
  }
  /** Run a tool and get its plain result */
  readonly runTool: {
    readonly method: 'POST'
    readonly path: '/v1/tools/run'
    readonly params: undefined
    readonly query: undefined
    readonly body: RunRequest
    readonly answer: RunResult
  }
  /** Make a connection the default account of its user */
  readonly setDefaultConnection: {
    readonly method: 'PATCH'
    readonly path: '/v1/connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: { readonly default: true }
    readonly answer: Connection
  }
  /** Set a secret */
  readonly setSecret: {
    readonly method: 'PUT'
    readonly path: '/v1/admin/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: { readonly value: string; readonly description?: string | null | undefined }
    readonly answer: Secret
  }
  /** Set a secret */
  readonly setSecretByPost: {
    readonly method: 'POST'
    readonly path: '/v1/admin/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: { readonly value: string; readonly description?: string | null | undefined }
    readonly answer: Secret
  }
  /** Set a secret */
  readonly setSecretForArcadeCli: {
    readonly method: 'PUT'
    readonly path: '/v1/secrets/{key}'
    readonly params: { readonly key: string }
    readonly query: undefined
    readonly body: { readonly value: string; readonly description?: string | null | undefined }
    readonly answer: Secret
  }
  /** The same status as server-sent events */
  readonly streamAuthorizationStatus: {
    readonly method: 'GET'
    readonly path: '/v1/auth/{id}/events'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Authorization | ErrorBody
    readonly mediaType: 'text/event-stream'
  }
  /** The same status as server-sent events */
  readonly streamCurrentConnectSession: {
    readonly method: 'GET'
    readonly path: '/v1/connect_sessions/current/events'
    readonly params: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: ConnectSession | ErrorBody
    readonly mediaType: 'text/event-stream'
  }
  /** Run a tool and receive its events while it runs */
  readonly streamTool: {
    readonly method: 'POST'
    readonly path: '/v1/tools/run_stream'
    readonly params: undefined
    readonly query: undefined
    readonly body: StreamRunRequest
    readonly answer: StreamEvent
    readonly mediaType: 'text/event-stream'
  }
  /** Ask for a new token of a connection of the project, or have its key checked */
  readonly testConnectionOfProject: {
    readonly method: 'POST'
    readonly path: '/v1/admin/connections/{id}/test'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: SharedConnection
  }
  /** Test which decision the policies make about a use */
  readonly testPolicies: {
    readonly method: 'POST'
    readonly path: '/v1/admin/policies/test'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      readonly user_id?: string | undefined
      /** By default `tool` with `tool_name`, else `token` */
      readonly use?: 'tool' | 'proxy' | 'token' | undefined
      readonly tool_name?: string | undefined
      readonly provider_id?: string | undefined
      readonly scopes?: readonly string[] | undefined
      /**
       * Who owns the connections that are used, where the providers leave that open. Absent: `user` if
       * `user_id` has one or none is shared, else not known
       */
      readonly owner?: 'user' | 'project' | undefined
      readonly host?: string | undefined
      /** Arguments of the tool, for policies about them */
      readonly arguments?: JsonObject | undefined
      /** When; absent: now */
      readonly at?: string | undefined
    }
    readonly answer: PolicyVerdict
  }
  /** Send a test event now */
  readonly testWebhook: {
    readonly method: 'POST'
    readonly path: '/v1/webhooks/{id}/test'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: undefined
    readonly answer: WebhookTest
  }
  /** Try out a worker without registering it */
  readonly testWorker: {
    readonly method: 'POST'
    readonly path: '/v1/workers/test'
    readonly params: undefined
    readonly query: undefined
    readonly body: {
      /** Default: `"test"` */
      readonly id?: string | undefined
      readonly type?: string | null | undefined
      /** Default: `true` */
      readonly enabled?: boolean | undefined
      /**
       * `hold`: a tool whose definition has changed does not run, and keeps its accepted text, until an
       * administrator accepts the new one; new tools wait. `record`: changes apply, on record. `off`: they
       * apply. Default: `hold` for MCP servers, OXP servers and OpenAPI documents at a URL, else `record`;
       * `off` in development
       */
      readonly pinning?: 'hold' | 'record' | 'off' | undefined
      readonly http?: HttpWorkerRegistration | undefined
      readonly mcp?: McpWorkerRegistration | undefined
      readonly openapi?: OpenapiWorkerRegistration | undefined
      readonly oxp?: OxpWorkerRegistration | undefined
    }
    readonly answer: {
      readonly id: string
      readonly enabled: boolean
      readonly healthy: boolean
      readonly message?: string
      readonly tool_count?: number
    }
  }
  /** Change a provider */
  readonly updateAuthProvider: {
    readonly method: 'PATCH'
    readonly path: '/v1/admin/auth_providers/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: AuthProviderUpdateRequest
    readonly answer: AuthProviderResponse
  }
  /** Rename a connection of the project, share it with others, or replace its key */
  readonly updateConnectionOfProject: {
    readonly method: 'PATCH'
    readonly path: '/v1/admin/connections/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      /** What people call it; unique for its provider */
      readonly name?: string | undefined
      /** Members that are left out stay; `null` for `agents` or `tools` means any again */
      readonly shared_with?:
        | {
            /** The ids of users; `*` is any characters */
            readonly users?: readonly string[] | undefined
            /**
             * The ids and names of API keys, and the client ids of MCP clients. Left out: any; `*` is any
             * characters
             */
            readonly agents?: readonly string[] | null | undefined
            /**
             * Names of tools. Left out: any tool, and uses without a tool, such as the proxy and tokens that
             * callers fetch; `*` is any characters
             */
            readonly tools?: readonly string[] | null | undefined
          }
        | undefined
      /**
       * For a provider of the type `credentials`: all its fields (`credentials.fields`), secrets too. The
       * service is asked first; nothing is stored that it refuses
       */
      readonly fields?: { readonly [name: string]: string } | undefined
    }
    readonly answer: SharedConnection
  }
  /** Take the present definitions of a pack */
  readonly updatePack: {
    readonly method: 'POST'
    readonly path: '/v1/packs/{id}/update'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body:
      | {
          /**
           * Only say what would change
           * Default: `false`
           */
          readonly dry_run?: boolean | undefined
        }
      | undefined
    readonly answer: PackUpdate
  }
  /** Change a policy */
  readonly updatePolicy: {
    readonly method: 'PATCH'
    readonly path: '/v1/admin/policies/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      readonly description?: string | null | undefined
      readonly enabled?: boolean | undefined
      /**
       * `deny`: a use that it matches is refused. `allow`: if there are such policies, a use that none of
       * them matches is refused. `hook`: a use that it matches is refused unless the hook permits it.
       * `approve`: a use that it matches waits until a person has approved it.
       */
      readonly effect?: 'allow' | 'deny' | 'hook' | 'approve' | undefined
      readonly match?: PolicyMatch | undefined
      readonly hook?:
        | {
            readonly url?: string | undefined
            /**
             * `arcade`: asked as Arcade's `/pre` hooks are, answers `{"code": "OK"}`. `authzen`: `url` is the
             * address of a policy decision point (AuthZEN 1.0), whose `/access/v1/evaluation` answers
             * `{"decision": true}`
             */
            readonly format?: 'arcade' | 'authzen' | undefined
            readonly timeout_ms?: number | undefined
            /** The decision when the hook fails or its answer is invalid */
            readonly on_failure?: 'deny' | 'allow' | undefined
            /** `null` removes the secret */
            readonly secret?: string | null | undefined
          }
        | undefined
      readonly approve?: PolicyApproval | undefined
    }
    readonly answer: Policy
  }
  /** Change a toolset */
  readonly updateToolset: {
    readonly method: 'PATCH'
    readonly path: '/v1/toolsets/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      /**
       * Names of tools, in any spelling that a tool answers to, with a version or without; `["*"]` is every
       * tool. Answers give the ids of known tools
       */
      readonly tools?: readonly string[] | null | undefined
      readonly namespaces?: readonly string[] | null | undefined
      readonly tags?: readonly string[] | null | undefined
      /** Tools that need one of these providers, by id */
      readonly providers?: readonly string[] | null | undefined
      /**
       * `prefixed`: `Namespace_Tool`, as in the other lists; `bare`: the tool’s own name, or the prefixed
       * one if another tool of the toolset has that name already. A bare name is never given to another tool
       */
      readonly names?: 'prefixed' | 'bare' | undefined
      /** Text for the model about these tools */
      readonly instructions?: string | null | undefined
      /**
       * `all`: MCP clients list every tool; `search`: they list a tool that searches and one that calls.
       * Absent: `search` for more than 128 tools
       */
      readonly listing?: 'all' | 'search' | null | undefined
    }
    readonly answer: ToolsetDetail
  }
  /** Change a webhook */
  readonly updateWebhook: {
    readonly method: 'PATCH'
    readonly path: '/v1/webhooks/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      /** Receives each event by POST. No query, no redirects */
      readonly url?: string | undefined
      readonly description?: string | null | undefined
      /** `null`: all types */
      readonly types?:
        | readonly (
            | 'authorization.completed'
            | 'authorization.failed'
            | 'authorization.expired'
            | 'connection.created'
            | 'connection.refreshed_scopes'
            | 'connection.needs_authorization'
            | 'connection.revoked'
            | 'connection.deleted'
            | 'tool.run.failed'
            | 'worker.requirements_changed'
            | 'approval.requested'
            | 'approval.decided'
            | 'approval.expired'
            | 'worker.tools_changed'
          )[]
        | null
        | undefined
      /** `true` for a disabled webhook: the events that wait for it are sent at once */
      readonly enabled?: boolean | undefined
    }
    readonly answer: Webhook
  }
  /** Change a worker and read its catalogue again */
  readonly updateWorker: {
    readonly method: 'PATCH'
    readonly path: '/v1/workers/{id}'
    readonly params: { readonly id: string }
    readonly query: undefined
    readonly body: {
      readonly enabled?: boolean | undefined
      /**
       * `hold`: a tool whose definition has changed does not run, and keeps its accepted text, until an
       * administrator accepts the new one; new tools wait. `record`: changes apply, on record. `off`: they
       * apply. Default: `hold` for MCP servers, OXP servers and OpenAPI documents at a URL, else `record`;
       * `off` in development
       */
      readonly pinning?: 'hold' | 'record' | 'off' | undefined
      readonly http?: HttpWorkerChange | undefined
      readonly mcp?: McpWorkerChange | undefined
      readonly openapi?: OpenapiWorkerChange | undefined
      readonly oxp?: OxpWorkerChange | undefined
    }
    readonly answer: Worker
  }
  /** Try out a verifier page */
  readonly validateCustomVerifier: {
    readonly method: 'POST'
    readonly path: '/v1/auth/validate_custom_verifier'
    readonly params: undefined
    readonly query: undefined
    readonly body: { readonly user_id: string; readonly verifier_url: string }
    readonly answer: { readonly flow_id: string; readonly next_uri: string }
  }
  /** Prove the project's domain */
  readonly verifyDomain: {
    readonly method: 'POST'
    readonly path: '/v1/admin/projects/{id}/branding/domain/verify'
    readonly params: {
      /** The id or the name of the key's own project */
      readonly id: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Branding
  }
}
