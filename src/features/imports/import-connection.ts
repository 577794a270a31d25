import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Account, type Connection, NEW_CONNECTION, type ProofKey } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newOwnedId } from '../../domain/ids.ts'
import { accountWithin, isUnnamed } from '../../flows/connection-of-grant.ts'
import { getAccessToken } from '../../flows/get-access-token.ts'
import { getActiveProvider, providerIdentity, registeredClient } from '../../flows/get-provider.ts'
import { sealGrant } from '../../flows/seal-grant.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { lacksValues } from '../../providers/connection-values.ts'
import { fieldNames, writeSecrets } from '../../providers/credentials.ts'
import { DPOP_ALGORITHMS, fitsDpop, parseProofKey } from '../../providers/dpop.ts'
import { mergedExtra } from '../../providers/extra-members.ts'
import { keptValuesOf, namedValues } from '../../providers/kept-values.ts'
import { OAUTH1_TOKEN_TYPE } from '../../providers/oauth1/settings.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { isInstalled } from '../../providers/provider-grant.ts'

/** A user's tokens from another installation or product. */
export interface ForeignConnection {
  readonly userId: string
  /** The entry's id, or its well-known id. */
  readonly providerId: string
  readonly accessToken: string
  readonly refreshToken?: string
  readonly tokenType: string
  /** Absent: unknown. */
  readonly expiresAt?: EpochSeconds
  readonly scopes: readonly string[]
  /** The account as the provider names it; its id is empty if it is not known. */
  readonly account: Account
  readonly userInfo: Readonly<Record<string, unknown>>
  readonly extra?: Readonly<Record<string, unknown>>
  /** Values by the names that the provider entry gives them. */
  readonly keptValues: Readonly<Record<string, string>>
  /** The key that the tokens are bound to, as a JWK with `alg`. */
  readonly dpopKey?: Readonly<Record<string, string>>
  /** What signs requests with the token, where it is one of OAuth 1.0a. */
  readonly tokenSecret?: string
  readonly isDefault: boolean
}

export interface RefusedRow {
  readonly result: 'refused'
  readonly member: string
  readonly reason: string
}

export type ImportOutcome =
  | {
      readonly result: 'created' | 'replaced' | 'present'
      readonly connectionId: string
      readonly check?: TokenCheck
      /** Why the connection could not be checked. */
      readonly reason?: string
    }
  | RefusedRow

/**
 * The result of a refresh after the import. `refused`: the user must approve again; `not_possible`: the connection
 * cannot be refreshed.
 */
export type TokenCheck = 'refreshed' | 'refused' | 'unavailable' | 'not_possible'

export interface ImportOptions {
  /** A connection of the same user, provider and account is replaced; else it stays and the row is skipped. */
  readonly replaces: boolean
  /** Each stored connection is refreshed once. */
  readonly checks: boolean
}

/**
 * Imported tokens count as received this long ago at least, because a token that was just received is not refreshed on
 * demand.
 */
const RECEIVED_SECONDS_AGO = 60

/**
 * Seals the tokens and stores the connection with its audit entry in one transaction. User, provider and account
 * identify a connection, so a row that was imported before is recognised. An account without an id is identified by
 * its name, until a consent gives the connection the id.
 */
