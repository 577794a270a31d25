import { VALUE_PREFIX } from '../../http/pages/connect-page.ts'
import { type JobResult, runSteps, type SimulatedEntry } from './job.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import { KeyService, type SimulatedCredentials, typedFor } from './key-service.ts'
import { cookiesOf } from './simulated-browser.ts'
import type { SimulatedGatepass } from './simulated-gatepass.ts'

// The main job of a service whose users type keys: a wrong key, the right one, a call, and a key that ended.

export function runKeyJob(gatepass: SimulatedGatepass, entry: SimulatedEntry): Promise<JobResult> {
  const job = new KeyJob(gatepass, entry)
  return runSteps(gatepass, entry.body.id, [
    ['definition', () => job.define()],
    ['wrong key', () => job.refuse()],
    ['key', () => job.connect()],
    ['call', () => job.use()],
    ['key refused', () => job.end()],
    ['deletion', () => job.remove()],
  ])
}

class KeyJob {
  readonly #gatepass: SimulatedGatepass
  readonly #body: SimulatedEntry['body']
  readonly #user: string
  #credentials: SimulatedCredentials | undefined
  #service: KeyService | undefined
  #typed: Record<string, string> = {}
  #connectionId = ''

  constructor(gatepass: SimulatedGatepass, { body }: SimulatedEntry) {
    this.#gatepass = gatepass
    this.#body = body
    this.#user = `user of ${body.id}`
  }

  async define(): Promise<string> {
    const { status, body } = await this.#gatepass.call('POST', '/v1/admin/auth_providers', this.#body)
    if (status !== 201) throw new JobFailure(body.message ?? `the entry is refused (${status})`)
    this.#credentials = body.credentials as SimulatedCredentials // the wire's contract
    const { fields } = this.#credentials
    this.#typed = typedFor(fields)
    this.#service = new KeyService(this.#credentials, this.#typed)
    this.#gatepass.outgoing.playing = this.#service
    return `users type ${Object.keys(fields).join(', ')}`
  }

  async refuse(): Promise<string> {
    const { fields, test_request: test, token_request: login } = this.#known
    if (test === undefined && login === undefined) return 'nothing checks what is typed'
    const wrong = Object.entries(this.#typed).map(([name, value]) => [
      name,
      fields[name]?.secret ? `wrong-${value}` : value,
    ])
    const id = await this.#type(Object.fromEntries(wrong))
    const state = await this.#stateOf(id)
    expectThat(state === 'pending', `after a wrong key the authorization is ${state}`)
    expectThat((await this.#connections()).length === 0, 'a wrong key was stored')
    return 'a wrong key is not stored, and the form is shown again'
  }

  async connect(): Promise<string> {
    const id = await this.#type(this.#typed)
    const state = await this.#stateOf(id)
    this.#expectNoFaults()
    expectThat(state === 'completed', `the authorization is ${state}`)
    const [connection] = await this.#connections()
    expectThat(connection !== undefined, 'there is no connection')
    this.#connectionId = connection.id
    return `connected as ${connection.account.name || connection.account.id || 'an account without a name'}`
  }

  async use(): Promise<string> {
    const before = this.#playing.accepted
    const { status, body } = await this.#call()
    this.#expectNoFaults()
    expectThat(
      status === 200 && body.simulated === true && this.#playing.accepted > before,
      `the API call is answered with ${status}: ${body?.message ?? ''}`,
    )
    return 'the API was called with the key in its place'
  }

  /** The service refuses the key twice, a minute apart. */
  async end(): Promise<string> {
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
    return 'a key that the service refuses asks its user again'
  }

  async remove(): Promise<string> {
    const { body } = await this.#gatepass.call('DELETE', `/v1/connections/${this.#connectionId}`)
    expectThat(body.revocation === 'unsupported', `the revocation is ${body.revocation}`)
    return 'forgotten here; the key is deleted at the service'
  }

  /** Opens the link, and sends the form. */
  async #type(values: Readonly<Record<string, string>>): Promise<string> {
    const { call, browse } = this.#gatepass
    const need = { auth_requirement: { id: this.#body.id }, user_id: this.#user }
    const { status, body } = await call('POST', '/v1/auth/authorize', need)
    expectThat(status === 200 && body.url !== undefined, `the authorization does not begin (${status})`)
    const page = await browse(body.url, {})
    expectThat(page.status === 200, `the form is answered with ${page.status}`)
    const pairs = Object.entries(values).map(([name, value]) => [`${VALUE_PREFIX}${name}`, value])
    await browse(body.url, { cookie: cookiesOf(page), form: new URLSearchParams(pairs).toString() })
    return body.id
  }

  #call() {
    return this.#gatepass.call('GET', `/proxy/${this.#body.id}/simulated`, undefined, {
      'x-gatepass-user': this.#user,
    })
  }

  async #stateOf(id: string): Promise<string> {
    const { body } = await this.#gatepass.call('GET', `/v1/auth/status?id=${id}`)
    return `${body.status}${body.reason === undefined ? '' : `: ${body.reason}`}`
  }

  async #connections() {
    const { body } = await this.#gatepass.call(
      'GET',
      `/v1/connections?user_id=${encodeURIComponent(this.#user)}`,
    )
    return body.items
  }

  #expectNoFaults(): void {
    const [fault] = this.#playing.faults
    if (fault !== undefined) throw new JobFailure(`the ${fault.request} ${fault.fault}`)
  }

  get #known(): SimulatedCredentials {
    if (this.#credentials === undefined) throw new JobFailure('there is no entry')
    return this.#credentials
  }

  get #playing(): KeyService {
    if (this.#service === undefined) throw new JobFailure('there is no entry')
    return this.#service
  }
}
