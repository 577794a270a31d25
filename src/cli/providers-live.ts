import { setTimeout as pause } from 'node:timers/promises'
import { BrokerError } from '../domain/errors.ts'
import { findProviderByUid } from '../flows/get-provider.ts'
import { refreshConnection } from '../flows/refresh/refresh-connection.ts'
import { openAccess, openRefreshToken } from '../flows/seal-grant.ts'
import { recordingRequests, type SentRequest } from '../providers/sent-requests.ts'
import type { Authorization, Explanation } from '../sdk/generated/wire.ts'
import { type Api, withApi } from './api.ts'
import { waitForAnswer } from './connect.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { LocalInstallation } from './installation.ts'
import {
  type ComparedDefinition,
  combineFindings,
  compareConsent,
  compareRefresh,
  type Findings,
  finding,
} from './live-findings.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import type { CommonOptions, Shell } from './shell.ts'

export interface LiveOptions extends CommonOptions {
  readonly user: string
  readonly scopes?: string[]
  readonly open: boolean
  readonly revoke?: true
}

/** A younger token is not refreshed (flows/refresh/decide.ts). */
const MIN_AGE_SECONDS = 11

/**
 * Tests an entry by one real consent with its client, a refresh and, with `--revoke`, a revocation. Reports where the
 * provider differs from the definition.
 */
export async function testLive(shell: Shell, id: string, options: LiveOptions): Promise<void> {
  await withApi(shell, options, async (api) => {
    const { oauth2 } = await api.call('getAuthProvider', { params: { id } })
    const begun = await begin(api, id, options)
    const ended = await waitForAnswer(api, begun, options)
    const explained = await api.call('explainAuthorization', { params: { id: begun.id } })
    const { findings, connectionId } = await consentOf(api, oauth2, explained)
    const all = [findings]
    if (connectionId !== undefined) {
      all.push(await refreshOf(api, oauth2, connectionId))
      if (options.revoke) all.push(await revocationOf(api, connectionId))
    }
    report(id, { ...combineFindings(...all), authorizationId: begun.id, connectionId }, options)
    if (ended.status !== 'completed')
      throw new CommandFailure(
        `The consent at "${sanitize(id)}" ended as ${ended.reason ?? 'failed'}.`,
        exitOf(ended),
      )
    if (combineFindings(...all).steps.some(({ outcome }) => outcome === 'failed' || outcome === 'differs'))
      throw new CommandFailure(`The provider "${sanitize(id)}" differs from its definition.`)
  })
}

const exitOf = ({ reason }: Authorization) =>
  reason === 'access_denied' || reason === 'expired' ? EXIT.consentNeeded : EXIT.failed

/** Begins a new consent, even if an earlier one would suffice. */
async function begin(api: Api, id: string, { user: user_id, scopes = [] }: LiveOptions) {
  const auth_requirement = { id, oauth2: { scopes } }
  const body = { auth_requirement, user_id, account: 'new' }
  const begun = await api.call('authorize', { body })
  if (api.local !== undefined) {
    const { requireServer } = await import('./require-server.ts')
    await requireServer(api.local, begun)
  }
  return begun
}

async function consentOf(api: Api, definition: ComparedDefinition, explained: Explanation) {
  const { steps, status, cause, reason } = explained
  const why = cause === undefined ? (reason ?? status) : `${cause.code}: ${cause.message} ${cause.to_do}`
  const exchange = steps.findLast(({ step }) => step === 'code_exchange')?.details
  if (exchange === undefined) return { findings: finding('consent', 'failed', why) }
  const answer = [
    exchange.status === undefined ? (exchange.failure ?? '') : `HTTP ${exchange.status}`,
    `client authentication ${exchange.authentication ?? 'none'}`,
  ].join(', ')
  const stored = steps.findLast(({ step }) => step === 'stored')?.details
  const isStored = status === 'completed' && stored?.connection_id !== undefined
  const scopes = steps.findLast(({ step }) => step === 'sent_to_provider')?.details.scopes ?? []
  const connectionId = isStored ? stored.connection_id : undefined
  const connection =
    connectionId === undefined ? undefined : await api.call('getConnection', { params: { id: connectionId } })
  const userInfo = steps.findLast(({ step }) => step === 'user_info')?.details.received
  const compared = compareConsent(definition, {
    received: exchange.received ?? [],
    isStored,
    asked: scopes,
    granted: connection?.scopes ?? [],
    missing: stored?.missing_scopes ?? [],
    isAccountRead: {
      id: connection !== undefined && !['', connection.id].includes(connection.account.id),
      name: (connection?.account.name ?? '') !== '',
    },
    ...(userInfo !== undefined && { userInfo }),
  })
  const isRefused = exchange.status === undefined || exchange.status > 299 || exchange.error !== undefined
  const findings = combineFindings(
    finding('consent', 'ok', 'the browser came back with a code'),
    finding('code exchange', isStored ? 'ok' : 'failed', isStored ? answer : `${answer}; ${why}`),
    ...(isRefused && !isStored ? [] : [compared]),
  )
  return { findings, connectionId }
}

