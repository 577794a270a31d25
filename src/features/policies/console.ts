import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import {
  asCurl,
  badge,
  buttonLink,
  code,
  link,
  section,
  type Tone,
  table,
} from '../../http/console/elements.ts'
import { endOnce } from '../../http/console/end-once.ts'
import { hidden, select, submit } from '../../http/console/form-fields.ts'
import { attempt, given, type Refused } from '../../http/console/form-outcome.ts'
import { outputView } from '../../http/console/output-view.ts'
import { perform } from '../../http/console/perform.ts'
import { type ConsoleRoutes, confirmFirst, type OnPage, pathOf } from '../../http/console/routes.ts'
import { ACTIONS, rowButton } from '../../http/console/row-actions.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { omitted } from '../../operations/omitted.ts'
import { parseOnce } from '../../parsing/parse.ts'
import type { FeaturePages } from '../feature.ts'
import { dryRunView } from './console-dry-run.ts'
import { CHANGE, CREATE, valuesOf, versionOf } from './console-form.ts'
import { matchWords } from './console-match.ts'
import type { Policy } from './domain.ts'
import { createPolicy, updatePolicy } from './operations.ts'
import { dryRun, dryRunSchema, type PolicyDryRunWire } from './operations-dry-run.ts'
import { quotaSchema, quotasOf } from './operations-quotas.ts'
import { deletePolicy, getPolicy } from './policy-settings.ts'
import { newPolicySchema, policySchema } from './wire.ts'
import { policyToWire } from './wire-conversion.ts'

const ABOVE = [['Policies', '/policies']] as const

const CHANGED_MEANWHILE: Refused = {
  outcome: 'refused',
  message:
    'Nothing was stored, because the policy was changed after you opened this page. “As JSON” shows the stored policy. The form still has your values: send it again to replace the stored ones.',
  status: 409,
  faults: new Map(),
}

/** The limit of a dry run on a page: half of the API's, so that the page is made in about a fifth of a second. */
const PAGE_LIMIT = { tokens: 10_000 }

const ROWS = outputView(policySchema, {
  id: ['ID', ({ id }) => link(policyPath(id), html`${name(id)}`)],
  effect: [
    'Effect',
    ({ effect, enabled }) => html`${effectBadge(effect)}${!enabled && html` ${badge('off')}`}`,
  ],
  match: [
    'Matches',
    ({ match, description }) =>
      html`${matchWords(match)}${description !== undefined && html`<br><span class="muted small">${name(description, { longest: 120 })}</span>`}`,
  ],
  updated_at: 'Changed',
  ...omitted('description', 'enabled', 'created_at'),
})

/** The API has up to 1,000. */
const SHOWN_QUOTAS = 100

const QUOTAS = outputView(quotaSchema, {
  policy_id: ['Policy', ({ policy_id }) => link(policyPath(policy_id), html`${name(policy_id)}`)],
  per: 'Counted for each',
  subject: 'Of',
  used: ['Used', ({ used, limit }) => html`${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`],
  window_end: 'Until',
  ...omitted('limit', 'window_start'),
})

/** The project's policies: the list, an editor, and a dry run over last week's uses of tokens. */
export const policyPages: FeaturePages = {
  menu: { path: '/policies', label: 'Policies', icon: 'shield', after: 'Control' },
  add: addPolicyPages,
}

