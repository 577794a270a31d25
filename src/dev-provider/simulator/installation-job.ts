import { CHOICE_FIELD } from '../../http/pages/choose-page.ts'
import { clientKeyFor } from './client-key.ts'
import type { SimulatedOAuth2 } from './definition.ts'
import { InstallationService } from './installation-service.ts'
import { type JobResult, runSteps, type SimulatedEntry } from './job.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import { approve, walkThroughConsent } from './simulated-browser.ts'
import type { Answer, SimulatedGatepass } from './simulated-gatepass.ts'
import { LIFETIME_SECONDS } from './simulator.ts'

// The main job of a provider at which clients are installed: a consent, the first installation, a call with its token, the
// next token, a choice among several, and an installation that was removed.

export function runInstallationJob(gatepass: SimulatedGatepass, entry: SimulatedEntry): Promise<JobResult> {
  const job = new InstallationJob(gatepass, entry)
  return runSteps(gatepass, entry.body.id, [
    ['definition', () => job.define()],
    ['consent refused', () => job.refuse()],
    ['consent', () => job.consent()],
    ['call', () => job.use()],
    ['next token', () => job.renew()],
    ['choice', () => job.choose()],
    ['removed', () => job.remove()],
    ['disconnect', () => job.disconnect()],
  ])
}

const FIRST = { id: '4201', name: 'acme' } as const
const SECOND = { id: '4202', name: 'globex' } as const

class InstallationJob {
  readonly #gatepass: SimulatedGatepass
  readonly #entry: SimulatedEntry
  readonly #user: string
  #oauth2: SimulatedOAuth2 | undefined
  #service: InstallationService | undefined

  constructor(gatepass: SimulatedGatepass, entry: SimulatedEntry) {
    this.#gatepass = gatepass
    this.#entry = entry
    this.#user = `user of ${entry.body.id}`
  }

