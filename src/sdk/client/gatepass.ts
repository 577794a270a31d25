import type * as Wire from '../generated/wire.ts'
import {
  type AccessToken,
  authorize,
  type ConnectOptions,
  type GrantOptions,
  getToken,
} from './access-token.ts'
import { type Admin, createAdmin } from './admin/admin.ts'
import type { Authorization, CompletedAuthorization, PendingAuthorization } from './authorization.ts'
import { getAuthorization, type StatusOptions, toAuthorization } from './authorizations.ts'
import { type Code, createCode } from './code.ts'
import { type ConnectSessions, createConnectSessions } from './connect-sessions.ts'
import { type Connections, createConnections } from './connections.ts'
import { type ErrorCode, GatepassError } from './errors.ts'
import { createExecutions, createScheduled, type Executions, type Scheduled } from './executions.ts'
import { explain } from './explain.ts'
import { hideBehind } from './hidden.ts'
import { type ErrorOf, isGatepassError } from './is-error.ts'
import { type ClientOptions, readOptions } from './options.ts'
import { createPortalLink, type PortalLink, type PortalOptions } from './portal.ts'
import { createProviderFetch, type ProviderRequest, type ProviderRequestInit } from './provider-fetch.ts'
import type { IsBound } from './tool-call.ts'
import { createTools, type Tools } from './tools.ts'
import { createTransport, type Fetch, type RequestOptions, type Transport, toHeader } from './transport.ts'

/**
 * A client of a Gatepass: it connects users to providers, runs tools for them, and sends requests to providers' APIs
 * with their tokens put in.
 *
 * ```ts
 * const gatepass = new Gatepass() // GATEPASS_URL, GATEPASS_API_KEY
 * const repositories = await gatepass.as('ada').tools.run('GitHub_Repositories', { count: 5 }, {
 *   consent: ({ url }) => console.log('Please approve:', url),
 * })
 * ```
 */
export class Gatepass {
  readonly baseUrl: string
  readonly tools: Tools
  readonly connections: Connections
  /** Sessions in which your pages let users connect. */
  readonly connectSessions: ConnectSessions
  readonly code: Code
  readonly executions: Executions
  readonly scheduled: Scheduled
  /** Administration. Needs a key of the role `admin`; `readonly` suffices to read most of it. */
  readonly admin: Admin
  readonly #transport: Transport