export async function importConnection(
  broker: Broker,
  projectId: string,
  row: ForeignConnection,
  { replaces, checks }: ImportOptions,
): Promise<ImportOutcome> {
  const refused = (member: string, reason: string): ImportOutcome => ({ result: 'refused', member, reason })
  const entry = await usableEntry(broker, projectId, row.providerId)
  if ('fault' in entry) return refused('provider_id', entry.fault)
  if (isInstalled(entry.provider))
    return refused(
      'provider_id',
      'is a provider whose users choose an installation of the client. Only the provider tells which are theirs, so each user has to approve again',
    )
  const { told, faults } = namedValues(entry.provider, row.keptValues)
  const [fault] = faults
  if (fault !== undefined)
    return refused(
      `kept_values.${fault}`,
      'is not a value that the provider entry keeps, or does not match its pattern',
    )
  const dpopKey = row.dpopKey && parseProofKey(row.dpopKey)
  if (row.dpopKey !== undefined && dpopKey === undefined)
    return refused('dpop_key', `is not a private key as a JWK with alg (${DPOP_ALGORITHMS.join(', ')})`)
  if (!fitsDpop(entry.provider, { dpopKey }))
    return refused(
      'dpop_key',
      dpopKey === undefined
        ? 'is missing: the provider entry has oauth2.dpop, so tokens are of no use without their key'
        : 'is of no use: the provider entry has no oauth2.dpop',
    )
  const secrets = importedSecrets(entry.provider, row.accessToken)
  if (secrets === undefined)
    return refused(
      'access_token',
      'must be a JSON object with the secret fields of the provider, since its users type several',
    )
  if (!fitsLogin(entry.provider, row))
    return refused(
      'refresh_token',
      'must be a JSON object with the secret fields of the provider, which its login is made of',
    )
  const values = keptValuesOf(entry.provider, told)
  if ((entry.provider.oauth1 === undefined) !== (row.tokenSecret === undefined))
    return refused(
      'token_secret',
      row.tokenSecret === undefined
        ? 'is missing: tokens of OAuth 1.0a are of no use without their secret'
        : 'is of no use: the provider entry is not of the type oauth1',
    )
  const { refreshRequest, renewalRequest } = registeredClient(broker, entry, values).provider
  const request = renewalRequest ?? (row.refreshToken === undefined ? undefined : refreshRequest)
  if (request !== undefined && lacksValues(request))
    return refused('kept_values', 'lacks a value that the endpoint for refreshes names')
  const now = broker.now()
  if (row.refreshToken === undefined && row.expiresAt !== undefined && row.expiresAt <= now)
    return refused('expires_at', 'has passed, and there is no refresh token: the user must approve again')

  const owner = { projectId, userId: row.userId, providerUid: entry.uid }
  const { id: accountId, name } = accountWithin(entry.provider, row.account, row.keptValues)
  const others = await broker.store.connections.ofOwner(owner)
  const ofId = others.find((candidate) => candidate.account.id === accountId)
  const known =
    row.account.id === ''
      ? others.find((candidate) => isUnnamed(candidate, accountId) && candidate.account.name === name)
      : ofId
  if (known !== undefined && !replaces) return { result: 'present', connectionId: known.id }
  const id = known?.id ?? newOwnedId('conn', projectId, row.userId)
  // of several accounts without an id, one has none and each other one the id of its connection
  const account = { id: known?.account.id ?? (ofId === undefined ? accountId : id), name }
  const connection = toConnection(
    broker,
    entry,
    { ...row, accessToken: secrets, account },
    { ...owner, id, kept: told, dpopKey },
  )
  const audit = broker.audit.of(projectId, {
    action: 'connection.imported',
    userId: row.userId,
    providerId: entry.id,
    connectionId: connection.id,
    scopes: row.scopes,
    fingerprint: broker.audit.fingerprint(row.accessToken),
  })
  const result = await store(broker, connection, { replaces, makeDefault: row.isDefault }, audit)
  if (result === 'present' || !checks) return { result, connectionId: connection.id }
  return { result, connectionId: connection.id, ...(await check(broker, entry, connection)) }
}

/** What is stored in place of an access token: of typed credentials, the secret fields. */
function importedSecrets(provider: Provider, accessToken: string): string | undefined {
  const { credentials, tokenRequest } = provider
  if (credentials === undefined || tokenRequest !== undefined) return accessToken
  const names = fieldNames(credentials, { secret: true })
  const [only = '', ...others] = names
  const parsed = jsonRecord(accessToken)
  if (parsed !== undefined && hasTexts(parsed, names)) return accessToken
  return others.length === 0 ? writeSecrets({ [only]: accessToken }) : undefined
}

