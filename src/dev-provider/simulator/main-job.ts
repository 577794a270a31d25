import { CHOICE_FIELD } from '../../http/pages/choose-page.ts'
import { matchingText } from '../../providers/matching-text.ts'
import { accountIdOf } from './answers.ts'
import { clientKeyFor, type SigningClient } from './client-key.ts'
import type { SimulatedOAuth2 } from './definition.ts'
import { type CodeAnswer, walkThroughCode } from './device-user.ts'
import { runGrantJob } from './grant-job.ts'
import { runInstallationJob } from './installation-job.ts'
import { type JobResult, runSteps, type SimulatedEntry } from './job.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import { runKeyJob } from './key-job.ts'
import { runSigningJob } from './signing-job.ts'
import { walkThroughConsent } from './simulated-browser.ts'
import type { Answer, SimulatedGatepass } from './simulated-gatepass.ts'
import { Simulator } from './simulator.ts'
import { TENANT_NAMES, tenantsOf } from './tenants.ts'

// The whole main job of one provider against its simulator: consent, callback, token, call, refresh, refusal, revocation.
// Gatepass is the real one, used by its API and its pages; the simulator answers its outgoing requests.

/** Runs the main job of a definition: with a consent, with keys that users type, or with tokens of the client itself. */
export function runMainJob(gatepass: SimulatedGatepass, entry: SimulatedEntry): Promise<JobResult> {
  if (entry.body.type === 'credentials') return runKeyJob(gatepass, entry)
  if (entry.body.type === 'oauth1') return runSigningJob(gatepass, entry)
  const { oauth2 } = entry.body as { readonly oauth2?: Partial<SimulatedOAuth2> } // checked by the API
  const grant = entry.grant ?? oauth2?.grant?.type ?? 'authorization_code'
  if (grant === 'installation') return runInstallationJob(gatepass, entry)
  const isDevice = grant === 'device_code'
  if (grant !== 'authorization_code' && !isDevice)
    return runGrantJob(gatepass, entry, entry.client ?? signingClientOf(oauth2))
  const hasChoice = entry.hasChoice ?? oauth2?.choices_request !== undefined
  const job = new Job(gatepass, entry)
  return runSteps(gatepass, entry.body.id, [
    ['definition', () => job.define()],
    ['consent refused', () => job.refuse()],
    ...(isDevice ? [['code expired', () => job.letExpire()] as const] : []),
    ...(hasChoice ? [['choice', () => job.choose()] as const] : []),
    ['consent', () => job.consent()],
    ['call', () => job.use()],
    ['refresh', () => job.refresh()],
    ['refresh refused', () => job.refuseRefresh()],
    ['revocation', () => job.revoke()],
  ])
}

class Job {
  readonly #gatepass: SimulatedGatepass
  readonly #entry: SimulatedEntry
  readonly #user: string
  #oauth2: SimulatedOAuth2 | undefined
  #simulator: Simulator | undefined
  #connectionId = ''
  readonly #usersValues: Record<string, string> = {}

  constructor(gatepass: SimulatedGatepass, entry: SimulatedEntry) {
    this.#gatepass = gatepass
    this.#entry = entry
    this.#user = `user of ${entry.body.id}`
  }

