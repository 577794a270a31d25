import { matchingText } from '../../providers/matching-text.ts'
import { clientKeyFor, type SigningClient } from './client-key.ts'
import type { SimulatedOAuth2 } from './definition.ts'
import { GrantService, SUBJECT_TOKEN } from './grant-service.ts'
import { type JobResult, runSteps, type SimulatedEntry } from './job.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import type { Answer, SimulatedGatepass } from './simulated-gatepass.ts'
import { LIFETIME_SECONDS } from './simulator.ts'

// The main job of a provider that gives tokens to the client without a user: a token, a call, the next token, a wrong client.

export function runGrantJob(
  gatepass: SimulatedGatepass,
  entry: SimulatedEntry,
  signing: SigningClient,
): Promise<JobResult> {
  const job = new GrantJob(gatepass, entry, signing)
  return runSteps(gatepass, entry.body.id, [
    ['definition', () => job.define()],
    ['token', () => job.begin()],
    ['call', () => job.use()],
    ['next token', () => job.renew()],
    ['client refused', () => job.refuse()],
  ])
}

class GrantJob {
  readonly #gatepass: SimulatedGatepass
  readonly #entry: SimulatedEntry
  readonly #signing: SigningClient
  #oauth2: SimulatedOAuth2 | undefined
  #service: GrantService | undefined
  #user: string
  #scopes: readonly string[]

  constructor(gatepass: SimulatedGatepass, entry: SimulatedEntry, signing: SigningClient) {
    this.#gatepass = gatepass
    this.#entry = entry
    this.#signing = signing
    this.#user = `user of ${entry.body.id}`
    this.#scopes = entry.scopes ?? []
  }

