import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import type { ExplainedStep, Explanation } from '../../sdk/generated/wire.ts'

export function defineExplain(command: Command, shell: Shell): void {
  withCommonOptions(
    command.argument(
      '<id>',
      'the id of an authorization (auth_…) or of a connection (conn_…, shared_…)',
      parseId,
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) => {
      const operation = operationFor(id)
      await withApi(shell, options, async (api) => {
        const explanation = await api.call(operation, { params: { id } })
        if (options.json) printJson(explanation)
        else report(explanation)
      })
    })
}

function operationFor(id: string): 'explainAuthorization' | 'explainConnection' {
  if (id.startsWith('auth_')) return 'explainAuthorization'
  if (id.startsWith('conn_') || id.startsWith('shared_')) return 'explainConnection'
  throw new CommandFailure(
    `"${sanitize(id)}" is neither the id of an authorization (auth_…) nor of a connection (conn_…, shared_…).`,
    EXIT.usage,
  )
}

function report({ id, user_id, status, reason, requester, ...rest }: Explanation): void {
  const { steps, cause, created_at, earlier_steps_dropped: isCut } = rest
  const asked = requester === undefined ? '' : `, requested by ${sanitize(requester)}`
  const why = reason === undefined ? '' : `: ${sanitize(reason)}`
  print(bold(`${sanitize(id)}  ${status}${why}`))
  const whose = user_id === '' ? 'of the project' : `user ${sanitize(user_id)}`
  print(dim(`${whose}${asked}, ${created_at.slice(0, 10)}, times in UTC`))
  print()
  if (isCut) print(dim('  earlier steps were dropped: there were too many'))
  const several = hasSeveral(steps)
  const width = Math.max(...steps.map(({ step }) => step.length))
  const indent = ' '.repeat(14 + width)
  for (const step of steps) {
    const [first = '', ...more] = linesOf(step, several)
    const day = step.at.slice(0, 10) === created_at.slice(0, 10) ? '' : `${step.at.slice(0, 10)} `
    print(
      `  ${day}${step.at.slice(11, 19)}  ${step.step.replaceAll('_', ' ').padEnd(width)}  ${first}`.trimEnd(),
    )
    for (const line of more) print(dim(`${indent}${line}`))
  }
  print()
  if (cause === undefined) {
    print(`${MARKS.ok} Nothing is known to be wrong.`)
    return
  }
  print(
    `${status === 'completed' ? MARKS.warning : MARKS.failed} ${bold(cause.code)}: ${sanitize(cause.message)}`,
  )
  print(`  → ${sanitize(cause.to_do)}`)
  print(dim(`  ${WHO[cause.who]} can do this.`))
}

const WHO = {
  user: 'The user',
  operator: 'The operator of Gatepass',
  tool_author: 'The author of the tool',
} as const

interface Several {
  readonly providers: boolean
  readonly attempts: boolean
}

function hasSeveral(steps: readonly ExplainedStep[]): Several {
  const count = (values: readonly unknown[]) => new Set(values.filter((value) => value !== undefined)).size
  return {
    providers: count(steps.map((step) => step.provider_id)) > 1,
    attempts: count(steps.map((step) => step.attempt)) > 1,
  }
}

/**
 * The lines of a step: the first is printed beside its name, the others below. The message of `ended` is left out,
 * because the cause is printed after the steps. So are the reasons of `code_exchange` and `refresh_failed`, which the
 * other lines show.
 */
function linesOf({ step, provider_id, attempt, details: d }: ExplainedStep, several: Several): string[] {
  const providerAndAttempt = [
    ...(several.providers && provider_id !== undefined ? [provider_id] : []),
    ...(several.attempts && attempt !== undefined ? [`attempt ${attempt}`] : []),
  ].join(', ')
  const providerError = [d.error, d.description && `“${d.description}”`].filter(Boolean).join(' ')
  const lines = [
    providerAndAttempt,
    [d.method, d.endpoint].filter(Boolean).join(' '),
    d.parameters && d.parameters.length > 0 ? `with ${d.parameters.join(', ')}` : '',
    d.authentication === undefined ? '' : `client authentication: ${d.authentication}`,
    d.redirect_uri === undefined ? '' : `redirect URI: ${d.redirect_uri}`,
    d.code_challenge_method === undefined ? '' : `PKCE: ${d.code_challenge_method}`,
    d.scopes === undefined ? '' : `scopes: ${d.scopes.join(' ') || 'none'}`,
    d.missing_scopes === undefined ? '' : `not granted: ${d.missing_scopes.join(' ')}`,
    outcomeOf(d),
    d.received && d.received.length > 0 ? `answer: ${d.received.join(', ')}` : '',
    providerError,
    step === 'ended' || providerError !== '' ? '' : (d.message ?? ''),
    d.reason === undefined || step === 'code_exchange' || step === 'refresh_failed' ? '' : d.reason,
    d.account === undefined ? '' : `account: ${d.account}`,
    d.previous_account === undefined ? '' : `connected before: ${d.previous_account}`,
    d.connection_id ?? '',
    d.by ?? '',
    d.clock_difference_seconds === undefined ? '' : clockDifferenceText(d.clock_difference_seconds),
    d.times === undefined ? '' : `${d.times} times since ${d.first_at?.slice(0, 19).replace('T', ' ')}`,
    d.unanswered === undefined ? '' : `${d.unanswered} earlier answers were lost`,
  ]
  return lines.filter((line) => line !== '').map(sanitize)
}

function outcomeOf({ status, failure, took_ms }: ExplainedStep['details']): string {
  const outcome = status === undefined ? failure : `HTTP ${status}`
  return outcome === undefined ? '' : `${outcome}${took_ms === undefined ? '' : ` after ${took_ms} ms`}`
}

function clockDifferenceText(seconds: number): string {
  return `Gatepass' clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the provider's`
}

const EXAMPLES = `
Examples:
  $ gatepass explain auth_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass explain conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --json

Parameters are shown by their names. No secret, code, token, or state is kept for this, so none is shown.`
