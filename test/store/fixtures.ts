import { randomUUID } from 'node:crypto'
import type { ApiKey } from '../../src/domain/api-key.ts'
import type { Attempt, Exchanging, Pending, Step } from '../../src/domain/authorization.ts'
import type { Connection, SealedGrant } from '../../src/domain/connection.ts'
import type { ExecutionRecord } from '../../src/domain/execution.ts'
import { newId } from '../../src/domain/ids.ts'
import type { McpConsent } from '../../src/domain/mcp-consent.ts'
import type { PageSession } from '../../src/domain/page-session.ts'
import type { Sealed } from '../../src/domain/sealed.ts'
import type { Secret } from '../../src/domain/secret.ts'
import type { StoredFile } from '../../src/domain/stored-file.ts'
import type { SuspendedCall } from '../../src/domain/suspended-call.ts'
import type { Tool } from '../../src/domain/tool.ts'
import type { Worker } from '../../src/domain/worker.ts'
import type { ProviderEntry } from '../../src/providers/provider-entry.ts'
import type { ConnectionOwner } from '../../src/store/changes.ts'
import type { McpRecord } from '../../src/store/mcp-records.ts'
import type { Store } from '../../src/store/store.ts'

/** Any text in the place of an encrypted envelope: a store never decrypts one. */
export function sealed(text: string): Sealed {
  return text as Sealed
}

export interface OpenedStore extends AsyncDisposable {
  readonly store: Store
  /** The same database, opened a second time, as another process opens it. */
  readonly other: Store
  /** Changes rows without the store, such as their times, which the database's clock sets and no test can move. */
  sql(text: string): Promise<unknown>
}

/** A project with one provider. */
export async function inProject(store: Store, name = 'default') {
  const { id: projectId } = await store.projects.ensure(name, 1)
  const entry = providerEntry({ projectId })
  await store.providers.add(entry)
  const owner: ConnectionOwner = { projectId, providerUid: entry.uid, userId: 'ada' }
  return { projectId, entry, owner }
}

export function providerEntry(of: Partial<ProviderEntry> & Pick<ProviderEntry, 'projectId'>): ProviderEntry {
  const block = {
    method: 'POST',
    params: {},
    authMethod: 'client_secret_basic',
    requestContentType: 'application/x-www-form-urlencoded',
    responseContentType: 'application/json',
  } as const
  return {
    uid: newId('prov'),
    id: 'demo',
    name: 'Demo',
    status: 'active',
    source: 'admin',
    provider: {
      displayName: 'Demo',
      pkce: 'S256',
      scopeSeparator: ' ',
      defaultScopes: [],
      authorizationRequest: { endpoint: 'https://demo.example.test/authorize', params: {} },
      tokenRequest: { ...block, endpoint: 'https://demo.example.test/token' },
      tokenTypes: [],
      account: { id: [], name: [] },
    },
    createdAt: 1,
    updatedAt: 1,
    ...of,
  }
}

export function pending(
  { projectId, providerUid, userId }: ConnectionOwner,
  of: Partial<Pending> = {},
): Pending {
  const steps: readonly Step[] = [{ providerUid, scopes: ['read'] }]
  const id = newId('auth')
  return { id, projectId, userId, status: 'pending', steps, step: 0, createdAt: 0, expiresAt: 600, ...of }
}

export function attempt(stateHash: string, of: Partial<Attempt> = {}): Attempt {
  return { stateHash, browserHash: 'browser', secrets: sealed('verifier'), startedAt: 0, ...of }
}

export function connection(owner: ConnectionOwner, of: Partial<Connection> = {}): Connection {
  return {
    ...owner,
    id: newId('conn'),
    account: { id: 'u-1', name: 'Ada' },
    scopes: ['read'],
    status: 'active',
    tokenType: 'Bearer',
    receivedAt: 0,
    expiresAt: 3600,
    access: sealed('access 1'),
    refresh: sealed('refresh 1'),
    providerIdentity: 'identity',
    isDefault: false,
    generation: 1,
    unansweredRefreshes: 0,
    createdAt: 0,
    consentedAt: 0,
    withheldScopes: {},
    ...of,
  }
}

export function refreshed(of: Partial<SealedGrant> = {}): SealedGrant {
  return {
    access: sealed('access 2'),
    refresh: sealed('refresh 2'),
    tokenType: 'Bearer',
    scopes: ['read'],
    receivedAt: 3600,
    expiresAt: 7200,
    ...of,
  }
}

/** The claim of a process to redeem a code, until `deadline`. */
export function until(deadline: number, claimedBy = 'process_1') {
  return { from: 'pending', deadline, claimedBy } as const
}

/** An authorization whose attempt with this state has just been claimed, until `deadline`. */
export async function claimed(
  store: Store,
  owner: ConnectionOwner,
  {
    state = 's1',
    deadline = 30,
    claimedBy,
    ...of
  }: Partial<Pending> & { state?: string; deadline?: number; claimedBy?: string } = {},
): Promise<Exchanging> {
  const begun = await store.authorizations.begin(pending(owner, of), `share ${state}`, 0)
  await store.authorizations.attempt(begun.id, begun.step, attempt(state), 0)
  return defined(await store.authorizations.claim(state, 0, until(deadline, claimedBy)))
}

