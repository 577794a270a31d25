import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'
import type { Broker } from '../../src/broker.ts'
import type { Sealed } from '../../src/domain/sealed.ts'
import type { StoreChange } from '../../src/store/changes.ts'
import { sealingContext } from '../../src/store/protected-tables.ts'
import type { SealedColumn, StoredEnvelope } from '../../src/store/protection.ts'
import { keyId, type SealingContext } from '../../src/store/seal.ts'
import { SEALED_COLUMNS } from '../../src/store/store-parts.ts'
import type { FakeWorker } from '../fake-worker.ts'
import { startFakeWorker } from '../fake-worker.ts'
import { featureParts } from '../feature-parts.ts'
import {
  type Approved,
  confirmAndGoOn,
  type Scene,
  type SceneOptions,
  startScene,
} from '../flows/fixtures.ts'
import type { Answer } from '../gatepass.ts'
import type { UserAgent } from '../user-agent.ts'
import { execution, mcpRecord, pageSession, scheduledRun, storedFile, suspendedCall } from './fixtures.ts'

export const VERIFIER = 'https://app.example/verify'

/** An installation with at least two envelopes in every sealed column, and the users and flows that need them. */
export interface SealedInstallation extends AsyncDisposable {
  readonly scene: Scene
  readonly worker: FakeWorker
  /** Connections of these users at `demo`. */
  readonly users: readonly string[]
  /** Authorizations whose browser has come back from the provider, and whose user is not confirmed yet. */
  readonly confirming: readonly {
    readonly id: string
    readonly userId: string
    readonly flowId: string
    readonly browser: UserAgent
  }[]
  /** Authorizations that were approved, whose redirect back the browser has not yet followed. */
  readonly approved: readonly (Approved & { readonly userId: string })[]
}

export async function startSealedInstallation(options: SceneOptions = {}): Promise<SealedInstallation> {
  const scene = await startScene({
    ...options,
    as: { refresh: 'rotate', ...options.as },
    gatepass: {
      ...options.gatepass,
      environment: { GATEPASS_USER_VERIFIER: VERIFIER, ...options.gatepass?.environment },
    },
  })
  const worker = await startFakeWorker({
    secret: 'the secret of the worker',
    requirement: { scopes: ['read'] },
  })
  const { call } = scene
  const other = await scene.gatepass.makeKey('admin', 'other')
  for (const key of [scene.gatepass.apiKey, other]) {
    for (const id of ['one', 'two']) {
      const http = { uri: worker.url, secret: 'the secret of the worker', timeout: 60, retry: 0 }
      await call('POST', '/v1/workers', { id: `${id}-${key === other}`, http }, { key })
      await call('POST', `/v1/admin/secrets/KEY_${id}`, { value: `the value of ${id}` }, { key })
      if (key !== other) await addWithKey(scene, id)
    }
  }
  await call('POST', '/v1/admin/auth_providers', providerLike(scene), { key: other })

  await addOtherEnvelopes(scene.gatepass.broker)

  const users = ['ada', 'bob']
  for (const user_id of users) {
    const { browser, callback } = await scene.approve({ user_id })
    const flowId = await comeBack({ browser, callback })
    await confirmAndGoOn(scene, { browser, flowId, userId: user_id })
  }
  const confirming: SealedInstallation['confirming'][number][] = []
  for (const userId of ['eve', 'fay']) {
    const { id, browser, callback } = await scene.approve({ user_id: userId })
    confirming.push({ id, userId, browser, flowId: await comeBack({ browser, callback }) })
  }
  const approved: SealedInstallation['approved'][number][] = []
  for (const userId of ['cyd', 'dan'])
    approved.push({ userId, ...(await scene.approve({ user_id: userId })) })

  return {
    scene,
    worker,
    users,
    confirming,
    approved,
    async [Symbol.asyncDispose]() {
      await worker.close()
      await scene[Symbol.asyncDispose]()
    },
  }
}

const ofFeatures = await featureParts<(broker: Broker, projectId: string) => Promise<unknown>>('sealed-rows')

/** Stores a row of every other noun with a sealed column, in each project. */
async function addOtherEnvelopes(broker: Broker): Promise<void> {
  const { store, sealer } = broker
  for (const { id: projectId } of await store.projects.list()) {
    const [waiting, ended] = [scheduledRun({ projectId, runAt: 5_000_000_000 }), execution({ projectId })]
    const sealedIn = (id: string, column: 'request' | 'result') =>
      sealer.seal(`the ${column} of ${id}`, sealingContext('executions', column, { id, projectId }))
    await store.executions.add([
      { ...waiting, request: sealedIn(waiting.id, 'request') },
      { ...ended, request: sealedIn(ended.id, 'request'), result: sealedIn(ended.id, 'result') },
    ])
    const record = mcpRecord({ model: 'Client', expiresAt: 5_000_000_000 })
    const place = sealingContext('mcpRecords', 'payload', { model: record.model, id: record.id })
    await store.mcpRecords.put({ ...record, payload: sealer.seal('the client', place) })
    const asking = suspendedCall({ projectId, expiresAt: 5_000_000_000 })
    const payload = sealer.seal(
      'the question',
      sealingContext('suspendedCalls', 'payload', { id: asking.id, projectId }),
    )
    await store.suspendedCalls.add({ ...asking, payload })
    const file = storedFile({ projectId, expiresAt: 5_000_000_000 })
    const content = sealer.seal(
      'the content',
      sealingContext('storedFiles', 'content', { id: file.id, projectId }),
    )
    await store.storedFiles.add({ ...file, content })
    const session = pageSession({ projectId, expiresAt: 5_000_000_000 })
    const rights = sealer.seal(
      'the rights',
      sealingContext('pageSessions', 'payload', { id: session.id, projectId }),
    )
    await store.pageSessions.add({ ...session, payload: rights })
    for (const addRow of ofFeatures) await addRow(broker, projectId)
  }
}

