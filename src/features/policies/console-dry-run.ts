import { html } from 'hono/html'
import { badge, code, link, numeric, section, table } from '../../http/console/elements.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { PolicyDryRunWire } from './operations-dry-run.ts'

const REASONS = {
  denied: 'denied',
  not_allowed: 'not allowed',
  arguments_failed: 'its arguments cannot be checked',
  rate: 'too many',
  quota: 'the quota is used up',
  hook_refused: 'the hook refused',
  not_approved: 'not approved',
  hook_failed: 'the hook failed',
} as const

/** Why a use cannot be decided. */
const UNKNOWN = {
  arguments: 'its arguments are not stored',
  hook: 'a hook would be called',
  hosts: 'its host is not known',
  workers: 'its worker is not known',
  scopes: 'its scopes are not known',
} as const

/** The result of a dry run: the numbers, the policies that would have refused, and a sample of the uses. */
export function dryRunView(result: PolicyDryRunWire): Html {
  const { since, until, complete, uses, permitted, refused, asked, undecided, samples } = result
  const minute = (timestamp: string) => timestamp.slice(0, 16).replace('T', ' ')
  const rows = samples.map((sample) => [
    link(`/audit/${sample.seq}`, html`<time datetime="${sample.at}">${minute(sample.at)}</time>`),
    name(sample.user_id),
    sample.tool === undefined
      ? { tool: 'a tool', proxy: 'the proxy', token: 'the caller' }[sample.use]
      : link(`/tools/${encodeURIComponent(sample.tool)}`, html`${name(sample.tool)}`),
    html`${sample.providers.map((id, i) => html`${i > 0 && ', '}${code(id)}`)}`,
    decisionView(sample),
    html`${sample.policies.map((id, i) => html`${i > 0 && ', '}${code(id)}`)}`,
  ])
  return section(
    'Dry run',
    html`<p class="muted">${uses === 0 ? 'No token was used' : uses === 1 ? '1 use of a token' : `${uses} uses of tokens`} from ${minute(since)} to ${minute(until)} UTC.${!complete && ' There were more: only the latest were checked.'}</p>
<dl class="figures"><div><dt>Would have been refused</dt><dd class="${refused > 0 ? 'bad' : 'good'}">${refused}</dd></div>
<div><dt>Would have waited for a person</dt><dd>${asked}</dd></div>
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
${
  result.asked_by.length > 0 &&
  table(
    'Who would have been asked',
    ['Policy', 'Would ask', numeric('About uses')],
    result.asked_by.map(({ id, by, asked: uses }) => [
      code(id),
      approversView(by),
      numeric(uses.toLocaleString('en')),
    ]),
    '',
  )
}
${samples.length > 0 && table('Some of the uses', ['When (UTC)', 'User', 'For', 'Provider', 'Would be', 'By'], rows, '')}`,
  )
}

function decisionView({ decision, reason, because = [] }: PolicyDryRunWire['samples'][number]): Html {
  if (decision === 'asked') return badge('a person is asked', 'wait')
  if (decision === 'refused') return badge(reason === undefined ? 'refused' : REASONS[reason], 'bad')
  return html`${badge('cannot say', 'wait')} <span class="muted small">${because.map((why) => UNKNOWN[why]).join(', ')}</span>`
}

function approversView(by: PolicyDryRunWire['asked_by'][number]['by']): Html {
  if (typeof by === 'string') return html`${by === 'user' ? 'the user' : 'the user, in the client'}`
  return html`${by.count === 1 ? 'one person' : `${by.count} people`} of the group ${name(by.group)}`
}
