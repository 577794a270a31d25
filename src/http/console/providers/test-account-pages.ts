import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { BrokerError } from '../../../domain/errors.ts'
import { acquireConnections, connectUrl } from '../../../flows/acquire-tokens.ts'
import { getAuthorization } from '../../../flows/await-authorization.ts'
import { explainAuthorization } from '../../../flows/causes/explain-authorization.ts'
import type { Explanation } from '../../../flows/causes/explanation.ts'
import { missingSettings } from '../../../flows/get-provider.ts'
import { connectionIdOf, consentFindings, TEST_USER } from '../../../flows/live-test/consent.ts'
import { combineFindings, type Findings } from '../../../flows/live-test/findings.ts'
import { refreshFindings } from '../../../flows/live-test/refresh.ts'
import { getEntry } from '../../../flows/manage-providers.ts'
import { authorizeSchema } from '../../../operations/authorizations/authorizations.ts'
import { deleteConnection } from '../../../operations/authorizations/connections.ts'
import { updateAuthProvider } from '../../../operations/providers/auth-providers.ts'
import { entryToWire } from '../../../operations/providers/provider-wire.ts'
import { parseOnce } from '../../../parsing/parse.ts'
import { englishSentence } from '../../../providers/catalogue/scope-sentences.ts'
import type { ProviderEntry } from '../../../providers/provider-entry.ts'
import { type Html, name } from '../../pages/layout.ts'
import { buttonLink, code, link, section } from '../elements.ts'
import { field, hidden, submit } from '../form-fields.ts'
import { attempt, given, givenObject, type Refused } from '../form-outcome.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage, ShowOptions } from '../routes.ts'
import { causeNote } from '../timeline.ts'
import { liveView } from './live-view.ts'
import { wizardSteps } from './wizard.ts'

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''
const providerPath = (id: string) => `/providers/${encodeURIComponent(id)}`
const pathOf = (id: string) => `${providerPath(id)}/test-account`
/** More scopes are asked for by the field for other scopes. */
const MAX_CHOICES = 30

/**
 * Connects a test account in the operator's own browser, and shows how the consent differs from the definition: the
 * comparison of `gatepass providers test --live`.
 */
export function addTestAccountPages(routes: ConsoleRoutes, broker: Broker): void {
  const entryOf = (on: OnPage) => getEntry(broker, on.projectId, idOf(on))

  routes.page('/providers/:id/test-account', async (on) => {
    const entry = await entryOf(on)
    const authorizationId = on.query('auth_id')
    if (authorizationId === undefined) return showBegin(on, entry)
    return showTested(on, entry, await testedBy(on, entry, authorizationId))
  })

  routes.form('/providers/:id/test-account', async (on, form) => {
    const entry = await entryOf(on)
    const begun = await attempt(() => begin(entry, form))
    if (begun.outcome === 'refused') return showBegin(on, entry, { form, refused: begun })
    const url = new URL(begun.result)
    // a form may be redirected within this origin alone (`form-action`); a project may have a domain of its own
    if (url.origin === broker.settings.publicUrl.origin) return on.c.redirect(url.href, 303)
    return show(
      on,
      entry,
      section(
        'Go on at the page of your users',
        html`<p><a class="button" href="${url.href}">Open it</a></p>`,
      ),
    )
  })

  routes.form('/providers/:id/test-account/refresh', async (on, form) => {
    const entry = await entryOf(on)
    const tested = await testedBy(on, entry, given(form, 'auth_id') ?? '')
    if (tested.connectionId === undefined) return showTested(on, entry, tested)
    const refreshed = await refreshFindings(
      broker,
      comparedOf(broker, entry),
      tested.connectionId,
      on.c.req.raw.signal,
    )
    const findings = combineFindings(tested.findings, refreshed)
    return showTested(on, entry, { ...tested, findings, isRefreshed: true })
  })

  routes.form(
    '/providers/:id/test-account/correct',
    async (on, form) => {
      const id = idOf(on)
      await perform(on, updateAuthProvider, {
        params: { id },
        body: { oauth2: givenObject(form, 'patch') },
      })
      const authorizationId = encodeURIComponent(given(form, 'auth_id') ?? '')
      return on.go(`${pathOf(id)}?auth_id=${authorizationId}`, 'The entry was corrected.')
    },
    { recent: true },
  )

  routes.form(
    '/providers/:id/test-account/end',
    async (on, form) => {
      const entry = await entryOf(on)
      const { connectionId: id } = await testedBy(on, entry, given(form, 'auth_id') ?? '')
      if (id === undefined) return on.go(providerPath(entry.id), 'The test account was removed already.')
      const { revocation } = await perform(on, deleteConnection, { params: { id } })
      return on.go(`${providerPath(entry.id)}?step=ready`, REMOVED[revocation])
    },
    { recent: true },
  )

  /** Begins a new consent, even if an earlier one would suffice. Returns the link for the browser. */
  async function begin(entry: ProviderEntry, form: URLSearchParams): Promise<string> {
    const { id, projectId } = entry
    if (entry.status === 'inactive')
      throw new BrokerError('invalid_request', 'The provider is disabled. Enable it first.')
    const scopes = [...new Set([...form.getAll('scope'), ...(given(form, 'scopes')?.split(/[\s,]+/) ?? [])])]
    const { user_id: userId } = parseOnce(
      authorizeSchema,
      { auth_requirement: { id, oauth2: { scopes } }, user_id: given(form, 'user') ?? TEST_USER },
      'the body',
    )
    const nextUri = new URL(`/dashboard${pathOf(id)}`, broker.settings.publicUrl).href
    const need = { projectId, userId, providers: [{ entry, scopes }], account: 'new', nextUri }
    const begun = await acquireConnections(broker, need)
    if (begun.outcome === 'connected') throw new Error('a new account was asked for, and none is new')
    return connectUrl(broker, begun.authorization)
  }

  /** The consent, compared. Throws `not_found` for one at another provider. */
  async function testedBy(on: OnPage, entry: ProviderEntry, id: string): Promise<Tested> {
    const authorization = await getAuthorization(broker, on.projectId, id)
    if (!authorization.steps.some(({ providerUid }) => providerUid === entry.uid))
      throw new BrokerError('not_found', `The authorization "${id}" is at another provider.`)
    const explanation = await explainAuthorization(broker, authorization)
    const connectionId = connectionIdOf(explanation)
    const connection =
      connectionId === undefined ? undefined : await broker.store.connections.find(connectionId)
    const isRemoved = connectionId !== undefined && connection === undefined
    return {
      authorization,
      explanation,
      findings: consentFindings(comparedOf(broker, entry), explanation, connection),
      connectionId: connection?.id,
      isRemoved,
    }
  }

  function showBegin(
    on: OnPage,
    entry: ProviderEntry,
    sent?: { readonly form: URLSearchParams; readonly refused: Refused },
  ) {
    const { refused } = sent ?? {}
    return show(on, entry, beginView(on, entry, sent), {
      ...(refused !== undefined && { problem: refused.message, status: refused.status }),
    })
  }
}

