import { ACCOUNT } from './answers.ts'
import { type JobResult, runSteps, type SimulatedEntry } from './job.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import { SigningService, type SimulatedOAuth1 } from './signing-service.ts'
import { walkThroughConsent } from './simulated-browser.ts'
import type { SimulatedGatepass } from './simulated-gatepass.ts'

// The main job of a service of OAuth 1.0a: a refusal, a consent, a signed call, and a token that ended.

export function runSigningJob(gatepass: SimulatedGatepass, entry: SimulatedEntry): Promise<JobResult> {
  const job = new SigningJob(gatepass, entry)
  return runSteps(gatepass, entry.body.id, [
    ['definition', () => job.define()],
    ['consent refused', () => job.refuse()],
    ['consent', () => job.connect()],
    ['call', () => job.use()],
    ['token refused', () => job.end()],
    ['deletion', () => job.remove()],
  ])
}

class SigningJob {
  readonly #gatepass: SimulatedGatepass
  readonly #body: SimulatedEntry['body']
  readonly #user: string
  #service: SigningService | undefined
  #hasApi = false
  #namesAccount = false
  #connectionId = ''

  constructor(gatepass: SimulatedGatepass, { body }: SimulatedEntry) {
    this.#gatepass = gatepass
    this.#body = body
    this.#user = `user of ${body.id}`
  }

  async define(): Promise<string> {
    const client = { client_id: 'simulated client', client_secret: 'simulated-secret+with/odd:characters %' }
    const { status, body } = await this.#gatepass.call('POST', '/v1/admin/auth_providers', {
      ...this.#body,
      oauth1: { ...Object(this.#body.oauth1), ...client },
    })
    if (status !== 201) throw new JobFailure(body.message ?? `the entry is refused (${status})`)
    const oauth1 = body.oauth1 as SimulatedOAuth1 // the wire's contract
    this.#namesAccount = oauth1.account !== undefined
    this.#hasApi = oauth1.api?.base_url !== undefined
    this.#service = new SigningService(oauth1, {
      clientId: client.client_id,
      clientSecret: client.client_secret,
    })
    this.#gatepass.outgoing.playing = this.#service
    return `requests are signed with ${oauth1.signature_method}`
  }

  async refuse(): Promise<string> {
    this.#playing.denies = true
    const state = await this.#consent()
    this.#playing.denies = false
    expectThat(state === 'failed: access_denied', `after a refusal the authorization is ${state}`)
    return 'the refusal ends the authorization'
  }

  async connect(): Promise<string> {
    const state = await this.#consent()
    this.#expectNoFaults()
    expectThat(state === 'completed', `the authorization is ${state}`)
    const [connection] = await this.#connections()
    expectThat(connection !== undefined, 'there is no connection')
    this.#connectionId = connection.id
    const { name } = connection.account
    expectThat(!this.#namesAccount || name === ACCOUNT.name, `the account is read as “${name}”`)
    return `connected as ${connection.account.name || connection.account.id || 'an account without a name'}`
  }

  async use(): Promise<string> {
    if (!this.#hasApi) return 'there is no base URL of an API'
    const before = this.#playing.accepted
    const { status, body } = await this.#call()
    this.#expectNoFaults()
    expectThat(
      status === 200 && body.simulated === true && this.#playing.accepted > before,
      `the API call is answered with ${status}: ${body?.message ?? ''}`,
    )
    return 'the API was called with a signed request'
  }

  /** The API refuses the token twice, more than a minute apart. */
  async end(): Promise<string> {
    if (!this.#hasApi) return 'there is no base URL of an API'
    this.#playing.isRevoked = true
    for (let times = 0; times < 2; times++) {
      this.#gatepass.clock.advance(100)
      await this.#call()
    }
    const [connection] = await this.#connections()
    expectThat(
      connection?.status === 'needs_authorization',
      `after two refusals the connection is ${connection?.status}`,
    )
    return 'a token that the API refuses asks its user again'
  }

  async remove(): Promise<string> {
    const { body } = await this.#gatepass.call('DELETE', `/v1/connections/${this.#connectionId}`)
    expectThat(body.revocation === 'unsupported', `the revocation is ${body.revocation}`)
    return 'forgotten here; the access is ended at the service'
  }

  async #consent(): Promise<string> {
    const need = { auth_requirement: { id: this.#body.id }, user_id: this.#user }
    const { status, body } = await this.#gatepass.call('POST', '/v1/auth/authorize', need)
    expectThat(status === 200 && body.url !== undefined, `the authorization does not begin (${status})`)
    await walkThroughConsent(this.#gatepass, this.#playing, {
      url: body.url,
      usersValues: {},
      comesBackBy: 'redirect',
    })
    const ended = (await this.#gatepass.call('GET', `/v1/auth/status?id=${body.id}`)).body
    return `${ended.status}${ended.reason === undefined ? '' : `: ${ended.reason}`}`
  }

  #call() {
    return this.#gatepass.call('GET', `/proxy/${this.#body.id}/simulated?q=a%20b`, undefined, {
      'x-gatepass-user': this.#user,
    })
  }

  async #connections() {
    const path = `/v1/connections?user_id=${encodeURIComponent(this.#user)}`
    return (await this.#gatepass.call('GET', path)).body.items
  }

  #expectNoFaults(): void {
    const [fault] = this.#playing.faults
    if (fault !== undefined) throw new JobFailure(`the ${fault.request} ${fault.fault}`)
  }

  get #playing(): SigningService {
    if (this.#service === undefined) throw new JobFailure('there is no entry')
    return this.#service
  }
}
