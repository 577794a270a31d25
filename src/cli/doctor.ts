import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { ConfigError } from '../config-error.ts'
import { readDevelopmentKey } from '../development-key.ts'
import type { Check } from '../diagnosis/check.ts'
import { checkDurability } from '../diagnosis/check-durability.ts'
import { checkMasterKeys } from '../diagnosis/check-keys.ts'
import { checkLogin } from '../diagnosis/check-login.ts'
import { checkMcpApprovals, checkMcpIssuer, checkMcpProject } from '../diagnosis/check-mcp.ts'
import { checkProject, checkSettings } from '../diagnosis/diagnose.ts'
import { isServing } from '../diagnosis/is-serving.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { readConfig } from '../read-config.ts'
import { serverOf, withApi } from './api.ts'
import { checkInstallation, faultsAsChecks } from './doctor-installation.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { dim, MARKS, print, printJson, quantity, sanitize } from './print.ts'
import { type CommonOptions, commandLine, type Shell, withCommonOptions } from './shell.ts'
import { readSettings, withBroker } from './with-broker.ts'

interface DoctorOptions extends CommonOptions {
  readonly production?: true
}

export function defineDoctor(command: Command, shell: Shell): void {
  withCommonOptions(command)
    .option('--production', 'check the settings of this shell the way serve reads them')
    .addHelpText('after', EXAMPLES)
    .action(async (options: DoctorOptions) => {
      const checks = await runChecks(shell, options)
      const failed = checks.filter(({ status }) => status === 'failed').length
      if (options.json) printJson({ ok: failed === 0, checks })
      else report(checks)
      if (failed > 0) throw new CommandFailure(`${failed} of ${checks.length} checks failed.`)
    })
}

async function runChecks(shell: Shell, options: DoctorOptions): Promise<Check[]> {
  if (options.production !== true && serverOf(shell, options) !== undefined) return askServer(shell, options)
  if (options.url === undefined) return runChecksHere(shell, options)
  throw new CommandFailure('--production checks the settings of this shell: leave out --url.', EXIT.usage)
}

/** Asks the running server for its checks: only the server knows its own settings. */
async function askServer(shell: Shell, options: CommonOptions): Promise<Check[]> {
  const checks: Check[] = []
  await withApi(shell, options, async (api) => {
    checks.push(...(await api.call('getDiagnosis')).checks)
  })
  return checks
}

/** Runs the checks in this process. A check that depends on one that failed is left out. */
async function runChecksHere(shell: Shell, options: DoctorOptions): Promise<Check[]> {
  const { project, production } = options
  const checks: Check[] = [{ name: 'node', status: 'ok', message: `Node ${process.versions.node}` }]
  let config: Config
  try {
    config =
      production === true
        ? readConfig(shell.environment, 'serve')
        : readSettings(shell.environment, { makeKey: false })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [...checks, ...faultsAsChecks(error)]
  }
  const installation = await checkInstallation(shell, config)
  const isUp = installation.opens && (await isServing(config.publicUrl))
  const running = isUp ? await askRunningServer(shell, config, options) : undefined
  if (running?.checks !== undefined) return [...checks, ...installation.checks, ...running.checks]
  checks.push(
    ...checkSettings(config),
    ...(await checkLogin(config)),
    ...(await checkMcpIssuer(config)),
    ...installation.checks,
  )
  if (running !== undefined) checks.push(running.notAsked)
  if (!installation.opens) return checks
  try {
    await withBroker(shell, { project }, async (opened) => {
      checks.push(
        ...(await checkDurability(opened.broker)),
        ...(await checkMasterKeys(opened.broker)),
        ...(await checkMcpProject(opened)),
        ...(await checkMcpApprovals(opened)),
        ...(await checkProject(opened)),
      )
    })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    checks.push({ name: 'project', status: 'failed', message: error.message })
  }
  return checks
}

/**
 * Asks the server that answers at this shell's public URL for its checks. Without an API key for the server, or if the
 * request fails, returns a warning instead that gives the reason.
 */
async function askRunningServer(
  shell: Shell,
  { publicUrl, apiKey, database, development }: Config,
  { project, key }: Pick<DoctorOptions, 'project' | 'key'>,
): Promise<{ readonly checks: Check[] } | { readonly checks?: undefined; readonly notAsked: Check }> {
  const known = key ?? apiKey ?? (development ? readDevelopmentKey(database) : undefined)
  const url = publicUrl.origin
  let why = 'no API key for it is known here'
  if (known !== undefined && (project === undefined || project === DEFAULT_PROJECT))
    try {
      return { checks: await askServer(shell, { url, key: known }) }
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      why = error.message
    }
  return {
    notAsked: {
      name: 'settings',
      status: 'warning',
      message: `These checks use the settings of this shell. The server at ${url} was not asked: ${why.replace(/\.$/, '')}.`,
      fix: `Run ${commandLine(shell, 'doctor', '--url', url)} with an administrator's API key in GATEPASS_API_KEY.`,
    },
  }
}

function report(checks: readonly Check[]): void {
  const width = Math.max(...checks.map(({ name }) => sanitize(name).length))
  for (const { name, status, message, fix } of checks) {
    print(`${MARKS[status]} ${dim(sanitize(name).padEnd(width))}  ${sanitize(message)}`)
    if (fix !== undefined) print(`${' '.repeat(width + 4)}→ ${sanitize(fix)}`)
  }
  const warnings = checks.filter(({ status }) => status === 'warning').length
  if (checks.some(({ status }) => status === 'failed')) print()
  else if (warnings === 0) print('\nAll checks passed.')
  else print(`\nNo check failed; ${quantity(warnings, 'warning')}.`)
}

const EXAMPLES = `
Examples:
  $ gatepass doctor
  $ gatepass doctor --production --json
  $ gatepass doctor --url https://gatepass.example.com

A running server makes the checks itself, with its own settings. That is the server of --url (or GATEPASS_URL), otherwise the
server at GATEPASS_PUBLIC_URL if an administrator's API key for it is known here. With --production, GATEPASS_URL is ignored.

The exit code is 1 if a check failed. Warnings do not count.`
