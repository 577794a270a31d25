import { createHash } from 'node:crypto'
import { html } from 'hono/html'
import { USE_KINDS } from '../../domain/requested-use.ts'
import { checkbox, field, hidden, select, textArea } from '../../http/console/form-fields.ts'
import { given, hasAny } from '../../http/console/form-outcome.ts'
import type { Html } from '../../http/pages/layout.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { Policy } from './domain.ts'
import { policyToWire } from './wire.ts'

// The form of a policy. Each member of the policy is a field; lists have one value a line.

const LISTS = ['users', 'tools', 'workers', 'providers', 'scopes', 'hosts'] as const
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

const LABELS = {
  users: ['Users', 'Ids of users, such as ada or *@example.com'],
  tools: ['Tools', 'By any of their names, such as GitHub.Delete*'],
  providers: ['Providers', 'Ids of providers, such as github'],
  scopes: ['Scopes', 'What the token may do, such as admin:*'],
  workers: ['Workers', 'Ids of the workers that run the tool'],
  hosts: ['Hosts', 'Where the token goes, such as api.github.com or *.example.com'],
} as const satisfies Record<(typeof LISTS)[number], readonly [string, string]>

const EFFECTS = [
  ['deny', 'Deny: refuses what it matches'],
  ['allow', 'Allow: what no allow rule matches is refused'],
  ['hook', 'Hook: a URL must agree to what it matches'],
] as const

const USE_WORDS = {
  tool: 'A tool is run with it',
  proxy: 'A request is forwarded with it',
  token: 'It is handed to the caller',
} as const

/** The fields of the form, with these values and faults. */
export function policyFields(
  values: URLSearchParams,
  faults: ReadonlyMap<string, string>,
  { isNew }: { readonly isNew: boolean },
): Html {
  const of = (id: string, path = id) => ({ value: values.get(id) ?? '', fault: faults.get(path) })
  return html`${isNew ? field('Id', 'id', { ...of('id'), required: true, maxlength: 100, hint: 'Refusals name it. Letters, digits, _ . -' }) : hidden('version', values.get('version') ?? '')}
${field('Description', 'description', { ...of('description'), maxlength: 1000 })}
${checkbox('It is in force', 'enabled', values.get('enabled') === 'true', 'true')}
${select('Effect', 'effect', EFFECTS, of('effect'))}
<fieldset class="plain"><legend>It matches</legend>
<p class="hint">Empty fields match every use. One value of a list is enough; * matches any characters; one value a line.</p>
<div class="columns">${LISTS.map((list) => textArea(LABELS[list][0], list, { ...of(list, `match.${list}`), hint: LABELS[list][1], rows: 2 }))}</div>
<fieldset class="plain"><legend>What the token is used for</legend>${USE_KINDS.map((use) => checkbox(USE_WORDS[use], 'uses', values.getAll('uses').includes(use), use))}</fieldset></fieldset>
<details${hasAny(values, ['days', 'from', 'to', 'zone']) ? html` open` : ''}><summary>Only on some days or at some hours</summary><fieldset class="plain"><legend>Days</legend><div class="days">${DAYS.map((day, i) => checkbox(day, 'days', values.getAll('days').includes(String(i + 1)), String(i + 1)))}</div></fieldset>
<div class="columns">${field('From', 'from', { ...of('from', 'match.time.from'), placeholder: '20:00' })}${field('To', 'to', { ...of('to', 'match.time.to'), placeholder: '06:00', hint: 'Earlier than “From”: on the next day.' })}${field('Time zone', 'zone', { ...of('zone', 'match.time.zone'), placeholder: 'Europe/Berlin', hint: 'Left empty: UTC.' })}</div></details>
<details${hasAny(values, ['limit', 'seconds']) ? html` open` : ''}><summary>Only above a number of uses</summary><div class="columns">${field('More than', 'limit', { ...of('limit', 'match.rate.limit'), type: 'number', hint: 'Uses' })}${field('Within', 'seconds', { ...of('seconds', 'match.rate.seconds'), type: 'number', hint: 'Seconds' })}${select(
    'Counted for each',
    'per',
    [
      ['user', 'User'],
      ['tool', 'Tool'],
      ['project', 'Project'],
    ],
    { value: values.get('per') ?? 'user' },
  )}</div></details>
<details${values.get('effect') === 'hook' || hasAny(values, ['url']) ? html` open` : ''}><summary>The hook that is called</summary>${field('URL', 'url', { ...of('url', 'hook.url'), type: 'url' })}<div class="columns">${field('Secret', 'secret', { type: 'password', fault: faults.get('hook.secret'), hint: 'Sent as a bearer token. Leave it empty to keep the present one.' })}${field('Waits for', 'timeout_ms', { ...of('timeout_ms', 'hook.timeout_ms'), type: 'number', placeholder: '2000', hint: 'Milliseconds' })}${select(
    'If the hook fails',
    'on_failure',
    [
      ['deny', 'Refuse'],
      ['allow', 'Permit'],
    ],
    { value: values.get('on_failure') ?? 'deny' },
  )}</div></details>`
}

