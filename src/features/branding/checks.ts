import type { Check, DiagnosisTarget } from '../../diagnosis/check.ts'
import { OutgoingError } from '../../egress/outgoing.ts'
import { challengeRecord } from './domain-name.ts'

const TIMEOUT_MS = 2_000

/** Checks that the project's domain is proved, that its DNS record is still published, and that Gatepass answers there. */
export async function checkDomain({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const domain = (await broker.store.brandings.find(project.id))?.domain
  if (domain === undefined) return []
  const name = `domain ${domain.name}`
  const record = challengeRecord(domain)
  const verify = `gatepass projects branding ${project.name} --verify-domain`
  const remove = `gatepass projects branding ${project.name} --remove domain`
  if (domain.provedAt === undefined)
    return [
      {
        name,
        status: 'warning',
        message: 'is not proved, so users see the public URL.',
        fix: `Publish the TXT record ${record.value} at ${record.name}, then run \`${verify}\`. If you do not want the domain: \`${remove}\`.`,
      },
    ]
  const checks: Check[] = []
  const txt = await broker.outgoing.lookUpTxt(record.name)
  if (txt.outcome === 'found' && !txt.values.includes(record.value))
    checks.push({
      name,
      status: 'warning',
      message: `is proved and in use, but its TXT record is no longer at ${record.name}: another project could prove the name.`,
      fix: `Publish ${record.value} there again, or give the domain up: \`${remove}\`.`,
    })
  const url = broker.usersUrl(project.id)
  const answer = await askHealth(broker, url)
  if (answer === 'unreachable')
    checks.push({
      name,
      status: 'warning',
      message: `No Gatepass answers at ${url.origin}, where users are sent.`,
      fix: 'Look at the address record of the name, its certificate, and whether the proxy passes the Host header on.',
    })
  if (checks.length > 0) return checks
  const reached =
    answer === 'reachable'
      ? `answers at ${url.origin}`
      : `was not asked at ${url.origin}: its address is a private one, which is not in GATEPASS_ALLOWED_HOSTS`
  return [{ name, status: 'ok', message: `is proved and ${reached}` }]
}

/**
 * Whether Gatepass answers at the origin. A project's administrator controls where the name points, so the request goes
 * through the guarded client, which reveals nothing about private addresses.
 */
async function askHealth(
  { outgoing }: DiagnosisTarget['broker'],
  origin: URL,
): Promise<'reachable' | 'unreachable' | 'not asked'> {
  try {
    const url = new URL('/health', origin)
    return (await outgoing.send({ url, deadlineMs: TIMEOUT_MS })).status === 200 ? 'reachable' : 'unreachable'
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return error.kind === 'host_not_allowed' ? 'not asked' : 'unreachable'
  }
}