  /** The entry, with a client of the simulator: its secret, and the private key that signs. */
  async define(): Promise<string> {
    const { body } = this.#entry
    const algorithm = this.#entry.client?.algorithm ?? assertionOf(body.oauth2).algorithm
    const key = clientKeyFor({ method: 'private_key_jwt', algorithm })
    if (key === undefined) throw new JobFailure(`the simulator has no keys for ${algorithm}`)
    const client_id = `simulated-client-${body.id}`
    const secret = 'simulated-secret-of-the-client-1'
    const { status, body: answer } = await this.#gatepass.call('POST', '/v1/admin/auth_providers', {
      ...body,
      oauth2: { ...body.oauth2, client_id, client_secret: `${secret}\n${key.secret}` },
    })
    if (status !== 201) throw new JobFailure(answer.message ?? `the entry is refused (${status})`)
    const oauth2 = answer.oauth2 as SimulatedOAuth2 // the wire's contract
    this.#oauth2 = oauth2
    const now = this.#gatepass.clock
    this.#service = new InstallationService(
      { ...oauth2, ...this.#entry.plays },
      {
        clientId: client_id,
        clientSecret: secret,
        redirectUri: answer.oauth2.redirect_uri,
        verifies: (jwt) => key.verifies(jwt, now()),
      },
      now,
    )
    this.#gatepass.outgoing.playing = this.#service
    return `installation, client authentication ${oauth2.token_request.auth_method}`
  }

  async refuse(): Promise<string> {
    this.#playing.consent = 'deny'
    const { id } = await this.#walk(`${this.#user}, who refuses`)
    this.#playing.consent = 'approve'
    const { body } = await this.#status(id)
    expectThat(
      body.status === 'failed' && body.reason === 'access_denied',
      `the authorization is ${body.status} ${body.reason ?? ''} instead of failed access_denied`,
    )
    return 'access_denied reaches the caller'
  }

  /** Of a user who has no installation yet, where the definition names the page of the provider. */
  async consent(): Promise<string> {
    const hasPage = this.#oauth2?.installation_uri !== undefined
    if (!hasPage) this.#playing.installed.set(FIRST.id, FIRST.name)
    const { id, url, cookie } = await this.#walk(this.#user)
    if (hasPage) {
      const page = await (await this.#gatepass.browse(url, { cookie })).text()
      const link = /class="button" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
      expectThat(
        link !== undefined,
        'a user without an installation is not shown where the client is installed',
      )
      const back = await this.#gatepass.browse(this.#install(link).href, { cookie })
      const again = back.headers.get('location') ?? ''
      expectThat(URL.canParse(again), 'after the installation, the user is not asked to approve')
      await approve(this.#gatepass, this.#playing, { toProvider: again, cookie, comesBackBy: 'redirect' })
    }
    await this.#expectConnected(id, this.#user, FIRST)
    return hasPage ? 'connected after the client was installed' : 'connected'
  }

  #install(link: string): URL {
    try {
      return this.#playing.install(new URL(link), FIRST.id, FIRST.name)
    } catch (error) {
      throw new JobFailure(`the link to the installation ${error instanceof Error ? error.message : error}`)
    }
  }

  async use(): Promise<string> {
    await this.#expectCall()
    expectThat(this.#playing.issued === 1, `${this.#playing.issued} tokens are asked for instead of one`)
    return this.#oauth2?.api?.base_url === undefined
      ? 'the token is released; the definition names no API'
      : 'the API was called with a token of the installation'
  }

  async renew(): Promise<string> {
    const before = this.#playing.issued
    this.#gatepass.clock.advance(LIFETIME_SECONDS)
    await this.#expectCall()
    expectThat(this.#playing.issued === before + 1, 'an expired token was used on')
    return 'asked for when the token has expired'
  }

  async choose(): Promise<string> {
    this.#playing.installed.set(SECOND.id, SECOND.name)
    const user = `${this.#user}, who chooses`
    const { id, url, cookie } = await this.#walk(user)
    const page = await (await this.#gatepass.browse(url, { cookie })).text()
    for (const { name } of [FIRST, SECOND])
      expectThat(page.includes(name), `the page does not offer the installation ${name}`)
    const form = new URLSearchParams({ [CHOICE_FIELD]: SECOND.id }).toString()
    await this.#gatepass.browse(url, { cookie, form })
    await this.#expectConnected(id, user, SECOND)
    return 'of several, the user chooses'
  }

  async remove(): Promise<string> {
    this.#playing.installed.delete(FIRST.id)
    this.#gatepass.clock.advance(LIFETIME_SECONDS)
    const { status, body } = await this.#call()
    this.#expectNoFaults()
    expectThat(
      status === 403 && body.name === 'authorization_required',
      `an installation that was removed is answered with ${status} ${body.name}`,
    )
    return 'an installation that was removed asks for a new consent'
  }

  async disconnect(): Promise<string> {
    const { id } = (await this.#connection(this.#user)) ?? {}
    const { body } = await this.#gatepass.call('DELETE', `/v1/connections/${id}`)
    this.#expectNoFaults()
    const expected = this.#oauth2?.revocation_request === undefined ? 'unsupported' : 'revoked'
    expectThat(body.revocation === expected, `the revocation is ${body.revocation} instead of ${expected}`)
    return body.revocation
  }

  async #expectConnected(id: string, user: string, to: { readonly id: string; readonly name: string }) {
    this.#expectNoFaults()
    const { body } = await this.#status(id)
    expectThat(
      body.status === 'completed',
      `the authorization is ${body.status}: ${body.reason ?? ''} ${body.message ?? ''}`,
    )
    const connection = await this.#connection(user)
    expectThat(
      connection?.account.id === to.id && connection.account.name === to.name,
      `the account is "${connection?.account.id}" instead of "${to.id}"`,
    )
  }

  async #expectCall(): Promise<void> {
    const { status, body } = await this.#call()
    this.#expectNoFaults()
    expectThat(status === 200, `the call is answered with ${status}: ${body?.message ?? ''}`)
  }

  /** A request to the API, or the token where no API is known. */
  async #call(): Promise<Answer> {
    if (this.#oauth2?.api?.base_url === undefined) {
      const { id } = (await this.#connection(this.#user)) ?? {}
      return this.#gatepass.call('POST', `/v1/connections/${id}/token`, {})
    }
    const scopes = this.#playing.scopes.join(' ')
    return this.#gatepass.call('GET', `/proxy/${this.#entry.body.id}/simulated`, undefined, {
      'x-gatepass-user': this.#user,
      ...(scopes !== '' && { 'x-gatepass-scopes': scopes }),
    })
  }

  async #connection(user: string) {
    const path = `/v1/connections?user_id=${encodeURIComponent(user)}`
    return (await this.#gatepass.call('GET', path)).body.items[0]
  }

  #status(id: string): Promise<Answer> {
    return this.#gatepass.call('GET', `/v1/auth/status?id=${id}`)
  }

  /** From the caller's request to what the browser is shown after the callback. */
  async #walk(user: string): Promise<{ readonly id: string; readonly url: string; readonly cookie: string }> {
    const oauth2 = { scopes: this.#entry.scopes ?? [] }
    const { status, body } = await this.#gatepass.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: this.#entry.body.id, oauth2 },
      user_id: user,
    })
    expectThat(
      status === 200 && body.url !== undefined,
      `the authorization does not begin (${status}): ${body.message ?? ''}`,
    )
    this.#playing.scopes = body.scopes ?? []
    const cookie = await walkThroughConsent(this.#gatepass, this.#playing, {
      ...{ url: body.url, usersValues: {}, comesBackBy: 'redirect' },
    })
    this.#expectNoFaults()
    return { id: body.id, url: body.url, cookie }
  }

  get #playing(): InstallationService {
    if (this.#service === undefined) throw new JobFailure('there is no entry')
    return this.#service
  }

  #expectNoFaults(): void {
    const [fault] = this.#playing.faults
    if (fault !== undefined) throw new JobFailure(`the ${fault.request} request ${fault.fault}`)
  }
}

function assertionOf(oauth2: object | undefined): { readonly algorithm?: string } {
  return ({ ...oauth2 } as Partial<SimulatedOAuth2>).assertion ?? {} // checked by the API
}
