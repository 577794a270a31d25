import { html } from 'hono/html'
import { badge, code, link, numeric, section, table } from '../../http/console/elements.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { PolicyDryRunWire } from './operations-dry-run.ts'

const REASONS = {
  denied: 'denied',
  not_allowed: 'not allowed',
  rate: 'too many',
  hook_refused: 'the hook refused',
  hook_failed: 'the hook failed',
} as const

/** Why a use cannot be decided. */
const UNKNOWN = {
  hook: 'a hook would be called',
  hosts: 'its host is not known',
  workers: 'its worker is not known',
  scopes: 'its scopes are not known',
} as const

/** The result of a dry run: the numbers, the policies that would have refused, and a sample of the uses. */
export function dryRunView(result: PolicyDryRunWire): Html {
  const { since, until, complete, uses, permitted, refused, undecided, samples } = result
  const minute = (timestamp: string) => timestamp.slice(0, 16).replace('T', ' ')
  const rows = samples.map((one) => [
    link(`/audit/${one.seq}`, html`<time datetime="${one.at}">${minute(one.at)}</time>`),
    name(one.user_id),
    one.tool === undefined
      ? { tool: 'a tool', proxy: 'the proxy', token: 'the caller' }[one.use]
      : link(`/tools/${encodeURIComponent(one.tool)}`, html`${name(one.tool)}`),
    html`${one.providers.map((id, i) => html`${i > 0 && ', '}${code(id)}`)}`,
    one.decision === 'refused'
      ? badge(one.reason === undefined ? 'refused' : REASONS[one.reason], 'bad')
      : html`${badge('cannot say', 'wait')} <span class="muted small">${(one.because ?? []).map((why) => UNKNOWN[why]).join(', ')}</span>`,
    html`${one.policies.map((id, i) => html`${i > 0 && ', '}${code(id)}`)}`,
  ])
  return section(
    'Dry run',
    html`<p class="muted">${uses === 0 ? 'No token was used' : uses === 1 ? '1 use of a token' : `${uses} uses of tokens`} from ${minute(since)} to ${minute(until)} UTC.${!complete && ' There were more: only the latest were checked.'}</p>
<dl class="figures"><div><dt>Would have been refused</dt><dd class="${refused > 0 ? 'bad' : 'good'}">${refused}</dd></div>
<div><dt>Permitted</dt><dd>${permitted}</dd></div>
<div><dt>Cannot be said</dt><dd>${undecided}</dd></div></dl>
${
  result.refused_by.length > 0 &&
  table(
    'By policy',
    ['Policy', numeric('Would have refused')],
    result.refused_by.map((one) => [code(one.id), numeric(one.refused.toLocaleString('en'))]),
    '',
  )
}
${samples.length > 0 && table('Some of the uses', ['When (UTC)', 'User', 'For', 'Provider', 'Would be', 'By'], rows, '')}`,
  )
}
