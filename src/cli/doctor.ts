import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { ConfigError } from '../config-error.ts'
import { checkInstallation } from './doctor-installation.ts'
import { checkLogin } from './doctor-login.ts'
import { checkApiKeys, checkProviders, checkServer, checkWorkers } from './doctor-project.ts'
import { CommandFailure } from './failure.ts'
import { faint, MARKS, plain, print, printJson } from './print.ts'
import { type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { readSettings, withBroker } from './with-broker.ts'

/** One thing that was looked at. `failed` does not work; `warning` works, or is not in use yet. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** What to do about it. */
  readonly fix?: string
}

interface DoctorOptions extends CommonOptions {
  readonly production?: true
}

export function defineDoctor(command: Command, shell: Shell): void {
  command
    .option('--production', 'read the settings as serve does')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: DoctorOptions) => {
      const checks = await examine(shell, options)
      const failed = checks.filter(({ status }) => status === 'failed').length
      if (options.json) printJson({ ok: failed === 0, checks })
      else report(checks)
      if (failed > 0) throw new CommandFailure(`${failed} of ${checks.length} checks failed.`)
    })
}

/** The later checks stand on the earlier ones: what cannot be looked at is left out. */
async function examine(shell: Shell, { project, production }: DoctorOptions): Promise<Check[]> {
  const checks: Check[] = [{ name: 'node', status: 'ok', message: `Node ${process.versions.node}` }]
  let config: Config
  try {
    config =
      production === true
        ? readConfig(shell.environment, 'serve')
        : readSettings(shell.environment, { makeKey: false })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [...checks, ...error.faults.map(toFault)]
  }
  checks.push(...settingsChecks(config), ...(await checkLogin(config)))
  const installation = await checkInstallation(shell, config)
  checks.push(...installation.checks)
  if (!installation.opens) return checks
  try {
    await withBroker(shell, { project }, async (opened) => {
      checks.push(await checkApiKeys(opened))
      const server = await checkServer(opened)
      const isUp = server.status === 'ok'
      checks.push(
        server,
        ...(await checkProviders(opened, { isUp })),
        ...(await checkWorkers(opened, { isUp })),
      )
    })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    checks.push({ name: 'project', status: 'failed', message: error.message })
  }
  return checks
}

/** `GATEPASS_X says what is wrong and what it takes.` */
function toFault(fault: string): Check {
  const [variable = ''] = fault.split(' ')
  return { name: 'settings', status: 'failed', message: fault, fix: `Set ${variable} in the environment.` }
}

function settingsChecks({ publicUrl, verifier, development, allowedHosts }: Config): Check[] {
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

function report(checks: readonly Check[]): void {
  const width = Math.max(...checks.map(({ name }) => plain(name).length))
  for (const { name, status, message, fix } of checks) {
    print(`${MARKS[status]} ${faint(plain(name).padEnd(width))}  ${plain(message)}`)
    if (fix !== undefined) print(`${' '.repeat(width + 4)}→ ${plain(fix)}`)
  }
  const warnings = checks.filter(({ status }) => status === 'warning').length
  if (checks.some(({ status }) => status === 'failed')) print()
  else if (warnings === 0) print('\nAll is well.')
  else print(`\nNothing is broken; ${warnings} thing${warnings === 1 ? '' : 's'} to look at.`)
}

const EXAMPLES = `
Examples:
  $ gatepass doctor
  $ gatepass doctor --production --json

Exit code 1 when a check failed; a warning is none.`
