import type { Config } from '../config.ts'
import { loadFeatures } from '../features/load-features.ts'
import { administersInstallation } from '../flows/manage-keys.ts'
import type { Check, DiagnosisTarget } from './check.ts'
import { checkAuthorizations, checkConnections } from './check-connections.ts'
import { checkDurability } from './check-durability.ts'
import { checkMasterKeys } from './check-keys.ts'
import { checkLogin } from './check-login.ts'
import { checkMcpApprovals, checkMcpIssuer, checkMcpProject } from './check-mcp.ts'
import { checkApiKeys, checkProviders, checkServer, checkWorkers } from './check-project.ts'
import { checkToolNames } from './check-tool-names.ts'

/**
 * Checks a project: keys, providers, workers and what else it has. The settings and logins of the installation are checked
 * only for its administrators, since they reveal other projects and the operator's network. Changes nothing.
 */
export async function diagnose(target: DiagnosisTarget): Promise<Check[]> {
  const { config, project } = target
  if (!administersInstallation(project)) return checkProject(target)
  return [
    ...checkSettings(config),
    ...(await checkDurability(target.broker)),
    ...(await checkMasterKeys(target.broker)),
    ...(await checkLogin(config)),
    ...(await checkMcpIssuer(config)),
    ...(await Promise.all(ofInstallation.map((check) => check(config)))).flat(),
    ...(await checkMcpProject(target)),
    ...(await checkMcpApprovals(target)),
    ...(await checkProject(target)),
  ]
}

/** The checks of one project. They read the database. */
export async function checkProject(target: DiagnosisTarget): Promise<Check[]> {
  const keys = await checkApiKeys(target)
  const server = await checkServer(target)
  const isUp = server.status === 'ok'
  return [
    keys,
    server,
    ...(await checkProviders(target, { isUp })),
    ...(await checkAuthorizations(target)),
    ...(await checkConnections(target)),
    ...(await checkWorkers(target, { isUp })),
    ...(await checkToolNames(target)),
    ...(await checksOfFeatures(target)),
  ]
}

const ofFeatures = await loadFeatures('checks')
const ofInstallation = await loadFeatures('installationChecks')

async function checksOfFeatures(target: DiagnosisTarget): Promise<readonly Check[]> {
  return (await Promise.all(ofFeatures.map((check) => check(target)))).flat()
}

/** The checks of the settings themselves. They send no request. */
export function checkSettings({ publicUrl, verifier, development, allowedHosts }: Config): Check[] {
  const mode = development ? 'development' : 'production'
  const checks: Check[] = [
    { name: 'settings', status: 'ok', message: `complete for ${mode}; public URL ${publicUrl.origin}` },
  ]
  if (development) return checks
  if (verifier.kind === 'open')
    checks.push({
      name: 'settings',
      status: 'warning',
      message:
        'GATEPASS_USER_VERIFIER is open: anyone who opens a link can complete it, and MCP clients cannot call this server.',
      fix: 'Set GATEPASS_USER_VERIFIER to the page in your application that confirms users, or to oidc:<issuer>.',
    })
  if (publicUrl.protocol === 'http:')
    checks.push({
      name: 'settings',
      status: 'warning',
      message: `GATEPASS_PUBLIC_URL is ${publicUrl.origin}, without TLS: most providers refuse such a redirect URI.`,
      fix: 'Put TLS in front of Gatepass and set GATEPASS_PUBLIC_URL to its https origin.',
    })
  return allowedHosts.length === 0
    ? checks
    : [...checks, { name: 'settings', status: 'ok', message: `may also reach ${allowedHosts.join(', ')}` }]
}