/** The body of the API request that does the same as the form, not checked yet. */
export function policyBody(form: URLSearchParams, id: string): Readonly<Record<string, unknown>> {
  const lines = (list: string) =>
    (form.get(list) ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  const lists = LISTS.map((list) => [list, lines(list)] as const).filter(([, all]) => all.length > 0)
  const uses = form.getAll('uses')
  const time = withoutUndefined({
    days: form.getAll('days').length > 0 ? form.getAll('days').map(Number) : undefined,
    from: given(form, 'from'),
    to: given(form, 'to'),
    zone: given(form, 'zone'),
  })
  const [limit, seconds] = [given(form, 'limit'), given(form, 'seconds')]
  const hasRate = limit !== undefined || seconds !== undefined
  const hook = withoutUndefined({
    url: given(form, 'url'),
    secret: given(form, 'secret'),
    timeout_ms: given(form, 'timeout_ms') === undefined ? undefined : Number(form.get('timeout_ms')),
    on_failure: given(form, 'url') === undefined ? undefined : given(form, 'on_failure'),
  })
  return {
    id,
    effect: form.get('effect') ?? '',
    enabled: form.get('enabled') === 'true',
    ...withoutUndefined({ description: given(form, 'description') }),
    match: {
      ...Object.fromEntries(lists),
      ...(uses.length > 0 && { uses }),
      ...(Object.keys(time).length > 0 && { time }),
      ...(hasRate && {
        rate: { limit: Number(limit), seconds: Number(seconds), per: form.get('per') ?? 'user' },
      }),
    },
    ...(Object.keys(hook).length > 0 && { hook }),
  }
}

/** The form of an existing policy, filled in. */
export function valuesOf(policy: Policy): URLSearchParams {
  const { id, description = '', enabled, effect, match, hook } = policy
  const { time, rate, uses = [] } = match
  const version = versionOf(policy)
  const values = new URLSearchParams({ id, version, effect, enabled: String(enabled), description })
  for (const list of LISTS) values.set(list, match[list]?.join('\n') ?? '')
  for (const use of uses) values.append('uses', use)
  for (const day of time?.days ?? []) values.append('days', String(day))
  const rest = {
    from: time?.from,
    to: time?.to,
    zone: time?.zone,
    ...rate,
    url: hook?.url,
    timeout_ms: hook?.timeoutMs,
    on_failure: hook?.onFailure,
  }
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) values.set(name, String(value))
  return values
}

/**
 * A digest of the policy from which a form was filled: if it differs when the form is sent, there is a newer change.
 */
export function versionOf(policy: Policy): string {
  return createHash('sha256')
    .update(JSON.stringify(policyToWire(policy)))
    .digest('base64url')
}