/** Whether the refresh token, if there is one, is what an entry with a login keeps: the secret fields. */
function fitsLogin({ credentials, tokenRequest }: Provider, { refreshToken }: ForeignConnection): boolean {
  if (credentials === undefined || tokenRequest === undefined || refreshToken === undefined) return true
  return hasTexts(jsonRecord(refreshToken) ?? {}, fieldNames(credentials, { secret: true }))
}

/** Whether the record has these members alone, all of them texts. */
function hasTexts(record: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return (
    names.every((name) => typeof record[name] === 'string') && Object.keys(record).length === names.length
  )
}

function jsonRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Tokens are bound to the client that got them, so the entry must have its client before they are stored. */
async function usableEntry(
  broker: Broker,
  projectId: string,
  providerId: string,
): Promise<ProviderEntry | { readonly fault: string }> {
  try {
    const entry = await getActiveProvider(broker, projectId, { providerId })
    registeredClient(broker, entry)
    return entry
  } catch (error) {
    if (error instanceof BrokerError) return { fault: error.message }
    throw error
  }
}

function toConnection(
  broker: Broker,
  entry: ProviderEntry,
  foreign: ForeignConnection,
  row: Pick<Connection, 'id' | 'projectId' | 'userId' | 'providerUid'> & {
    readonly kept: Readonly<Record<string, string>>
    readonly dpopKey: ProofKey | undefined
  },
): Connection {
  const { kept, dpopKey, ...place } = row
  const { accessToken, tokenSecret, refreshToken, scopes, account, userInfo, extra, expiresAt } = foreign
  const tokenType = entry.provider.oauth1 === undefined ? foreign.tokenType : OAUTH1_TOKEN_TYPE
  const limited = mergedExtra(extra)
  const now = broker.now()
  const { defaultExpiresIn = 0 } = entry.provider
  const latest = now - RECEIVED_SECONDS_AGO
  const received = {
    accessToken,
    userInfo: mergedExtra(userInfo) ?? {},
    extra: limited,
    ...(Object.keys(kept).length > 0 && { kept }),
    dpopKey,
    tokenSecret,
    refreshToken,
    tokenType,
    scopes,
    ...(expiresAt !== undefined && expiresAt > now && { expiresIn: expiresAt - now }),
  }
  const tokens = sealGrant(broker, { ...place, account }, received, { provider: entry.provider })
  return {
    ...NEW_CONNECTION,
    ...place,
    ...tokens,
    // of a token's lifetime only the end is known, so it is assumed to have lived as long as the entry says
    receivedAt: expiresAt === undefined ? latest : Math.min(latest, expiresAt - defaultExpiresIn),
    ...(expiresAt !== undefined && { expiresAt }),
    account,
    providerIdentity: providerIdentity(broker, entry),
    createdAt: now,
    consentedAt: now,
  }
}

async function store(
  broker: Broker,
  connection: Connection,
  options: { readonly replaces: boolean; readonly makeDefault: boolean },
  audit: Parameters<Broker['store']['connections']['addImported']>[2],
): Promise<'created' | 'replaced' | 'present'> {
  try {
    return await broker.store.connections.addImported(connection, options, audit)
  } catch (error) {
    // the same account was connected meanwhile
    if (error instanceof BrokerError && error.code === 'already_exists') return 'present'
    throw error
  }
}

async function check(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): Promise<{ readonly check: TokenCheck; readonly reason?: string }> {
  const { id, projectId, userId, refresh } = connection
  if (refresh === undefined || entry.provider.refreshRequest === undefined) return { check: 'not_possible' }
  try {
    const need = { projectId, userId, entry, scopes: [], account: id, forceRefresh: true }
    const token = await getAccessToken(broker, need)
    switch (token.outcome) {
      case 'ready':
        return { check: 'refreshed' }
      case 'authorization_required':
        return { check: 'refused' }
      case 'provider_unavailable':
        return { check: 'unavailable', reason: token.message }
    }
  } catch (error) {
    // the client is wrong, or the entry was changed meanwhile: the connection is not affected
    if (error instanceof BrokerError) return { check: 'unavailable', reason: error.message }
    throw error
  }
}