  /** The entry, with a client of the simulator. */
  async define(): Promise<string> {
    const { body, client: signing = signingClientOf(body.oauth2) } = this.#entry
    const key = clientKeyFor(signing)
    const clientSecret = key?.secret ?? 'simulated-secret+with/odd:characters %'
    const client = { client_id: `simulated-client-${body.id}`, client_secret: clientSecret }
    const { status, body: answer } = await this.#gatepass.call('POST', '/v1/admin/auth_providers', {
      ...body,
      oauth2: { ...body.oauth2, ...client },
    })
    if (status !== 201) throw new JobFailure(answer.message ?? `the entry is refused (${status})`)
    this.#oauth2 = this.#withUsersValues(answer.oauth2 as SimulatedOAuth2) // the wire's contract
    this.#simulator = new Simulator(
      { ...this.#oauth2, ...this.#entry.plays },
      {
        clientId: client.client_id,
        // a key is not sent
        clientSecret: key === undefined ? clientSecret : '',
        redirectUri: answer.oauth2.redirect_uri,
        ...(key && { verifies: (jwt: string) => key.verifies(jwt, this.#gatepass.clock()) }),
      },
      this.#gatepass.clock,
    )
    this.#gatepass.outgoing.playing = this.#simulator
    const { authorize_request, device_authorization_request, token_request: token } = answer.oauth2
    const { endpoint } = authorize_request ?? device_authorization_request
    return `${new URL(this.#shown(endpoint)).host}, client authentication ${token.auth_method}`
  }

  async refuse(): Promise<string> {
    this.#playing.play.consent = 'deny'
    const { id } = await this.#authorize(`${this.#user}, who refuses`, 'deny')
    this.#playing.play.consent = 'approve'
    await this.#expectFailed(id, 'access_denied')
    return 'access_denied reaches the caller'
  }

  /** The user does not enter the device code in time (RFC 8628 section 3.5). */
  async letExpire(): Promise<string> {
    const { id } = await this.#authorize(`${this.#user}, who is too late`, 'let expire')
    await this.#expectFailed(id, 'expired')
    return 'a code that is not entered expires'
  }

  async #expectFailed(id: string, reason: string): Promise<void> {
    const { body } = await this.#gatepass.call('GET', `/v1/auth/status?id=${id}`)
    expectThat(
      body.status === 'failed' && body.reason === reason,
      `the authorization is ${body.status} ${body.reason ?? ''} instead of failed ${reason}`,
    )
  }

  async consent(): Promise<string> {
    const { id } = await this.#authorize(this.#user)
    const { body } = await this.#gatepass.call('GET', `/v1/auth/status?id=${id}`)
    expectThat(
      body.status === 'completed',
      `the authorization is ${body.status}: ${body.reason ?? ''} ${body.message ?? ''}`,
    )
    const { body: list } = await this.#gatepass.call(
      'GET',
      `/v1/connections?user_id=${encodeURIComponent(this.#user)}`,
    )
    const [connection] = list.items
    expectThat(connection !== undefined, 'there is no connection')
    const expected = this.#accountId(0)
    expectThat(
      connection.account.id === expected,
      `the account is "${connection.account.id}" instead of "${expected}"`,
    )
    this.#connectionId = connection.id
    this.#expectExpiry(connection.expires_at)
    const again = await this.#gatepass.call('POST', '/v1/auth/authorize', this.#need(this.#user))
    expectThat(again.body.status === 'completed', 'the granted scopes do not cover those that were asked for')
    return `connected as ${connection.account.name || connection.account.id}, scopes ${connection.scopes.join(' ') || 'none'}`
  }

  /** The id of the person's account: it counts within the values that the user gave, and within the tenant. */
  #accountId(tenant: number): string {
    if (this.#oauth2 === undefined) return ''
    const own = accountIdOf(this.#oauth2)
    const within = [...Object.values(this.#usersValues), ...this.#tenants.slice(tenant, tenant + 1)]
    return [...within, ...(own === '' && within.length > 0 ? [] : [own])].join(':')
  }

  get #tenants(): readonly string[] {
    if (this.#oauth2?.choices_request === undefined) return []
    return tenantsOf(this.#oauth2, TENANT_NAMES.length).map(({ id }) => id)
  }

  /** A user with several tenants is asked, and chooses the second one. */
  async choose(): Promise<string> {
    const user = `${this.#user}, who chooses`
    this.#playing.play.tenants = TENANT_NAMES.length
    const { id, url, cookie } = await this.#authorize(user)
    this.#playing.play.tenants = 1
    const page = await (await this.#gatepass.browse(url, { cookie })).text()
    for (const name of TENANT_NAMES) expectThat(page.includes(name), `the page does not offer ${name}`)
    const form = new URLSearchParams({ [CHOICE_FIELD]: this.#tenants[1] ?? '' }).toString()
    await this.#gatepass.browse(url, { cookie, form })
    this.#expectNoFaults()
    const { body } = await this.#gatepass.call('GET', `/v1/auth/status?id=${id}`)
    expectThat(body.status === 'completed', `the authorization is ${body.status}: ${body.reason ?? ''}`)
    const path = `/v1/connections?user_id=${encodeURIComponent(user)}`
    const [connection] = (await this.#gatepass.call('GET', path)).body.items
    const expected = this.#accountId(1)
    expectThat(
      connection?.account.id === expected && connection.account.name === TENANT_NAMES[1],
      `the account is "${connection?.account.id}" instead of "${expected}"`,
    )
    await this.#gatepass.call('DELETE', `/v1/connections/${connection.id}`)
    return 'of several, the user chooses'
  }

  /** The connection expires when the server said, or by default. */
  #expectExpiry(stored: string | undefined): void {
    const { default_expires_in: life, token_introspection_request: introspection } = this.#oauth2 ?? {}
    const isAsked = introspection?.triggers?.on_token_grant === true
    if (introspection !== undefined && !isAsked) return
    const { clock } = this.#gatepass
    const expected = life === undefined || isAsked ? (this.#playing.latest?.expiresAt ?? 0) : clock() + life
    const actual = stored === undefined ? undefined : Date.parse(stored) / 1000
    expectThat(
      actual !== undefined && Math.abs(actual - expected) <= 5,
      `the token expires ${actual === undefined ? 'never' : `in ${actual - clock()} s`} instead of in ${expected - clock()} s`,
    )
  }

  /** A request to the API through the proxy, or the token where no API is known. */
  async use(): Promise<string> {
    if (this.#oauth2?.api?.base_url === undefined) {
      if (this.#isBound)
        return 'the definition names no API, and tokens that are bound to a key are not released'
      const { status } = await this.#token()
      expectThat(status === 200, `the token is not released (${status})`)
      return 'the token is released; the definition names no API'
    }
    const { status, body } = await this.#callApi()
    this.#expectNoFaults()
    expectThat(
      status === 200 && body.simulated === true,
      `the API call is answered with ${status}: ${body.message ?? ''}`,
    )
    return `the API was called with the token, at ${this.#shown(this.#oauth2.api.base_url)}`
  }

  async refresh(): Promise<string> {
    if (!this.#canRefresh)
      return this.#oauth2?.refresh_request === undefined
        ? 'no refresh requests: tokens are used to their end'
        : 'not tried, since the definition names no API'
    const before = this.#playing.latest?.accessToken
    const body = await this.#refreshed()
    this.#expectNoFaults()
    expectThat(body.status === 200, `the refresh failed (${body.status}): ${body.body.message ?? ''}`)
    const after = this.#playing.latest
    expectThat(after?.isRefreshed === true && after.accessToken !== before, 'no refresh request was sent')
    expectThat(
      this.#isBound || body.body.access_token === after.accessToken,
      'the caller got another token than the refreshed one',
    )
    if (this.#oauth2?.renewal_request !== undefined) return 'the access token is renewed'
    return this.#oauth2?.strict_rotation === true ? 'refreshed, with a new refresh token' : 'refreshed'
  }

  async refuseRefresh(): Promise<string> {
    if (!this.#canRefresh) return 'no refresh requests'
    this.#playing.play.refusesRefresh = true
    const { status, body } = await this.#refreshed()
    this.#playing.play.refusesRefresh = false
    expectThat(
      status === 403 && body.name === 'authorization_required',
      `a refused refresh is answered with ${status} ${body.name}`,
    )
    return 'a refused refresh asks for a new consent'
  }

  async revoke(): Promise<string> {
    const { body } = await this.#gatepass.call('DELETE', `/v1/connections/${this.#connectionId}`)
    this.#expectNoFaults()
    const expected = this.#oauth2?.revocation_request === undefined ? 'unsupported' : 'revoked'
    expectThat(body.revocation === expected, `the revocation is ${body.revocation} instead of ${expected}`)
    return body.revocation
  }

  /** After the token's life; by force where its life is not known, and within it where the token is renewed. */
  async #refreshed(): Promise<Answer> {
    const { renewal_request: renewal } = this.#oauth2 ?? {}
    if (renewal !== undefined) {
      this.#gatepass.clock.advance(Math.max(60, renewal.least_age ?? 0))
      return this.#token({ force_refresh: true })
    }
    const { body } = await this.#gatepass.call('GET', `/v1/connections/${this.#connectionId}`)
    const isKnown = body.expires_at !== undefined
    this.#gatepass.clock.advance(
      isKnown ? Math.max(60, Date.parse(body.expires_at) / 1000 - this.#gatepass.clock()) : 60,
    )
    return this.#token(isKnown ? {} : { force_refresh: true })
  }

  /** The token, refreshed if it has expired; where tokens are not released, a request to the API with it. */
  #token(body: object = {}): Promise<Answer> {
    if (this.#isBound) return this.#callApi()
    return this.#gatepass.call('POST', `/v1/connections/${this.#connectionId}/token`, body)
  }

  #callApi(): Promise<Answer> {
    const path = `/proxy/${this.#entry.body.id}/simulated`
    return this.#gatepass.call('GET', path, undefined, { 'x-gatepass-user': this.#user })
  }

  #need(user_id: string) {
    const oauth2 = { scopes: this.#entry.scopes ?? [] }
    return { auth_requirement: { id: this.#entry.body.id, oauth2 }, user_id }
  }

  /** From the caller's request to the end of the user's part; the browser's cookies go along. */
  async #authorize(
    user: string,
    answer: CodeAnswer = 'approve',
  ): Promise<{ readonly id: string; readonly url: string; readonly cookie: string }> {
    const { status, body } = await this.#gatepass.call('POST', '/v1/auth/authorize', this.#need(user))
    expectThat(
      status === 200 && body.url !== undefined,
      `the authorization does not begin (${status}): ${body.message ?? ''}`,
    )
    this.#playing.play.scopes = body.scopes ?? []
    const walk = { url: body.url, usersValues: this.#usersValues }
    const { authorize_request: byRedirect } = this.#oauth2 ?? {}
    let cookie = ''
    if (byRedirect === undefined)
      await walkThroughCode(this.#gatepass, () => this.#playing.devices, { ...walk, answer }).catch(
        (error: unknown) => {
          this.#expectNoFaults() // says why the user was shown something else
          throw error
        },
      )
    else
      cookie = await walkThroughConsent(this.#gatepass, this.#playing, {
        ...walk,
        comesBackBy: byRedirect.params?.response_mode === 'form_post' ? 'form' : 'redirect',
      })
    this.#expectNoFaults()
    return { id: body.id, url: body.url, cookie }
  }

  /** The definition with a value for each variable that users are asked for. */
  #withUsersValues(oauth2: SimulatedOAuth2): SimulatedOAuth2 {
    const { variables = {} } = oauth2
    for (const [name, { ask, example, one_of: options, pattern }] of Object.entries(variables))
      if (ask === 'user')
        this.#usersValues[name] = example ?? options?.[0] ?? matchingText(pattern ?? '') ?? ''
    const given = Object.entries(this.#usersValues).map(([name, value]) => [
      name,
      { ...variables[name], value },
    ])
    return { ...oauth2, variables: { ...variables, ...Object.fromEntries(given) } }
  }

  /** A URL with the values of the entry's variables, for people. */
  #shown(url: string): string {
    const { variables = {} } = this.#oauth2 ?? {}
    return url.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => variables[name]?.value ?? name)
  }

  get #isBound(): boolean {
    return this.#oauth2?.dpop !== undefined
  }

  get #canRefresh(): boolean {
    if (this.#isBound && this.#oauth2?.api?.base_url === undefined) return false
    return (this.#oauth2?.refresh_request ?? this.#oauth2?.renewal_request) !== undefined
  }

  get #playing(): Simulator {
    if (this.#simulator === undefined) throw new JobFailure('there is no entry')
    return this.#simulator
  }

  #expectNoFaults(): void {
    const [fault] = this.#playing.faults
    if (fault !== undefined) throw new JobFailure(`${fault.request}: ${fault.fault}`)
  }
}

function signingClientOf(oauth2: object | undefined): SigningClient {
  const {
    token_request: token,
    client_assertion: assertion,
    ...own
  } = {
    ...oauth2,
  } as Partial<SimulatedOAuth2> // checked by the API
  if (own.grant?.type === 'jwt_bearer')
    return { method: 'private_key_jwt', algorithm: own.assertion?.algorithm }
  return { method: token?.auth_method, algorithm: assertion?.algorithm }
}