async function refreshOf(api: Api, definition: ComparedDefinition, connectionId: string): Promise<Findings> {
  if (definition.refresh_request == null)
    return finding('refresh', 'not_tried', 'the definition has no refresh_request')
  if (api.local === undefined)
    return finding('refresh', 'not_tried', 'it is tried only without --url, on the database of the server')
  try {
    return await refreshHere(api.local, definition, connectionId)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return finding('refresh', 'failed', error.message)
  }
}

/** Refreshes the connection in this process, which can compare both refresh tokens without printing them. */
async function refreshHere(
  { broker }: LocalInstallation,
  definition: ComparedDefinition,
  connectionId: string,
): Promise<Findings> {
  const { connections } = broker.store
  const before = await connections.find(connectionId)
  const entry = before && (await findProviderByUid(broker, before.projectId, before.providerUid))
  const used = before && openRefreshToken(broker, before)
  if (before === undefined || entry === undefined || used === undefined)
    return finding('refresh', 'not_tried', 'there is no refresh token')
  const age = broker.now() - before.receivedAt
  if (age >= 0 && age < MIN_AGE_SECONDS) await pause((MIN_AGE_SECONDS - age) * 1000)
  const sent: SentRequest[] = []
  const { accessToken: rejected } = openAccess(broker, before)
  const { outcome } = await recordingRequests(sent, () =>
    refreshConnection(broker, entry, before, { rejected }),
  )
  const request = sent.findLast(({ purpose }) => purpose === 'refresh')
  if (request === undefined) {
    const why = outcome === 'usable' ? 'a running server has refreshed the connection' : 'nothing was sent'
    return finding('refresh', 'not_tried', `${why}: gatepass explain ${connectionId}`)
  }
  const after = await connections.find(connectionId)
  if (outcome !== 'usable' || after === undefined)
    return finding(
      'refresh',
      'failed',
      `HTTP ${request.status ?? request.failure}: gatepass explain ${connectionId}`,
    )
  const isRotated = openRefreshToken(broker, after) !== used
  return compareRefresh(definition, { received: request.received ?? [], isRotated })
}

async function revocationOf(api: Api, connectionId: string): Promise<Findings> {
  const { revocation } = await api.call('deleteConnection', { params: { id: connectionId } })
  if (revocation === 'revoked') return finding('revocation', 'ok', 'the provider revoked the tokens')
  if (revocation === 'unsupported')
    return finding('revocation', 'not_tried', 'the definition has no revocation_request; deleted here')
  return finding('revocation', 'failed', 'the provider did not confirm it; deleted here')
}

interface LiveReport extends Findings {
  readonly authorizationId: string
  readonly connectionId: string | undefined
}

function report(
  id: string,
  { steps, patch, authorizationId, connectionId }: LiveReport,
  options: LiveOptions,
): void {
  const ok = steps.every(({ outcome }) => outcome === 'ok' || outcome === 'not_tried')
  const isPatched = Object.keys(patch).length > 0
  if (options.json) {
    printJson({
      id,
      ok,
      authorization_id: authorizationId,
      connection_id: connectionId,
      steps,
      ...(isPatched && {
        patch: { method: 'PATCH', path: `/v1/admin/auth_providers/${id}`, body: { oauth2: patch } },
        definition: { oauth2: patch },
      }),
    })
    return
  }
  print(
    `${ok ? MARKS.ok : MARKS.failed} ${bold(sanitize(id))}  ${dim(`live, as user ${sanitize(options.user)}`)}`,
  )
  for (const { step, outcome, detail } of steps)
    print(`  ${STEP_MARKS[outcome]} ${step.padEnd(16)}  ${sanitize(detail)}`)
  print(dim(`  each request: gatepass explain ${authorizationId}`))
  if (!isPatched) return
  print(
    `\nPATCH /v1/admin/auth_providers/${sanitize(id)} (gatepass providers set ${sanitize(id)} --file patch.json):`,
  )
  print(JSON.stringify({ oauth2: patch }, null, 2))
  print(dim('In a definition file, set the same members to these values.'))
}

const STEP_MARKS = {
  ok: MARKS.ok,
  differs: MARKS.warning,
  failed: MARKS.failed,
  not_tried: dim('-'),
} as const