/** Stores the connection as a consent does, and returns the stored one. */
export async function connected(
  store: Store,
  owner: ConnectionOwner,
  of: Partial<Connection> = {},
  { makeDefault = false } = {},
): Promise<Connection> {
  const fresh = connection(owner, of)
  const claim = await claimed(store, owner, { state: newId('auth') })
  defined(await store.authorizations.finishStep(claim, fresh, { makeDefault }, 1))
  return defined(await store.connections.find(fresh.id))
}

export function tool(of: Partial<Tool> & Pick<Tool, 'projectId'>): Tool {
  return {
    uid: newId('tool'),
    name: 'Whoami',
    namespace: 'demo',
    version: '1.0.0',
    title: 'Who am I',
    description: 'Says who approved.',
    inputSchema: { type: 'object' },
    tags: [],
    requirements: { authorization: [], secrets: [], metadata: [] },
    source: { kind: 'metadata', document: {} },
    digest: 'digest',
    createdAt: 1,
    updatedAt: 1,
    ...of,
  }
}

/** Adds the tool, or replaces the one with its `uid`. */
export async function putTool({ tools }: Pick<Store, 'tools'>, put: Tool): Promise<void> {
  await tools.change(put.projectId, { put: [put], removed: [] })
}

export function worker(of: Partial<Worker> & Pick<Worker, 'projectId'>): Worker {
  return {
    uid: newId('work'),
    id: 'worker',
    type: 'http',
    enabled: true,
    uri: 'https://worker.example.test',
    secret: sealed('worker secret'),
    settings: {},
    timeoutSeconds: 5,
    retry: 0,
    createdAt: 1,
    updatedAt: 1,
    ...of,
  }
}

export function secret(of: Partial<Secret> & Pick<Secret, 'projectId'>): Secret {
  return { id: newId('sec'), key: 'API_KEY', value: sealed('value'), createdAt: 1, updatedAt: 1, ...of }
}

/** A run that has ended. */
export function execution(
  of: Partial<ExecutionRecord> & Pick<ExecutionRecord, 'projectId'>,
): ExecutionRecord {
  return {
    id: newId('exec'),
    userId: 'ada',
    toolId: 'demo:Whoami:1.0.0',
    type: 'immediate',
    entryPoint: 'execute',
    status: 'completed',
    outcome: 'value',
    createdAt: 1,
    updatedAt: 1,
    startedAt: 1,
    finishedAt: 1,
    durationMs: 20,
    attempts: 1,
    ...of,
  }
}

/** A scheduled run. */
export function scheduledRun(
  of: Partial<ExecutionRecord> & Pick<ExecutionRecord, 'projectId' | 'runAt'>,
): ExecutionRecord {
  return {
    id: newId('exec'),
    userId: 'ada',
    toolId: 'demo:Whoami:1.0.0',
    type: 'scheduled',
    entryPoint: 'execute',
    status: 'scheduled',
    createdAt: 1,
    updatedAt: 1,
    attempts: 0,
    request: sealed('request'),
    ...of,
  }
}

export function suspendedCall(of: Partial<SuspendedCall> & Pick<SuspendedCall, 'projectId'>): SuspendedCall {
  return {
    id: newId('susp'),
    processId: 'process_1',
    status: 'asking',
    payload: sealed('question'),
    expiresAt: 100,
    ...of,
  }
}

export function storedFile(of: Partial<StoredFile> & Pick<StoredFile, 'projectId'>): StoredFile {
  return {
    id: newId('file'),
    name: 'plan.pdf',
    contentType: 'application/pdf',
    size: 12,
    content: sealed('content'),
    expiresAt: 100,
    ...of,
  }
}

export function pageSession(of: Partial<PageSession> & Pick<PageSession, 'projectId'>): PageSession {
  return {
    id: randomUUID(),
    kind: 'console',
    subject: 'ada',
    payload: sealed('rights'),
    createdAt: 1,
    lastSeenAt: 1,
    expiresAt: 100,
    ...of,
  }
}

export function mcpRecord(of: Partial<McpRecord> & Pick<McpRecord, 'model'>): McpRecord {
  return { id: randomUUID(), payload: sealed('payload'), ...of }
}

export function mcpConsent(of: Partial<McpConsent> & Pick<McpConsent, 'projectId'>): McpConsent {
  return {
    id: newId('mcpc'),
    userId: 'ada',
    clientId: 'c1',
    redirectUri: 'https://client.example.test/callback',
    clientName: 'Client',
    scopes: ['mcp'],
    createdAt: 1,
    ...of,
  }
}

export function apiKey(of: Partial<ApiKey> & Pick<ApiKey, 'projectId'>): ApiKey {
  const id = newId('key')
  return { id, name: 'key', role: 'caller', hash: `hash of ${id}`, createdAt: 1, ...of }
}

export function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the test needs a value, and got undefined')
  return value
}
