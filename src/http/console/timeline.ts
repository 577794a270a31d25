import { html } from 'hono/html'
import type { Cause } from '../../domain/causes.ts'
import type { TrailDetails, TrailStep } from '../../domain/trail.ts'
import type { ExplainedStep, Explanation } from '../../flows/causes/explanation.ts'
import type { AuditEntry } from '../../services/audit-entry.ts'
import { type Html, name } from '../pages/layout.ts'
import { exactTime, type Tone } from './elements.ts'

const WORDS = {
  begun: 'Begun',
  link_opened: 'The link was opened',
  logged_in: 'The user logged in',
  clicked: 'The user clicked Continue',
  pushed_authorization: 'The authorization request was pushed',
  temporary_credentials: 'Temporary credentials were requested',
  device_authorization: 'A code was requested',
  sent_to_provider: 'The browser was sent to the provider',
  callback: 'The provider sent the browser back',
  refused: 'Refused',
  user_confirmed: 'The user was confirmed',
  code_exchange: 'The code was exchanged for tokens',
  user_info: 'The account was read',
  introspection: 'The token was introspected',
  choices: 'The provider listed what can be connected',
  stored: 'The connection was stored',
  ended: 'Ended',
  connected: 'Connected',
  refreshed: 'Refreshed',
  refresh_failed: 'A refresh failed',
  needs_authorization: 'A new consent is needed',
  used: 'Last used',
} as const satisfies Record<TrailStep, string>

/** The steps of an authorization or a connection, with their details. */
export function timeline({ steps, isCut }: Explanation): Html {
  return html`${isCut && html`<p class="muted small">Earlier steps were dropped: there were too many.</p>`}
<ol class="timeline">${steps.map(
    (step) =>
      html`<li class="${toneOf(step)}"><strong>${WORDS[step.step]}</strong>${
        step.attempt !== undefined &&
        step.attempt > 1 &&
        html` <span class="muted">(click ${step.attempt})</span>`
      }<br><span class="muted small">${exactTime(step.at)}</span>${linesOf(step.details).map(
        (line) => html`<br><span class="small">${name(line, { longest: 400 })}</span>`,
      )}</li>`,
  )}</ol>`
}

function toneOf({ step, details }: ExplainedStep): Tone {
  if (step === 'refused' || step === 'refresh_failed' || step === 'needs_authorization') return 'bad'
  if (details.error !== undefined || details.failure !== undefined) return 'bad'
  if (step === 'ended' && details.reason !== undefined) return 'bad'
  return step === 'connected' || step === 'stored' || step === 'refreshed' ? 'good' : 'plain'
}

function linesOf(d: TrailDetails): string[] {
  const refusal = [d.error, d.description && `“${d.description}”`].filter(Boolean).join(' ')
  const outcome = d.status === undefined ? d.failure : `HTTP ${d.status}`
  const lines = [
    [d.method, d.endpoint].filter(Boolean).join(' '),
    d.parameters && d.parameters.length > 0 ? `with ${d.parameters.join(', ')}` : '',
    d.scopes && d.scopes.length > 0 ? `scopes: ${d.scopes.join(' ')}` : '',
    d.missing_scopes && d.missing_scopes.length > 0 ? `not granted: ${d.missing_scopes.join(' ')}` : '',
    outcome === undefined ? '' : `${outcome}${d.took_ms === undefined ? '' : ` after ${d.took_ms} ms`}`,
    refusal,
    refusal === '' ? (d.message ?? '') : '',
    d.reason ?? '',
    d.account === undefined ? '' : `account: ${d.account}`,
    d.previous_account === undefined ? '' : `connected before: ${d.previous_account}`,
    d.by === undefined ? '' : `by ${d.by}`,
    d.times === undefined ? '' : `${d.times} times in a row`,
    d.unanswered === undefined ? '' : `${d.unanswered} earlier answers were lost`,
  ]
  return lines.filter((line) => line !== '')
}

const WHO = {
  user: 'The user can do this.',
  operator: 'You, the operator, can do this.',
  tool_author: 'The author of the tool can do this.',
} as const

/** Why something does not work, and what to do. */
export function causeNote(cause: Cause | undefined): Html | '' {
  if (cause === undefined) return ''
  return html`<div class="note ${cause.who === 'user' ? 'wait' : 'bad'}"><p><strong>${cause.message}</strong></p><p>${cause.toDo} ${WHO[cause.who]}</p><p class="small"><code>${cause.code}</code></p></div>`
}

/** Entries of the audit trail about one subject. */
export function entriesList(entries: readonly AuditEntry[]): Html {
  return html`<ol class="timeline">${entries.map(
    ({ at, action, actor, purpose, reason, tool }) =>
      html`<li class="${reason === undefined ? 'plain' : 'bad'}"><strong>${action}</strong><br><span class="muted small">${exactTime(at)} · ${name(
        [actor.kind, actor.id].filter(Boolean).join(' '),
      )}${typeof purpose === 'string' && html` · ${name(purpose)}`}</span>${[tool, reason].map(
        (note) =>
          typeof note === 'string' && html`<br><span class="small">${name(note, { longest: 300 })}</span>`,
      )}</li>`,
  )}</ol>`
}