  async define(): Promise<string> {
    const { body } = this.#entry
    await this.#connectSubject(body.oauth2)
    const key = clientKeyFor(this.#signing)
    const client_id = `simulated-client-${body.id}`
    const client_secret = key?.secret ?? 'simulated-secret+with/odd:characters %'
    const { status, body: answer } = await this.#gatepass.call('POST', '/v1/admin/auth_providers', {
      ...body,
      oauth2: { ...body.oauth2, client_id, client_secret },
    })
    if (status !== 201) throw new JobFailure(answer.message ?? `the entry is refused (${status})`)
    const oauth2 = answer.oauth2 as SimulatedOAuth2 // the wire's contract
    this.#oauth2 = oauth2
    if (oauth2.impersonation !== undefined) this.#user = userFor(oauth2.impersonation.pattern)
    if (this.#entry.scopes === undefined) this.#scopes = oauth2.default_scopes ?? []
    const now = this.#gatepass.clock
    const client = {
      clientId: client_id,
      clientSecret: key === undefined ? client_secret : '', // a key is not sent
      redirectUri: answer.oauth2.redirect_uri,
      ...(key && { verifies: (jwt: string) => key.verifies(jwt, now()) }),
    }
    const need = { scopes: this.#scopes, userId: oauth2.impersonation === undefined ? '' : this.#user }
    this.#service = new GrantService({ ...oauth2, ...this.#entry.plays }, client, need, now)
    this.#gatepass.outgoing.playing = this.#service
    return `${oauth2.grant?.type}, client authentication ${oauth2.token_request.auth_method}`
  }

  async begin(): Promise<string> {
    if (this.#isProjects) {
      const added = await this.#gatepass.call('POST', '/v1/admin/connections', {
        provider_id: this.#entry.body.id,
        owner: 'project',
        name: 'Simulated',
        shared_with: { users: ['*'] },
      })
      this.#expectNoFaults()
      expectThat(added.status === 201, `the connection is answered with ${added.status}: ${messageOf(added)}`)
    }
    const { status, body } = await this.#authorize()
    this.#expectNoFaults()
    expectThat(body.status === 'completed', `there is no token (${status}): ${body.message ?? body.status}`)
    const whose = this.#isProjects ? 'the project' : `"${this.#user}"`
    return `a token of ${whose}, scopes ${this.#scopes.join(' ') || 'none'}`
  }

  async use(): Promise<string> {
    if (this.#known.api?.base_url === undefined) return 'no API is described'
    const { status, body } = await this.#call()
    this.#expectNoFaults()
    expectThat(
      status === 200 && body.simulated === true,
      `the API call is answered with ${status}: ${body?.message ?? ''}`,
    )
    return 'the API was called with the token'
  }

  async renew(): Promise<string> {
    const before = this.#playing.issued
    this.#expire()
    const { body } = await this.#authorize()
    this.#expectNoFaults()
    expectThat(body.status === 'completed', `there is no next token: ${body.message ?? body.status}`)
    expectThat(this.#playing.issued === before + 1, 'an expired token was used on')
    return 'asked for when the token has expired'
  }

  async refuse(): Promise<string> {
    this.#playing.refusesClient = true
    this.#expire()
    const refused = await this.#authorize()
    expectThat(
      refused.status === 502 && refused.body.url === undefined,
      `a refused client is answered with ${refused.status}: ${messageOf(refused)}`,
    )
    this.#playing.refusesClient = false
    this.#gatepass.clock.advance(LIFETIME_SECONDS)
    const { body } = await this.#authorize()
    expectThat(body.status === 'completed', `the right client gets no token: ${body.message ?? body.status}`)
    return 'reported to the operator, without a link; works again once it is right'
  }

  /** The entry whose token is exchanged, and the user's connection to it. */
  async #connectSubject(oauth2: object | undefined): Promise<void> {
    const { grant } = { ...oauth2 } as Partial<SimulatedOAuth2> // checked by the API
    if (grant?.type !== 'token_exchange' || grant.subject === undefined) return
    const id = grant.subject.connection
    const endpoint = 'https://subject.simulated.example'
    const added = await this.#gatepass.call('POST', '/v1/admin/auth_providers', {
      id,
      oauth2: {
        ...{ client_id: 'simulated', client_secret: 'simulated' },
        authorize_request: { endpoint: `${endpoint}/authorize` },
        token_request: { endpoint: `${endpoint}/token` },
      },
    })
    expectThat(added.status === 201 || added.status === 409, `the subject: ${messageOf(added)}`)
    const connection = { provider_id: id, user_id: this.#user, access_token: SUBJECT_TOKEN }
    await this.#gatepass.call('POST', '/v1/admin/user_connections/import', { connections: [connection] })
  }

  get #isProjects(): boolean {
    return this.#known.impersonation === undefined && this.#known.grant?.type !== 'token_exchange'
  }

  #expire(): void {
    const { default_expires_in: usual = 0 } = this.#known
    this.#gatepass.clock.advance(Math.max(LIFETIME_SECONDS, usual) + 1)
  }

  #authorize(): Promise<Answer> {
    const oauth2 = { scopes: this.#scopes }
    return this.#gatepass.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: this.#entry.body.id, oauth2 },
      user_id: this.#user,
    })
  }

  #call(): Promise<Answer> {
    const scopes = this.#scopes.join(' ')
    return this.#gatepass.call('GET', `/proxy/${this.#entry.body.id}/simulated`, undefined, {
      'x-gatepass-user': this.#user,
      ...(scopes !== '' && { 'x-gatepass-scopes': scopes }),
    })
  }

  #expectNoFaults(): void {
    const [fault] = this.#playing.faults
    if (fault !== undefined) throw new JobFailure(`the ${fault.request} request ${fault.fault}`)
  }

  get #known(): SimulatedOAuth2 {
    if (this.#oauth2 === undefined) throw new JobFailure('there is no entry')
    return this.#oauth2
  }

  get #playing(): GrantService {
    if (this.#service === undefined) throw new JobFailure('there is no entry')
    return this.#service
  }
}

/** A user whom the entry may impersonate. */
function userFor(pattern: string): string {
  const user = matchingText(pattern)
  if (user === undefined || user === '')
    throw new JobFailure('impersonation.pattern has parts of which no user can be made up')
  return user
}

function messageOf({ body }: Answer): string {
  return body?.message ?? ''
}
