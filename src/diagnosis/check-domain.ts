import { challengeRecord } from '../domain/domain-name.ts'
import type { Check, DiagnosisTarget } from './check.ts'
import { isServing } from './is-serving.ts'

/** Whether the project's domain is proved, its DNS record still there, and Gatepass to be reached at it. */
export async function checkDomain({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const domain = (await broker.store.brandings.find(project.id))?.domain
  if (domain === undefined) return []
  const name = `domain ${domain.name}`
  const record = challengeRecord(domain)
  const verify = `gatepass projects branding ${project.name} --verify-domain`
  if (domain.provedAt === undefined)
    return [
      {
        name,
        status: 'warning',
        message: 'is not proved, so users see the public URL.',
        fix: `Publish the TXT record ${record.value} at ${record.name}, then ${verify}. Without use for it: --remove domain.`,
      },
    ]
  const checks: Check[] = []
  const answer = await broker.lookUpTxt(record.name)
  if (answer.outcome === 'found' && !answer.values.includes(record.value))
    checks.push({
      name,
      status: 'warning',
      message: `is proved and in use, but its TXT record is no longer at ${record.name}: another project could prove the name.`,
      fix: `Publish ${record.value} there again, or give the domain up: --remove domain.`,
    })
  const url = broker.usersUrl(project.id)
  if (!(await isServing(url)))
    checks.push({
      name,
      status: 'warning',
      message: `No Gatepass answers at ${url.origin}, where users are sent.`,
      fix: 'Look at the address record of the name, its certificate, and whether the proxy passes the Host header on.',
    })
  return checks.length > 0
    ? checks
    : [{ name, status: 'ok', message: `is proved and answers at ${url.origin}` }]
}
