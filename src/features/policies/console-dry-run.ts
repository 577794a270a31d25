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
  const rows = samples.map((sample) => [
    link(`/audit/${sample.seq}`, html`<time datetime="${sample.at}">${minute(sample.at)}</time>`),
    name(sample.user_id),
    sample.tool === undefined
      ? { tool: 'a tool', proxy: 'the proxy', token: 'the caller' }[sample.use]
      : link(`/tools/${encodeURIComponent(sample.tool)}`, html`${name(sample.tool)}`),
    html`${sample.providers.map((id, i) => html`${i > 0 && ', '}${code(id)}`)}`,
    sample.decision === 'refused'
      ? badge(sample.reason === undefined ? 'refused' : REASONS[sample.reason], 'bad')
      : html`${badge('cannot say', 'wait')} <span class="muted small">${(sample.because ?? []).map((why) => UNKNOWN[why]).join(', ')}</span>`,
    html`${sample.policies.map((id, i) => html`${i > 0 && ', '}${code(id)}`)}`,
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
    result.refused_by.map((policy) => [code(policy.id), numeric(policy.refused.toLocaleString('en'))]),
    '',
  )
}
${samples.length > 0 && table('Some of the uses', ['When (UTC)', 'User', 'For', 'Provider', 'Would be', 'By'], rows, '')}`,
  )
}
