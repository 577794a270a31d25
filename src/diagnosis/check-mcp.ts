import type { Config } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { createOutgoing } from '../egress/outgoing.ts'
import { verifierName } from '../flows/user-session.ts'
import { createDiscovery } from '../providers/discovery.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { readWellKnown } from '../providers/well-known.ts'
import type { Check, DiagnosisTarget } from './check.ts'

const name = 'MCP'
/** How many approvals of clients are named. */
const NAMED = 5

/** Checks that the keys of the issuer whose tokens `/mcp` accepts can be read. */
export async function checkMcpIssuer({ mcp, allowedHosts }: Config): Promise<Check[]> {
  if (mcp.issuer === undefined) return []
  const { issuer, audience = 'the URL of the resource', userClaim } = mcp.issuer
  const outgoing = createOutgoing({ allowedHosts })
  try {
    const { jwks_uri: uri } = await createDiscovery(outgoing, systemClock)(issuer)
    const found =
      uri === undefined ? undefined : await readWellKnown(outgoing, new URL(uri), { of: issuer, nothing: [] })
    if (!Array.isArray(found?.keys))
      throw new ProviderRefusal('provider_bad_response', `${issuer} publishes no keys (jwks_uri).`)
    const message = `access tokens of ${issuer}, whose keys can be read, are accepted at /mcp; the audience is ${audience}, the claim "${userClaim}" is the user id`
    return [{ name, status: 'ok', message }]
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    const fix = error.message.includes('GATEPASS_ALLOWED_HOSTS')
      ? `If ${issuer} is yours, list its host in GATEPASS_ALLOWED_HOSTS.`
      : 'GATEPASS_MCP_ISSUER must name the issuer exactly as it calls itself.'
    return [
      {
        name,
        status: 'failed',
        message: `Access tokens of ${issuer} cannot be checked: ${error.message}`,
        fix,
      },
    ]
  } finally {
    await outgoing.close()
  }
}

/** Checks that the project exists in which users with an access token call `/mcp`. */
export async function checkMcpProject({ broker, config }: DiagnosisTarget): Promise<Check[]> {
  const { project } = config.mcp
  if (project === DEFAULT_PROJECT) return [] // the start creates it
  if ((await broker.store.projects.findByName(project)) !== undefined) return []
  return [
    {
      name,
      status: 'failed',
      message: `GATEPASS_MCP_PROJECT names the project "${project}", which does not exist.`,
      fix: `gatepass keys create --project ${project} --role admin`,
    },
  ]
}

/** Checks that the users who have approved MCP clients were identified by the verifier of the settings. */
export async function checkMcpApprovals({
  broker,
  config,
}: Pick<DiagnosisTarget, 'broker' | 'config'>): Promise<Check[]> {
  const others = await broker.store.mcpConsents.ofOtherVerifiers(verifierName(config.verifier), NAMED)
  if (others.total === 0) return []
  const named = others.some.map(({ clientName, userId }) => `${clientName} of ${userId}`)
  const rest = others.total - named.length
  const all = [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
  return [
    {
      name,
      status: 'warning',
      message: `MCP clients that users approved under another GATEPASS_USER_VERIFIER are refused until they approve again: ${all}.`,
      fix: 'gatepass mcp-clients list',
    },
  ]
}
