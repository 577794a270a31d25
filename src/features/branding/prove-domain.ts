import type { Broker } from '../../broker.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { randomToken } from '../../domain/ids.ts'
import type { TxtResult } from '../../egress/txt-records.ts'
import { providersOf } from '../../flows/get-provider.ts'
import { loginRedirectUri } from '../../flows/identify-user.ts'
import { callbackPath } from '../../services/users-origin.ts'
import type { OwnDomain } from './domain.ts'
import { type ChallengeRecord, challengeRecord } from './domain-name.ts'
import { atDomain } from './proved-domains.ts'

/** The most redirect URIs in one answer. Each provider entry shows its own too. */
const MAX_LISTED = 500

/** What an operator registers elsewhere before users see the domain: the DNS record and the redirect URIs. */
export interface DomainRegistrations {
  readonly record: ChallengeRecord
  readonly origin: string
  readonly redirectUris: readonly { readonly providerId: string; readonly redirectUri: string }[]
  /** The redirect URI to register at the issuer at which users log in, if there is one. */
  readonly loginRedirectUri?: string
}

/**
 * Sets the project's domain, which is used only once it is proved. `null` removes the domain: users see the public URL again.
 * Setting the same name again keeps its challenge and proof. Throws `invalid_request` for the host of the public URL.
 */
export async function setDomain(broker: Broker, projectId: string, name: string | null): Promise<void> {
  const { store, audit, now } = broker
  const subject = { subject: projectId }
  const before = (await store.brandings.find(projectId))?.domain
  if (name === null) {
    if (before === undefined) return
    const entry = audit.of(projectId, { action: 'branding.domain_removed', ...subject, detail: before.name })
    await store.domains.remove(projectId, entry)
  } else {
    checkDomain(broker, name)
    if (before?.name === name) return
    // random, so that the record of another project, or of an earlier attempt, proves nothing
    const domain: OwnDomain = { name, challenge: randomToken() }
    const entry = audit.of(projectId, { action: 'branding.domain_set', ...subject, detail: name })
    await store.domains.put(projectId, domain, now(), entry)
  }
  await broker.sites.settled()
}

/** Throws `invalid_request` for the host of the public URL. */
export function checkDomain({ settings }: Pick<Broker, 'settings'>, name: string): void {
  if (name !== settings.publicUrl.hostname) return
  throw invalidMember(
    'domain',
    'not_allowed',
    `domain may not be ${name}: that is the host of GATEPASS_PUBLIC_URL, which all projects share. Choose a host name of your own.`,
  )
}

/**
 * Proves the domain by its DNS record. From then on users see the domain. If another project has proved the name, the record
 * of that project must be gone. Throws `not_found` for a project without a domain, `invalid_request` if the record is
 * missing, `already_exists` while another project holds the name, and `provider_unavailable` if DNS does not answer.
 */
export async function proveDomain(broker: Broker, projectId: string): Promise<void> {
  const { store, audit, now } = broker
  const domain = (await store.brandings.find(projectId))?.domain
  if (domain === undefined)
    throw new BrokerError(
      'not_found',
      'The project has no domain. Set one by PATCH …/branding {"domain": "auth.acme.example"}, then prove it here.',
    )
  const { name, challenge } = domain
  const record = challengeRecord(domain)
  const values = valuesOf(await broker.outgoing.lookUpTxt(record.name), record.name)
  if (!values.includes(record.value)) throw notProved(record, values)
  if (domain.provedAt !== undefined) return
  const found = await store.domains.findHolder(name)
  // the project itself holds it if a concurrent request has proved it during the lookup
  const holder = found?.projectId === projectId ? undefined : found
  if (holder !== undefined && values.includes(challengeRecord({ name, ...holder }).value))
    throw provedByAnother(record)
  if (holder !== undefined) {
    const event = {
      action: 'branding.domain_removed',
      detail: name,
      reason: 'proved_by_another_project',
    } as const
    const ending = audit.of(holder.projectId, { ...event, subject: holder.projectId })
    await store.domains.unprove(holder.projectId, { name, challenge: holder.challenge }, ending)
  }
  const proved = { projectId, name, provedAt: now() }
  const entry = audit.of(projectId, { action: 'branding.domain_proved', subject: projectId, detail: name })
  const isRecorded = await store.domains.prove(proved, challenge, entry).catch((error: unknown) => {
    throw error instanceof BrokerError && error.code === 'already_exists' ? provedByAnother(record) : error
  })
  if (!isRecorded)
    throw new BrokerError('already_exists', 'The domain of the project was changed meanwhile. Verify again.')
  await broker.sites.settled()
}

function provedByAnother({ name }: ChallengeRecord): BrokerError {
  return new BrokerError(
    'already_exists',
    `Another project of this installation has proved this domain, and its TXT record is still there. If the domain is yours, remove the other gatepass-domain value from ${name}, then verify again.`,
  )
}

function valuesOf(answer: TxtResult, name: string): readonly string[] {
  if (answer.outcome === 'found') return answer.values
  throw new BrokerError(
    'provider_unavailable',
    `DNS gave no answer for the TXT records of ${name} (${answer.why}), so nothing was changed. Try again. If it happens again, look at the name servers of the domain and at those of this machine.`,
  )
}

/** The refusal quotes a few short values: they are public, and they let an administrator see a copying mistake. */
function notProved({ name, value }: ChallengeRecord, values: readonly string[]): BrokerError {
  const shown = values
    .slice(0, 3)
    .map((record) => `"${record.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, '?')}"`)
  const found =
    values.length === 0
      ? `There is no TXT record at ${name}.`
      : `${name} has ${values.length === 1 ? 'a TXT record' : `${values.length} TXT records`} with ${shown.join(', ')}${values.length > shown.length ? ', …' : ''}, and none with the value of this project.`
  return new BrokerError(
    'invalid_request',
    `${found} Publish a TXT record at ${name} with the value ${value}, wait until your name servers answer it, and verify again.`,
  )
}

/** What the operator registers before users see the domain, which may not be proved yet. */
export async function domainRegistrations(
  broker: Broker,
  projectId: string,
  domain: OwnDomain,
): Promise<DomainRegistrations> {
  const { publicUrl, verifier } = broker.settings
  const url = atDomain(publicUrl, domain.name)
  const { entries } = await providersOf(broker, projectId)
  const listed = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, MAX_LISTED)
  return {
    record: challengeRecord(domain),
    origin: url.origin,
    redirectUris: listed.map(({ id, uid }) => ({
      providerId: id,
      redirectUri: new URL(callbackPath(uid), url).href,
    })),
    ...(verifier.kind === 'oidc' && { loginRedirectUri: loginRedirectUri(url) }),
  }
}
