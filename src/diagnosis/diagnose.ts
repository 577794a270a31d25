import type { Config } from '../config.ts'
import type { Check, Diagnosed } from './check.ts'
import { checkLogin } from './check-login.ts'
import { checkApiKeys, checkProviders, checkServer, checkWorkers } from './check-project.ts'

/** Judges the settings, the login, and what the project has. Changes nothing. */
export async function diagnose(diagnosed: Diagnosed): Promise<Check[]> {
  const { config } = diagnosed
  return [...checkSettings(config), ...(await checkLogin(config)), ...(await checkProject(diagnosed))]
}

/** What needs the database open. */
export async function checkProject(diagnosed: Diagnosed): Promise<Check[]> {
  const keys = await checkApiKeys(diagnosed)
  const server = await checkServer(diagnosed)
  const isUp = server.status === 'ok'
  return [
    keys,
    server,
    ...(await checkProviders(diagnosed, { isUp })),
    ...(await checkWorkers(diagnosed, { isUp })),
  ]
}

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
      message: 'GATEPASS_USER_VERIFIER is open: whoever opens a link completes it.',
      fix: 'Set GATEPASS_USER_VERIFIER to the page of your application that confirms users, or to oidc:<issuer>.',
    })
  if (publicUrl.protocol === 'http:')
    checks.push({
      name: 'settings',
      status: 'warning',
      message: `GATEPASS_PUBLIC_URL is ${publicUrl.origin}, without TLS: most providers refuse such a redirect URI.`,
      fix: 'Put TLS before Gatepass and set GATEPASS_PUBLIC_URL to its https origin.',
    })
  return allowedHosts.length === 0
    ? checks
    : [...checks, { name: 'settings', status: 'ok', message: `may also reach ${allowedHosts.join(', ')}` }]
}
