import type { Brand } from './domain/brand.ts'
import type { EpochSeconds } from './domain/clock.ts'
import type { Log } from './domain/log.ts'
import type { SharedConnection } from './domain/shared-connection.ts'
import type { Tool } from './domain/tool.ts'
import type { Worker } from './domain/worker.ts'
import type { Outgoing } from './egress/outgoing.ts'
import type { Definitions } from './providers/catalogue/definitions.ts'
import type { Discover } from './providers/discovery.ts'
import type { LoginClient } from './providers/login-client.ts'
import type { OAuthClient } from './providers/oauth-client.ts'
import type { Client, ProviderEntry } from './providers/provider-entry.ts'
import type { ActivityLog } from './services/activity-log.ts'
import type { AlteredRows } from './services/altered-rows.ts'
import type { AuditLog } from './services/audit-log.ts'
import type { CachedRows } from './services/cached-rows.ts'
import type { CallApprovals } from './services/call-approvals.ts'
import type { Confirmations } from './services/confirmations.ts'
import type { NamedClient } from './services/environment-client.ts'
import type { ExecutionLog } from './services/execution-log.ts'
import type { FeatureSettings } from './services/feature-settings.ts'
import type { DeriveKey } from './services/installation-key.ts'
import type { Liveness } from './services/liveness.ts'
import type { Metrics } from './services/metrics.ts'
import type { Openers } from './services/openers.ts'
import type { PendingLimit } from './services/pending-limit.ts'
import type { ReadCache } from './services/read-cache.ts'
import type { Refreshes } from './services/refresh-table.ts'
import type { CachedConnection } from './services/release.ts'
import type { Tracing } from './services/tracing.ts'
import type { TrailIndex } from './services/trail-index.ts'
import type { UseGate } from './services/use-gate.ts'
import type { UseLog } from './services/use-log.ts'
import type { ProjectSites } from './services/users-origin.ts'
import type { Waiters } from './services/waiters.ts'
import type { Sealer } from './store/seal.ts'
import type { Store } from './store/store.ts'

/** The dependencies of every flow. This file holds only types; `open-broker.ts` creates a broker. */
export interface Broker {
  readonly store: Store
  readonly sealer: Sealer
  /** Sends OAuth requests to providers. */
  readonly oauth: OAuthClient
  /** Sends requests to the issuer at which users log in to the broker. */
  readonly login: LoginClient
  /** The definitions of providers that entries can be made of. */
  readonly definitions: Definitions
  /** Reads an issuer's metadata, through a cache. */
  readonly discover: Discover
  readonly outgoing: Outgoing
  /**
   * Fetches what MCP clients name: their metadata documents and keys. Anyone may name any host, so it reaches nothing that
   * the operator has allowed for other purposes.
   */
  readonly clientDocuments: Outgoing
  readonly now: () => EpochSeconds
  readonly log: Log
  readonly settings: BrokerSettings
  /** Requests that wait for an authorization to settle. */
  readonly waiters: Waiters
  /** Limits the pending authorizations of a project. */
  readonly pending: PendingLimit
  /** Read-through caches, invalidated by store changes. */
  readonly cache: {
    readonly connections: ReadCache<readonly CachedConnection[]>
    /** The provider entries of each project. */
    readonly providers: CachedRows<ProviderEntry>
    /** The tools of each project. */
    readonly catalogue: CachedRows<Tool>
    /** The connections that each project shares. */
    readonly sharedConnections: ReadCache<readonly SharedConnection[]>
    /** Tools by one of their names. */
    readonly tools: ReadCache<readonly Tool[]>
    readonly workers: ReadCache<{ readonly worker?: Worker }>
    /** The keys of the secrets of each project, in lower case. */
    readonly secretKeys: ReadCache<ReadonlySet<string>>
  }
  readonly refreshes: Refreshes
  /** Makes and checks the proof that the `next_uri` of `confirm_user` contains. */
  readonly confirmations: Confirmations
  /** Derives the keys that seal what clients carry between requests, such as cookies. */
  readonly deriveKey: DeriveKey
  /** Knows which processes are alive, so that claims of a dead one are released. */
  readonly liveness: Liveness
  readonly uses: UseLog
  /** Hourly counts, and when users were last seen, for the console. */
  readonly activity: ActivityLog
  readonly metrics: Metrics
  /** Absent where traces are not sent. */
  readonly tracing?: Tracing
  readonly audit: AuditLog
  readonly trailIndex: TrailIndex
  readonly altered: AlteredRows
  readonly history: ExecutionLog
  /** Permits each use of tokens. */
  readonly gate: UseGate
  /** Asks people before calls. Absent where no feature does: what a rule wants approved is then refused. */
  readonly approvals?: CallApprovals | undefined
  readonly sites: ProjectSites
  readonly openers: Openers
  /** The URL of the pages for the project's users: at the project's site, else the public URL. */
  usersUrl(projectId: string): URL
  /** The page on which users of the project end what they have allowed; absent where no feature has it. */
  ownPage(projectId: string): URL | undefined
  /** How the pages of the project look. */
  brandOf(projectId: string): Promise<Brand>
  /** `/callback/<uid>` on the origin of `usersUrl`: a different one for every provider entry (RFC 9700 section 4.4). */
  redirectUri(entry: Pick<ProviderEntry, 'uid' | 'projectId'>): string
  /** The client of the entry, from the entry itself or the environment; `undefined` while it has no client id. */
  clientFor(entry: ProviderEntry): Client | undefined
  /** The client that the environment has under the entry's name, and whether the entry's endpoints may see it. */
  environmentClient(entry: ProviderEntry): NamedClient | undefined
}

