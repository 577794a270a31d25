import { html } from 'hono/html'
import { BrokerError } from '../../domain/errors.ts'
import { DEFAULT_PROJECT } from '../../domain/project.ts'
import { administersInstallation } from '../../flows/manage-keys.ts'
import type { Diagnose } from '../../operations/installation/diagnosis.ts'
import type { Html } from '../pages/layout.ts'
import { withCommands } from '../pages/mark-commands.ts'
import { asCurl, badge, link, section, type Tone, table, wrappable } from './elements.ts'
import { submit } from './form-fields.ts'
import type { ConsoleRoutes } from './routes.ts'

/** One setting of the running server, as far as it may be shown. */
export interface ShownSetting {
  /** With its prefix: `GATEPASS_PORT`. */
  readonly name: string
  /** Of a secret only whether it is set. */
  readonly value: string
}

export interface OperationOptions {
  readonly diagnose?: Diagnose | undefined
  readonly settings?: readonly ShownSetting[] | undefined
}

/** The settings that this server runs with, and the checks of `gatepass doctor`. */
export function addInstallationPages(routes: ConsoleRoutes, { diagnose, settings }: OperationOptions): void {
  routes.page('/settings', (on) => {
    if (!administersInstallation(on.session.project))
      throw new BrokerError('insufficient_role', OF_INSTALLATION)
    const rows = (settings ?? []).map(({ name: variable, value }) => [
      html`<code>${wrappable(variable)}</code>`,
      html`<bdi>${value}</bdi>`,
    ])
    return on.show(
      'Settings',
      table('Settings', ['Variable', 'Value'], rows, 'This server does not show its settings.'),
      {
        lead: html`The settings of this server, read once from the environment when it starts. Secrets are not shown. <code>docs/reference/settings.md</code> says what each means.`,
      },
    )
  })

  routes.page('/doctor', (on) => {
    const ask = on.mayChange
      ? on.form('/doctor', submit('Check everything'))
      : html`An administrator can run the checks here; <code>gatepass doctor</code> runs them too.`
    const body = html`${section('Checks', html`<p>The checks look at ${administersInstallation(on.session.project) ? 'the settings, the login, ' : ''}the keys and the trail, and send a request to every provider and worker. They change nothing.</p>${ask}`)}${asCurl(on, '/v1/admin/diagnosis')}`
    return on.show('Doctor', body, { lead: 'What does not work, and how to fix it.' })
  })

  /** A form, since the checks send requests. */
  routes.form('/doctor', async (on) => {
    const checks = diagnose === undefined ? [] : await diagnose(on.projectId)
    const worst = [...checks].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
    const rows = worst.map(({ name: what, status, message, fix }) => [
      html`${what} ${badge(WORDS[status], TONES[status])}`,
      html`<bdi>${message}</bdi>${fix !== undefined && html`<br><strong>To do:</strong> <bdi>${withCommands(fix)}</bdi>`}`,
    ])
    const failed = checks.filter(({ status }) => status === 'failed').length
    const body = html`${verdict(checks.length, failed)}${table('Checks', ['Check', 'Message'], rows, 'This server cannot check itself. Run gatepass doctor.')}
${on.form('/doctor', submit('Check again', 'secondary'))}
${administersInstallation(on.session.project) && html`<p>${link('/settings', 'The settings of this server')}</p>`}`
    return on.show('Doctor', body, { lead: 'What does not work, and how to fix it.' })
  })
}

const OF_INSTALLATION = `The settings are those of the whole installation: they are shown only to operators of the project "${DEFAULT_PROJECT}".`

const ORDER = ['failed', 'warning', 'ok']
const WORDS = { ok: 'works', warning: 'warning', failed: 'failed' } as const
const TONES = { ok: 'good', warning: 'wait', failed: 'bad' } as const satisfies Record<string, Tone>

function verdict(count: number, failed: number): Html | '' {
  if (count === 0) return ''
  return failed === 0
    ? html`<p class="note good">${count} checks, none failed.</p>`
    : html`<p class="note bad">${failed} of ${count} checks failed.</p>`
}
