import { setTimeout as pause } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { recordingRequests, type SentRequest } from '../../providers/sent-requests.ts'
import { findProviderByUid } from '../get-provider.ts'
import { refreshConnection } from '../refresh/refresh-connection.ts'
import { openAccess, openRefreshToken } from '../seal-grant.ts'
import { type ComparedDefinition, compareRefresh, type Findings, finding } from './findings.ts'

/** A younger token is not refreshed (flows/refresh/decide.ts). */
const MIN_AGE_SECONDS = 11

/**
 * Refreshes the connection of a live test in this process, which can compare both refresh tokens without showing them, and
 * compares the answer with the definition. Waits until the token is old enough, eleven seconds at most.
 */
export async function refreshFindings(
  broker: Broker,
  definition: ComparedDefinition,
  connectionId: string,
  signal?: AbortSignal,
): Promise<Findings> {
  if (definition.refresh_request == null) return NO_REFRESH
  try {
    return await refresh(broker, definition, connectionId, signal)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return finding('refresh', 'failed', error.message)
  }
}

export const NO_REFRESH = finding('refresh', 'not_tried', 'the definition has no refresh_request')

async function refresh(
  broker: Broker,
  definition: ComparedDefinition,
  connectionId: string,
  signal: AbortSignal | undefined,
): Promise<Findings> {
  const { connections } = broker.store
  const before = await connections.find(connectionId)
  const entry = before && (await findProviderByUid(broker, before.projectId, before.providerUid))
  const used = before && openRefreshToken(broker, before)
  if (before === undefined || entry === undefined || used === undefined)
    return finding('refresh', 'not_tried', 'there is no refresh token')
  const age = broker.now() - before.receivedAt
  if (age >= 0 && age < MIN_AGE_SECONDS)
    await pause((MIN_AGE_SECONDS - age) * 1000, undefined, signal === undefined ? {} : { signal })
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
