import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import type { Project } from '../../domain/project.ts'
import type { Branding } from './domain.ts'
import { readDomainName } from './domain-name.ts'
import { domainRegistrations } from './prove-domain.ts'

/** A host name in a request. */
export const domainText = z
  .string()
  .max(300)
  .transform((text, context) => {
    const read = readDomainName(text)
    if ('name' in read) return read.name
    context.addIssue({ code: 'custom', message: read.fault })
    return z.NEVER
  })

export const domainSchema = z
  .object({
    name: z.string().meta({ example: 'auth.acme.example' }),
    status: z
      .enum(['unproved', 'proved'])
      .meta({ description: 'Users see the pages at the domain when it is `proved`' }),
    challenge: z
      .object({
        type: z.literal('TXT'),
        name: z.string().meta({ example: '_gatepass-challenge.auth.acme.example' }),
        value: z.string(),
      })
      .meta({ description: 'The DNS record that proves the domain' }),
    proved_at: z.string().optional(),
    origin: z.string().meta({ description: 'Where users see the pages once the domain is proved' }),
    redirect_uris: z.array(z.object({ provider_id: z.string(), redirect_uri: z.string() })).meta({
      description:
        'Register these at the providers before the proof, because the proof makes users return to them. The first 500; GET /v1/admin/auth_providers has all, once the domain is proved',
    }),
    login_redirect_uri: z
      .string()
      .optional()
      .meta({ description: 'Register this too, at the issuer at which users log in' }),
  })
  .openapi('OwnDomain')

export type DomainWire = z.infer<typeof domainSchema>

/** The domain of a project, which is a part of its branding. */
export async function domainToWire(
  broker: Broker,
  { id }: Pick<Project, 'id'>,
  branding: Branding | undefined,
): Promise<DomainWire | undefined> {
  const domain = branding?.domain
  if (domain === undefined) return undefined
  const { record, origin, redirectUris, loginRedirectUri } = await domainRegistrations(broker, id, domain)
  const { name, provedAt } = domain
  return {
    name,
    status: provedAt === undefined ? 'unproved' : 'proved',
    challenge: record,
    proved_at: toTimestamp(provedAt),
    origin,
    redirect_uris: redirectUris.map(({ providerId, redirectUri }) => ({
      provider_id: providerId,
      redirect_uri: redirectUri,
    })),
    login_redirect_uri: loginRedirectUri,
  }
}