/** Adds a provider with an Idempotency-Key, so that the answer is stored. */
export async function addWithKey(scene: Scene, id: string): Promise<Answer> {
  const provider = { ...providerLike(scene), id: `kept-${id}` }
  const headers = { 'idempotency-key': `key of ${id}` }
  return scene.call('POST', '/v1/admin/auth_providers', provider, { headers })
}

function providerLike({ as }: Scene) {
  return {
    id: 'demo',
    oauth2: {
      client_id: as.clientId,
      client_secret: as.clientSecret,
      authorize_request: { endpoint: as.authorizationUrl },
      token_request: { endpoint: as.tokenUrl },
    },
  }
}

/** Follows the provider's redirect back; returns the flow id in the redirect to the verifier page. */
export async function comeBack({
  browser,
  callback,
}: {
  readonly browser: UserAgent
  readonly callback: URL
}): Promise<string> {
  const page = await browser.get(callback)
  const location = page.response.headers.get('location')
  if (location === null) throw new Error(`${page.status} instead of a redirect to the verifier: ${page.body}`)
  return new URL(location).searchParams.get('flow_id') ?? ''
}

/** Every envelope of the installation, in its place. */
export async function envelopesOf({ store }: Pick<Broker, 'store'>): Promise<readonly FoundEnvelope[]> {
  const found: FoundEnvelope[] = []
  for (const column of SEALED_COLUMNS)
    for (const one of await store.envelopes.ofOtherKeys(column, 'none of them', '', 1_000))
      found.push({ ...one, column })
  return found
}

export interface FoundEnvelope extends StoredEnvelope {
  readonly column: SealedColumn
}

/** An envelope as 0.1.0 sealed: the key of a row was made by HKDF alone. */
export function sealedBefore(masterKey: Buffer, text: string, context: SealingContext): Sealed {
  const { table, column, rowId, projectId, userId = '', providerUid = '' } = context
  const rowKey = Buffer.from(hkdfSync('sha256', masterKey, rowId, `gatepass/row/${table}`, 32))
  const nonce = randomBytes(12)
  const id = keyId(masterKey)
  const cipher = createCipheriv('aes-256-gcm', rowKey, nonce)
  cipher.setAAD(Buffer.from(JSON.stringify(['v1', id, table, column, rowId, projectId, userId, providerUid])))
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  const parts = [nonce, ciphertext, cipher.getAuthTag()].map((bytes) => bytes.toString('base64url'))
  return ['v1', id, ...parts].join('.') as Sealed
}

/** Overwrites an envelope in the database, as an intruder or a broken disk would. */
export function overwrite(databasePath: string, { column, rowId }: FoundEnvelope, envelope: string): void {
  const client = new Database(databasePath)
  const { changes } = client
    .prepare(`update ${column.table} set ${column.column} = ? where ${column.id} = ?`)
    .run(envelope, rowId)
  client.close()
  if (changes !== 1) throw new Error('there is no such row')
}

/** Announces a change as another process does after a write, so that this process reads the rows again. */
export function announce(databasePath: string, change: StoreChange): void {
  const client = new Database(databasePath)
  client.prepare('insert into changes (writer, change) values (?, ?)').run('another', JSON.stringify(change))
  client.close()
}

/** Ways to alter the envelope of one row; `other` is the envelope of another row. */
export const DAMAGES: Readonly<Record<string, (one: Sealed, other: Sealed) => string>> = {
  'a bit flipped': (one) => flipped(one),
  'cut short': (one) => truncated(one),
  'taken from another row': (_, other) => other,
  'no envelope at all': () => 'plain',
}

/** The envelope with one bit of its ciphertext flipped. */
export function flipped(sealed: Sealed): string {
  return changed(sealed, (bytes) => {
    bytes[0] = (bytes[0] ?? 0) ^ 1
    return bytes
  })
}

export function truncated(sealed: Sealed): string {
  return changed(sealed, (bytes) => bytes.subarray(0, -1))
}

function changed(sealed: Sealed, change: (bytes: Buffer) => Buffer): string {
  const parts = sealed.split('.')
  parts[3] = change(Buffer.from(parts[3] ?? '', 'base64url')).toString('base64url')
  return parts.join('.')
}