  /** @throws GatepassError `invalid_options` when the URL or the API key is missing */
  constructor(options: ClientOptions = {}) {
    this.#transport = createTransport(readOptions(options))
    this.baseUrl = this.#transport.baseUrl
    this.tools = createTools(this.#transport, undefined)
    this.connections = createConnections(this.#transport, undefined)
    this.connectSessions = createConnectSessions(this.#transport, undefined)
    this.code = createCode(this.#transport, undefined)
    this.executions = createExecutions(this.#transport, undefined)
    this.scheduled = createScheduled(this.#transport)
    this.admin = createAdmin(this.#transport)
    hideBehind(this, `Gatepass(${this.baseUrl})`)
  }

  /**
   * Returns a client with the same methods for one user, without the argument that names the user.
   * @throws GatepassError `invalid_options` without a user
   */
  as(user: string): UserGatepass {
    // an empty user would select the connections of all users
    if (typeof user !== 'string' || user === '')
      throw new GatepassError('invalid_options', 'as() needs the id of a user.')
    return createUserGatepass(this, this.#transport, user)
  }

  /**
   * Connects a user to a provider. The answer is `completed` when a connection covers the scopes already; else show
   * its `url` to the user and `await` its `wait()`. The answer never has the token.
   */
  async connect(
    user: string,
    provider: string,
    options: ConnectOptions = {},
  ): Promise<PendingAuthorization | CompletedAuthorization> {
    const wire = await authorize(this.#transport, user, provider, options)
    // a new authorization cannot have failed
    return toAuthorization(this.#transport, wire) as PendingAuthorization | CompletedAuthorization
  }

  /** An authorization by its id, in the process that began it or in another one. */
  authorization(id: string, options: StatusOptions = {}): Promise<Authorization> {
    return getAuthorization(this.#transport, id, options)
  }

  /**
   * What happened to an authorization (`auth_…`) or a connection (`conn_…`), step by step, and the likely cause of its
   * failure: what to change, and who can. Returns the JSON of the HTTP API unchanged.
   */
  explain(id: string, options?: RequestOptions): Promise<Wire.Explanation> {
    return explain(this.#transport, undefined, id, options)
  }

  /**
   * A valid access token of a user, refreshed if need be. Prefer `fetch`, with which no token reaches this process.
   * @throws AuthorizationRequired when the user must approve first
   */
  token(user: string, provider: string, options: GrantOptions = {}): Promise<AccessToken> {
    return getToken(this.#transport, user, provider, options)
  }

  /**
   * Sends a request to the provider's API; Gatepass adds the user's token. `url` is a URL of the API, or a path below
   * its base URL. Like `fetch`, returns answers of every status.
   * @throws AuthorizationRequired when the user must approve first
   * @throws GatepassError when Gatepass refuses the request
   */
  async fetch(
    user: string,
    provider: string,
    url: string | URL | Request,
    init: ProviderRequestInit = {},
  ): Promise<Response> {
    const { scopes, account, ...standard } = init
    return createProviderFetch(this.#transport, user, provider, { scopes, account })(url, standard)
  }

  /** A plain `fetch` for the provider's API as this user, for clients that take one: octokit, ky, openapi-fetch. */
  fetchFor(user: string, provider: string, request: ProviderRequest = {}): Fetch {
    return createProviderFetch(this.#transport, user, provider, request)
  }

  /**
   * Vouches for the user who came to your verifier page with `flow_id`: call it on your server, with the user of your own
   * session, and redirect the browser to `nextUri`.
   * @throws UserMismatch when the link was made for another user; the authorization has failed then
   */
  async confirmUser(
    { flowId, user }: { readonly flowId: string; readonly user: string },
    options: RequestOptions = {},
  ): Promise<ConfirmedUser> {
    const { auth_id, next_uri } = await this.#transport.call('confirmUser', {
      body: { flow_id: flowId, user_id: user }, // for the same user it has the same effect once or twice
      options,
    })
    return { authorizationId: auth_id, nextUri: next_uri }
  }

  /**
   * Makes a link to the user's own page, where they see and end what they have connected. The link works once:
   * redirect the user's browser to it, after the user has logged in to your application.
   */
  portal(user: string, options: PortalOptions = {}): Promise<PortalLink> {
    return createPortalLink(this.#transport, user, options)
  }

  /** Returns the URL and the headers for an MCP client: for all tools or a toolset, and for a user if one is named. */
  mcp({ toolset, user }: { readonly toolset?: string; readonly user?: string } = {}): McpEndpoint {
    const path = toolset === undefined ? '/mcp' : `/mcp/${encodeURIComponent(toolset)}`
    const as = user === undefined ? {} : { 'x-gatepass-user': toHeader(user) }
    return { url: `${this.baseUrl}${path}`, headers: { ...this.#transport.headers(), ...as } }
  }

  /** Whether this is an error of this library, with this code if one is named. */
  static isError(error: unknown): error is GatepassError
  static isError<Code extends ErrorCode>(error: unknown, code: Code): error is ErrorOf<Code>
  static isError(error: unknown, code?: ErrorCode): boolean {
    return isGatepassError(error) && (code === undefined || error.code === code)
  }
}

/** Gatepass' answer when it has accepted the confirmed user. */
export interface ConfirmedUser {
  readonly authorizationId: string
  /** Redirect the browser there. */
  readonly nextUri: string
}

/** The address of an MCP server, and the headers of each request to it. They hold the API key. */
export interface McpEndpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A client that acts for one user. */
export interface UserGatepass {
  /** The user. */
  readonly user: string
  readonly tools: Tools<IsBound>
  readonly connections: Connections<IsBound>
  readonly connectSessions: ConnectSessions<IsBound>
  readonly code: Code<IsBound>
  readonly executions: Executions<IsBound>
  /** @see Gatepass.connect */
  connect(provider: string, options?: ConnectOptions): Promise<PendingAuthorization | CompletedAuthorization>
  /** @see Gatepass.explain */
  explain(id: string, options?: RequestOptions): Promise<Wire.Explanation>
  /** @see Gatepass.token */
  token(provider: string, options?: GrantOptions): Promise<AccessToken>
  /** @see Gatepass.fetch */
  fetch(provider: string, url: string | URL | Request, init?: ProviderRequestInit): Promise<Response>
  /** @see Gatepass.fetchFor */
  fetchFor(provider: string, request?: ProviderRequest): Fetch
  /** @see Gatepass.confirmUser */
  confirmUser(flow: { readonly flowId: string }, options?: RequestOptions): Promise<ConfirmedUser>
  /** @see Gatepass.portal */
  portal(options?: PortalOptions): Promise<PortalLink>
  /** @see Gatepass.mcp */
  mcp(options?: { readonly toolset?: string }): McpEndpoint
}

function createUserGatepass(gatepass: Gatepass, transport: Transport, user: string): UserGatepass {
  return {
    user,
    tools: createTools<IsBound>(transport, user),
    connections: createConnections<IsBound>(transport, user),
    connectSessions: createConnectSessions<IsBound>(transport, user),
    code: createCode<IsBound>(transport, user),
    executions: createExecutions<IsBound>(transport, user),
    connect: (provider, options) => gatepass.connect(user, provider, options),
    explain: (id, options) => explain(transport, user, id, options),
    token: (provider, options) => gatepass.token(user, provider, options),
    fetch: (provider, url, init) => gatepass.fetch(user, provider, url, init),
    fetchFor: (provider, request) => gatepass.fetchFor(user, provider, request),
    confirmUser: ({ flowId }, options) => gatepass.confirmUser({ flowId, user }, options),
    portal: (options) => gatepass.portal(user, options),
    mcp: (options) => gatepass.mcp({ ...options, user }),
  }
}

export type * as Wire from '../generated/wire.ts'
export type {
  FailureReason,
  FaultCode,
  JsonObject,
  JsonSchema,
  JsonValue,
  ToolAnnotations,
  ToolErrorKind,
} from '../generated/wire.ts'
export type { AccessToken, ConnectOptions, GrantOptions } from './access-token.ts'
export type { Admin, ImportOptions } from './admin/admin.ts'
export type { AuditFilter, AuditList, AuditLog, AuditPage } from './admin/audit.ts'
export type {
  Authorization,
  CompletedAuthorization,
  FailedAuthorization,
  PendingAuthorization,
  WaitOptions,
} from './authorization.ts'
export type { StatusOptions } from './authorizations.ts'
export type { ChainOptions, ChainResult, ChainStep, ChainStepResult } from './chain.ts'
export type { Code, CodeLimits, CodeOptions, CodeOutcome } from './code.ts'
export type {
  Connectable,
  ConnectSession,
  ConnectSessionJson,
  ConnectSessionOptions,
  ConnectSessions,
} from './connect-sessions.ts'
export type { Connection, ConnectionFilter, Connections, DeletedConnection } from './connections.ts'
export {
  AuthorizationFailed,
  AuthorizationRequired,
  AuthorizationTimeout,
  type ClientErrorCode,
  ConnectionError,
  DeniedByPolicy,
  type ErrorCode,
  type ErrorDetails,
  type Fault,
  Forbidden,
  GatepassError,
  InvalidRequest,
  NotFound,
  ProviderUnavailable,
  RateLimited,
  TimeoutError,
  Unauthenticated,
  UserMismatch,
} from './errors.ts'
export type {
  Execution,
  ExecutionAttempt,
  ExecutionDetail,
  ExecutionFilter,
  Executions,
  Scheduled,
} from './executions.ts'
export type { ErrorOf } from './is-error.ts'
export type { ClientOptions } from './options.ts'
export type { List, Page, PageOptions } from './pages.ts'
export type { PortalLink, PortalOptions, PortalRight } from './portal.ts'
export type { ProviderRequest, ProviderRequestInit } from './provider-fetch.ts'
export type { SharedRequirements } from './requirements.ts'
export type {
  RequiredAuthorization,
  RequiredSecret,
  RequiredWorker,
  Tool,
  ToolRequirements,
} from './tool.ts'
export type { CallOptions } from './tool-call.ts'
export { ToolError } from './tool-error.ts'
export type {
  Artifact,
  ArtifactOutcome,
  AuthorizationOutcome,
  ErrorOutcome,
  ScheduledOutcome,
  ToolOutcome,
  ValueOutcome,
} from './tool-outcome.ts'
export type {
  ChunkEvent,
  DoneEvent,
  ErrorEvent,
  ProgressEvent,
  StreamEvent,
  ToolStream,
} from './tool-stream.ts'
export type { ExecuteOptions, RunOptions, ToolFilter, Tools } from './tools.ts'
export type { Fetch, Logger, RequestOptions } from './transport.ts'
