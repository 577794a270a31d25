import type { Broker } from '../../broker.ts'
import type { Attention } from '../../flows/console/attention.ts'

/** A domain that was set and not proved yet: users do not see it. */
export async function unprovedDomain(broker: Broker, projectId: string): Promise<Attention[]> {
  const domain = (await broker.store.brandings.find(projectId))?.domain
  if (domain === undefined || domain.provedAt !== undefined) return []
  return [
    {
      tone: 'bad',
      title: `The domain ${domain.name} is set and not proved.`,
      toDo: 'Users see the pages at the public URL until then: publish its TXT record and verify it, or remove the domain.',
      path: '/branding#domain',
    },
  ]
}