function addPolicyPages(routes: ConsoleRoutes, broker: Broker): void {
  const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

  routes.page('/policies', async (on) => {
    const policies = await broker.store.policies.list(on.projectId)
    const rows = policies.map((policy) => [
      ...ROWS.cells(policyToWire(policy), broker.now()),
      ...(on.mayChange ? [switchAction(on, policy)] : []),
    ])
    const heads = [...ROWS.heads, ...(on.mayChange ? [ACTIONS] : [])]
    const body = html`${table('Policies', heads, rows, {
      title: 'No policies',
      text: 'A policy says who may use which tokens for what. Without one, every key may use what its role allows.',
      next: on.mayChange && buttonLink('/policy/new', 'Create policy', { secondary: false }),
    })}${asCurl(on, '/v1/admin/policies')}`
    const counted = policies.some(({ match }) => match.quota !== undefined)
      ? await quotasOf(broker, on.projectId)
      : []
    const counts = counted.slice(0, SHOWN_QUOTAS).map((quota) => QUOTAS.cells(quota, broker.now()))
    const shown = html`${body}${counted.length > 0 && table('Quotas', QUOTAS.heads, counts, '')}`
    return on.show('Policies', shown, {
      lead: 'Rules about who may use which tokens for what. A deny rule wins. If there are allow rules, one of them must match. Hooks and people are asked last.',
      actions: html`${policies.length > 0 && buttonLink('/policy/dry-run', 'Dry run')}${on.mayChange && buttonLink('/policy/new', 'Create policy', { secondary: false })}`,
    })
  })

  // the dry run of the policies in force, or of all but one, for readonly operators too. The page itself runs nothing:
  // only its form does
  routes.page('/policy/dry-run', async (on) => showDryRun(on, on.query('without')))

  routes.form(
    '/policy/dry-run',
    async (on, form) => {
      const without = given(form, 'without')
      const request = parseOnce(dryRunSchema, without === undefined ? {} : { without: [without] }, 'the body')
      return showDryRun(on, without, await dryRun(broker, on.projectId, request, PAGE_LIMIT))
    },
    { readonly: true },
  )

  routes.page('/policy/new', (on) => showEditor(on, { values: new URLSearchParams() }))

  routes.page('/policies/:id', async (on) => {
    const policy = await getPolicy(broker, on.projectId, idOf(on))
    return showEditor(on, { policy, values: valuesOf(policy) })
  })

  /** Storing a policy needs a recent login. Trying it does not, because that changes nothing. */
  const recent = (form: URLSearchParams) => form.get('do') !== 'try'

  routes.form('/policy/new', (on, form) => send(on, form), { recent })

  routes.form(
    '/policies/:id',
    async (on, form) => send(on, form, await getPolicy(broker, on.projectId, idOf(on))),
    { recent },
  )

  // to switch a policy off may permit what it refused
  routes.form(
    '/policies/:id/enabled',
    async (on, form) => {
      const enabled = form.get('enabled') === 'true'
      const { id } = await perform(on, updatePolicy, { params: { id: idOf(on) }, body: { enabled } })
      return on.go('/policies', enabled ? `${id} is in force.` : `${id} is no longer in force.`)
    },
    { recent: true },
  )

  routes.form(
    '/policies/:id/delete',
    endOnce(
      (on) => ({
        entry: { action: 'policy.deleted', subject: idOf(on) },
        list: '/policies',
        already: `The policy ${idOf(on)} was deleted already.`,
      }),
      async (on) => {
        const id = idOf(on)
        await deletePolicy(broker, on.projectId, id)
        return on.go('/policies', `The policy ${id} was deleted: it no longer applies.`)
      },
    ),
    { recent: true },
  )

  /** Handles both buttons of the editor: one tries the policy, the other stores it. */
  async function send(on: OnPage, form: URLSearchParams, policy?: Policy) {
    const id = policy?.id ?? given(form, 'id') ?? ''
    const isTried = form.get('do') === 'try'
    const loaded = given(form, 'version')
    if (!isTried && policy !== undefined && loaded !== undefined && loaded !== versionOf(policy)) {
      form.set('version', versionOf(policy))
      return showEditor(on, { values: form, policy, refused: CHANGED_MEANWHILE })
    }
    const done = await attempt(async () => {
      const body = bodyOf(form, policy)
      if (isTried) {
        const tried = parseOnce(newPolicySchema, { ...body, id }, 'the body')
        return { dryRun: await dryRun(broker, on.projectId, { policies: [tried], without: [] }, PAGE_LIMIT) }
      }
      return policy === undefined
        ? perform(on, createPolicy, { body })
        : perform(on, updatePolicy, { params: { id }, body })
    })
    const shown = { values: form, ...(policy && { policy }) }
    if (done.outcome === 'refused') return showEditor(on, { ...shown, refused: done })
    if ('dryRun' in done.result) return showEditor(on, { ...shown, result: done.result.dryRun })
    const made = done.result.enabled
      ? 'The policy is in force.'
      : 'The policy was created. It is not in force.'
    return on.go(policyPath(id), policy === undefined ? made : 'The policy was changed.')
  }
}

