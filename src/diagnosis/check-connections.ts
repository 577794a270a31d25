import { type Authorization, currentStep } from '../domain/authorization.ts'
import type { Cause } from '../domain/causes.ts'
import { readTrail } from '../domain/trail.ts'
import { causeOfAuthorization } from '../flows/explain/explain-authorization.ts'
import { causeOfConnection } from '../flows/explain/explain-connection.ts'
import { findProviderByUid } from '../flows/find-provider.ts'
import type { Check, DiagnosisTarget } from './check.ts'

/** The most connections and authorizations that are read. At this number the message says "at least". */
const MOST = 500
/** Authorizations that ended longer ago say little about faults of today. */
const RECENT_SECONDS = 3600

/** Finds connections that do not work, grouped by provider and cause. */
export async function checkConnections({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const troubled = await broker.store.connections.troubled(project.id, MOST)
  const found = new Map<string, Found>()
  for (const connection of troubled) {
    const entry = await findProviderByUid(broker, project.id, connection.providerUid)
    const { entries } = readTrail(connection.trail ?? '')
    const cause = causeOfConnection(broker, connection, entry, entries)
    if (cause !== undefined)
      add(found, `connections at ${entry?.id ?? 'a removed provider'}`, cause, connection.id)
  }
  const more = troubled.length < MOST ? '' : 'at least '
  return [...found.values()].map(({ name, cause, ids: [id = '', ...others] }) =>
    checkOf(name, cause, id, `${more}${others.length + 1} ${others.length === 0 ? 'does' : 'do'} not work`),
  )
}

/** Finds providers whose latest authorization failed for a cause that users cannot remove. */
export async function checkAuthorizations({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const since = broker.now() - RECENT_SECONDS
  const recent = await broker.store.authorizations.endedSince(project.id, since, MOST)
  const latest = new Map<string, Authorization>()
  for (const one of recent) {
    const { providerUid } = currentStep(one)
    if (!latest.has(providerUid)) latest.set(providerUid, one)
  }
  const checks: Check[] = []
  for (const [providerUid, authorization] of latest) {
    if (authorization.status !== 'failed') continue
    const cause = await causeOfAuthorization(broker, authorization)
    if (cause === undefined || cause.who === 'user') continue
    const entry = await findProviderByUid(broker, project.id, providerUid)
    checks.push(
      checkOf(
        `consent at ${entry?.id ?? 'a removed provider'}`,
        cause,
        authorization.id,
        'the latest one failed',
      ),
    )
  }
  return checks
}

interface Found {
  readonly name: string
  readonly cause: Cause
  readonly ids: string[]
}

function add(found: Map<string, Found>, name: string, cause: Cause, id: string): void {
  const key = `${name} ${cause.code}`
  const known = found.get(key) ?? { name, cause, ids: [] }
  known.ids.push(id)
  found.set(key, known)
}

function checkOf(name: string, { code, message, toDo, who }: Cause, id: string, what: string): Check {
  return {
    name,
    status: who === 'user' ? 'warning' : 'failed',
    message: `${what} (${code}): ${message}`,
    fix: `${toDo} Each step: gatepass explain ${id}`,
  }
}