interface Tested {
  readonly authorization: { readonly id: string }
  readonly explanation: Explanation
  readonly findings: Findings
  /** The connection that the consent made and that still exists. */
  readonly connectionId: string | undefined
  readonly isRemoved: boolean
  /** A refresh was tried, too. */
  readonly isRefreshed?: true
}

const REMOVED = {
  revoked: 'The test account was removed, and the provider revoked its tokens.',
  unsupported: 'The test account was removed here. The provider offers no revocation.',
  failed: 'The test account was removed here. The provider did not confirm the revocation of its tokens.',
} as const

function show(on: OnPage, { id, provider }: ProviderEntry, view: Html, options: ShowOptions = {}) {
  return on.show(`Test account at ${provider.displayName}`, html`${wizardSteps('test')}${view}`, {
    above: [
      ['Providers', '/providers'],
      [id, providerPath(id)],
    ],
    ...options,
  })
}

function beginView(
  on: OnPage,
  entry: ProviderEntry,
  sent?: { readonly form: URLSearchParams; readonly refused: Refused },
): Html {
  const { broker } = on
  const { id, provider } = entry
  const missing = missingSettings(broker, entry)
  const skip = html`<p>${link(`${providerPath(id)}?step=ready`, 'Skip the test')}</p>`
  if (!on.mayChange)
    return section(
      'Connect a test account',
      html`<p class="muted">An administrator connects a test account.</p>`,
    )
  if (missing.length > 0)
    return section(
      'Connect a test account',
      html`<p>The entry has no ${missing.map((member) => member.replace('_', ' ')).join(' and no ')} yet.</p><p>${buttonLink(`${providerPath(id)}#client`, 'Set its client first', { secondary: false })}</p>`,
    )
  const { verifier } = broker.settings
  const scopeFault = [...(sent?.refused.faults ?? [])].find(([path]) => path.includes('scopes'))?.[1]
  const fields = html`${scopeChoices(broker, entry, sent?.form)}
${field('Other scopes', 'scopes', {
  value: sent?.form.get('scopes') ?? '',
  fault: scopeFault,
  hint: 'Separated by spaces. If there are none, only the scopes that the entry always needs are requested.',
})}
${field('User', 'user', {
  value: sent?.form.get('user') ?? TEST_USER,
  required: true,
  maxlength: 500,
  fault: sent?.refused.faults.get('user_id'),
  hint:
    verifier.kind === 'open'
      ? 'The user ID, as your application would send it. You can keep this one.'
      : 'Your users must prove who they are, and so must you in this test: enter your own user ID, as your application knows you.',
})}
${submit('Connect a test account')}`
  return html`${section(
    'Connect a test account',
    html`<p>Act as a user, with your own account at ${name(provider.displayName)}: read who asks for what, and approve. Then this page compares what ${name(provider.displayName)} answered with its definition.</p>
${on.form(pathOf(id), fields)}`,
  )}
${skip}`
}