export interface BrokerSettings {
  /** Development accepts the providers and secrets that workers declare without asking an administrator. */
  readonly development: boolean
  /** The origin that users and providers see. */
  readonly publicUrl: URL
  readonly authorizationTtlSeconds: number
  readonly verifier: Verifier
  /** Origins that `next_uri` may lead to. */
  readonly nextOrigins: ReadonlySet<string>
  /** `show`: the connect page waits for the user's click; `pass`: it goes on to the provider at once. */
  readonly connectPage: 'show' | 'pass'
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[]
  /** The limit of an API key without a limit of its own; 0: no limit. */
  readonly requestsPerSecond: number
  /** Pending authorizations of one project. */
  readonly maxPending: number
  /** Requests that wait at a time; one key gets at most half of them. */
  readonly maxWaiters: number
  /** The memory for connections with their tokens, in bytes. */
  readonly cacheBytes: number
  readonly mcp: McpSettings
  readonly dashboard: DashboardSettings
  /** The settings of a feature. */
  of<Value>(settings: FeatureSettings<Value>): Value
}

/** The operator's console, `/dashboard`. */
export interface DashboardSettings {
  readonly serve: 'on' | 'off'
  /** Absent: operators log in with an API key alone. */
  readonly issuer?: DashboardIssuer
}

/** The OpenID provider at which operators log in to the console. */
export interface DashboardIssuer {
  /** Exactly the issuer's own identifier. */
  readonly issuer: string
  readonly client: Client
  readonly scopes: readonly string[]
  /** Who may log in. A login gets the roles of all rules that its claims fulfil. */
  readonly rules: readonly DashboardRule[]
}

/** Gives the role in a project to operators whose claim equals the value, or is a list that contains it. */
export interface DashboardRule {
  readonly claim: string
  readonly value: string
  readonly role: 'admin' | 'readonly' | 'approver'
  /** Of an `approver`: the group as whose member they decide about calls. */
  readonly group?: string
  /** The project's name; `*`: every project. */
  readonly project: string
}

/** Who may call `/mcp`. */
export interface McpSettings {
  /** The name of the project that calls with an access token act in. */
  readonly project: string
  /** Origins of web pages that may call `/mcp`, besides the server's own and those of the loopback interface. */
  readonly origins: ReadonlySet<string>
  /** Whether the server listens on the loopback interface only. */
  readonly isLoopbackOnly: boolean
  readonly issuer?: McpIssuer
  /** Whether MCP clients may register themselves (RFC 7591). A client with a client ID metadata document need not. */
  readonly registration: 'on' | 'off'
  /** Whether a client id may be the URL of a client ID metadata document. */
  readonly clientDocuments: 'on' | 'off'
  /** Hosts inside the network that MCP clients may name, as in `GATEPASS_ALLOWED_HOSTS`. */
  readonly clientHosts: readonly string[]
}

/** An authorization server whose access tokens `/mcp` accepts. */
export interface McpIssuer {
  /** Exactly the issuer's own identifier. */
  readonly issuer: string
  /** The value that the claim `aud` must contain; absent: the URL of the resource (RFC 8707). */
  readonly audience?: string
  /** The claim that holds the user id. */
  readonly userClaim: string
}

/** Who verifies that the user who approves is the user for whom the authorization was begun. */
export type Verifier =
  /** No verification beyond the binding to the browser that clicked. */
  | { readonly kind: 'open' }
  /** A page of the caller's, visited between the provider and the token request. */
  | { readonly kind: 'caller'; readonly url: URL }
  | OidcVerifier

/** The broker's own login by OpenID Connect, between the click and the provider. */
export interface OidcVerifier {
  readonly kind: 'oidc'
  /** Exactly the issuer's own identifier. */
  readonly issuer: string
  /** The broker's registration there; without a secret it is a public client. */
  readonly client: Client
  readonly scopes: readonly string[]
  /** The claim that must equal the authorization's `userId`. */
  readonly claim: string
}