async function showDryRun(on: OnPage, without: string | undefined, result?: PolicyDryRunWire) {
  const policies = await on.broker.store.policies.list(on.projectId)
  const choices = policies.map(({ id }) => [id, `Without ${id}`] as const)
  const form = on.form(
    '/policy/dry-run',
    html`${select('Policies', 'without', [['', 'All that are in force'], ...choices], { value: without ?? '', hint: 'They are applied to each use of a token in the last seven days, at most 10,000. Nothing is changed, and no hook is called.' })}${submit(result === undefined ? 'Run it on last week' : 'Run it once more', result === undefined ? 'primary' : 'secondary')}`,
    { readonly: true },
  )
  const request = without === undefined ? {} : { without: [without] }
  const body = html`${result !== undefined && dryRunView(result)}${section(result === undefined ? 'Which policies' : 'Another run', html`${form}`)}
${asCurl(on, '/v1/admin/policies/dry_run', { method: 'POST', body: request })}`
  return on.show('Dry run', body, {
    above: ABOVE,
    lead:
      without === undefined
        ? 'What the policies in force would have refused last week.'
        : html`What the policies in force would have refused last week without ${code(without)}.`,
  })
}

function switchAction(on: OnPage, { id, enabled }: Policy): Html {
  return rowButton(on, {
    action: `${policyPath(id)}/enabled`,
    text: enabled ? 'Disable' : 'Enable',
    of: id,
    fields: hidden('enabled', String(!enabled)),
    recent: true,
  })
}

const policyPath = (id: string) => `/policies/${encodeURIComponent(id)}`

interface Editor {
  readonly policy?: Policy
  readonly values: URLSearchParams
  readonly refused?: Refused
  readonly result?: PolicyDryRunWire
}

function showEditor(on: OnPage, { policy, values, refused, result }: Editor) {
  const isNew = policy === undefined
  const action = isNew ? '/policy/new' : policyPath(policy.id)
  const fields = html`${hidden('version', values.get('version') ?? '')}${(isNew ? CREATE : CHANGE).view({ values, refused })}
<p class="muted">With nothing under “What it matches”, a policy is about every use of every user: one that denies then refuses all of them.</p>
<div class="buttons"><button type="submit" name="do" value="try" class="secondary">Try it on last week</button>${on.session.isRecent && html` <button type="submit" name="do" value="set">${isNew ? 'Create policy' : 'Save changes'}</button>`}</div>
${!on.session.isRecent && confirmFirst(pathOf(on.c))}`
  const body = html`${result !== undefined && dryRunView(result)}
${on.mayChange ? section(isNew ? 'Rule' : 'Change', html`${on.form(action, fields)}`) : ''}
${policy !== undefined && section('As JSON', html`<pre tabindex="0"><code>${JSON.stringify(policyToWire(policy), null, 2)}</code></pre>`)}
${policy !== undefined && on.mayChange && section('Delete', html`<details><summary>Delete this policy</summary><p>It stops applying at once.</p>${on.form(`${policyPath(policy.id)}/delete`, submit(`Delete ${policy.id}`, 'danger'), { recent: true })}</details>`)}
${asCurl(on, isNew ? '/v1/admin/policies' : `/v1/admin/policies/${encodeURIComponent(policy.id)}`, isNew ? { method: 'POST', body: shownBody(values) } : {})}`
  return on.show(policy?.id ?? 'Create policy', body, {
    above: ABOVE,
    ...(policy !== undefined && {
      lead: html`${effectBadge(policy.effect)} ${policy.description !== undefined && name(policy.description, { longest: 300 })}`,
      actions: buttonLink(`/policy/dry-run?without=${encodeURIComponent(policy.id)}`, 'Last week without it'),
    }),
    ...(refused !== undefined && { problem: refused.message, status: refused.status }),
  })
}

const TONES: Readonly<Record<Policy['effect'], Tone>> = {
  allow: 'good',
  deny: 'bad',
  hook: 'wait',
  approve: 'wait',
}

function effectBadge(effect: Policy['effect']): Html {
  // beside "allow", the word "approve" would read as a permission
  return badge(effect === 'approve' ? 'needs approval' : effect, TONES[effect])
}

/** The body of the API request for the form, not checked yet. An empty `match` is sent too, because it matches all. */
function bodyOf(form: URLSearchParams, policy?: Policy) {
  return { match: {}, ...(policy === undefined ? CREATE : CHANGE).read(form) }
}

/** The same for `curl`, without the hook's secret, which no page shows. */
function shownBody(form: URLSearchParams): unknown {
  const shown = new URLSearchParams(form)
  if (shown.get('hook.secret')) shown.set('hook.secret', '…')
  return { id: 'no-leaks', effect: 'deny', ...bodyOf(shown) }
}