/** The scopes that the definition has words for, as boxes to tick. */
function scopeChoices(broker: Broker, entry: ProviderEntry, sent: URLSearchParams | undefined): Html | '' {
  const all = Object.entries(broker.definitions.describing(entry)?.facts.scopes ?? {})
  const choices = all.filter(([scope]) => !scope.includes('*')).slice(0, MAX_CHOICES)
  if (choices.length === 0) return ''
  const chosen = new Set(sent?.getAll('scope'))
  return html`<details${chosen.size > 0 ? html` open` : ''}><summary>Scopes to ask for</summary><fieldset class="plain"><legend class="visually-hidden">Scopes to ask for</legend>${choices.map(
    ([scope, sentences]) =>
      html`<label><input type="checkbox" name="scope" value="${scope}"${chosen.has(scope) ? html` checked` : ''}> <span>${name(englishSentence(sentences), { longest: 200 })} ${code(scope)}</span></label>`,
  )}</fieldset></details>`
}

function showTested(on: OnPage, entry: ProviderEntry, tested: Tested) {
  const { authorization, explanation, findings, connectionId, isRemoved } = tested
  const { id } = entry
  const details = link(`/authorizations/${authorization.id}`, 'Every step of this consent')
  const again = buttonLink(pathOf(id), 'Connect again')
  if (explanation.status === 'pending')
    return show(
      on,
      entry,
      section(
        'It is not finished',
        html`<p>The consent at ${name(entry.provider.displayName)} has not ended. Finish it in the other tab, then reload this page.</p><p>${details}</p><div class="buttons">${again}</div>`,
      ),
    )
  if (isRemoved)
    return show(
      on,
      entry,
      section(
        'The test account was removed',
        html`<p>Its consent can no longer be compared with the definition.</p><div class="buttons">${again}${finish(id)}</div>`,
      ),
    )
  const isConnected = connectionId !== undefined
  const same = hidden('auth_id', authorization.id)
  const mayRefresh = isConnected && tested.isRefreshed !== true && hasRefresh(on, entry)
  return show(
    on,
    entry,
    html`${causeNote(explanation.cause)}${section('What the test has shown', html`${liveView(findings)}<p>${details}</p>`)}
${on.mayChange && correction(on, entry, tested)}
${
  on.mayChange &&
  isConnected &&
  section(
    'The test account',
    html`<p>It is connected as the user ${code(explanation.userId)}: ${link(`/connections/${connectionId}`, 'its connection')}.</p>
${mayRefresh && on.form(`${pathOf(id)}/refresh`, html`${same}<p class="hint">A refresh shows whether users stay connected once their token ends. It takes up to eleven seconds, because a token that is younger is not refreshed.</p>${submit('Try a refresh, too', 'secondary')}`)}
${on.form(`${pathOf(id)}/end`, html`${same}<p class="hint">Deletes the connection here, and revokes its tokens where the provider can do that.</p>${submit('Remove the test account', 'danger')}`, { recent: true })}`,
  )
}
<div class="buttons">${isConnected ? finish(id) : ''}${again}</div>`,
  )
}

const finish = (id: string) => buttonLink(`${providerPath(id)}?step=ready`, 'Finish', { secondary: false })

/** The settings that a consent is compared with. Throws `invalid_request` where there is no consent. */
function comparedOf(broker: Broker, entry: ProviderEntry) {
  const { oauth2 } = entryToWire(broker, entry)
  if (oauth2 !== undefined) return oauth2
  throw new BrokerError(
    'invalid_request',
    `Users of ${entry.provider.displayName} type credentials, so there is no consent.`,
  )
}

function hasRefresh({ broker }: OnPage, entry: ProviderEntry): boolean {
  return entryToWire(broker, entry).oauth2?.refresh_request != null
}

/** The settings that make the definition agree with what was seen. */
function correction(on: OnPage, { id }: ProviderEntry, { authorization, findings }: Tested): Html | '' {
  if (Object.keys(findings.patch).length === 0) return ''
  return section(
    'A correction',
    html`<p>With these settings the entry agrees with what the provider did:</p>
<pre tabindex="0"><code>${JSON.stringify({ oauth2: findings.patch }, null, 2)}</code></pre>
${on.form(`${pathOf(id)}/correct`, html`${hidden('auth_id', authorization.id)}${hidden('patch', JSON.stringify(findings.patch))}${submit('Correct the entry')}`, { recent: true })}`,
  )
}
