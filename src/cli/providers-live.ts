import { connectionIdOf, consentFindings, revocationFinding } from '../flows/live-test/consent.ts'
import {
  type ComparedDefinition,
  combineFindings,
  type Findings,
  finding,
} from '../flows/live-test/findings.ts'
import { NO_REFRESH, refreshFindings } from '../flows/live-test/refresh.ts'
import type { Authorization, Explanation } from '../sdk/generated/wire.ts'
import { type Api, withApi } from './api.ts'
import { waitForAnswer } from './connect.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import type { CommonOptions, Shell } from './shell.ts'

export interface LiveOptions extends CommonOptions {
  readonly user: string
  readonly scopes?: string[]
  readonly open: boolean
  readonly revoke?: true
  readonly field?: readonly string[]
}

/**
 * Tests an entry by one real consent with its client, a refresh and, with `--revoke`, a revocation. Reports where the
 * provider differs from the definition.
 */
export async function testLive(shell: Shell, id: string, options: LiveOptions): Promise<void> {
  await withApi(shell, options, async (api) => {
    const { oauth2 } = await api.call('getAuthProvider', { params: { id } })
    if (oauth2 === undefined || oauth2.grant !== undefined) {
      const { testAlone } = await import('./providers-live-alone.ts')
      return testAlone(api, id, options)
    }
    if (options.field !== undefined)
      throw new CommandFailure(`Users of "${id}" type nothing: leave out --field.`, EXIT.usage)
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

async function consentOf(api: Api, definition: ComparedDefinition, { cause, ...told }: Explanation) {
  const explained = { ...told, cause: cause && { ...cause, toDo: cause.to_do } }
  const connectionId = connectionIdOf(explained)
  const connection =
    connectionId === undefined ? undefined : await api.call('getConnection', { params: { id: connectionId } })
  return { findings: consentFindings(definition, explained, connection), connectionId }
}

async function refreshOf(api: Api, definition: ComparedDefinition, connectionId: string): Promise<Findings> {
  if (definition.refresh_request == null) return NO_REFRESH
  if (api.local === undefined)
    return finding('refresh', 'not_tried', 'it is tried only without --url, on the database of the server')
  return refreshFindings(api.local.broker, definition, connectionId)
}

async function revocationOf(api: Api, connectionId: string): Promise<Findings> {
  const { revocation } = await api.call('deleteConnection', { params: { id: connectionId } })
  return revocationFinding(revocation)
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
