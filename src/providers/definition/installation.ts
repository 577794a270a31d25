import { z } from 'zod'
import { isConfidential } from '../../domain/confidential-url.ts'
import { patternFault } from '../callback-members.ts'
import type { InstallationSettings, Provider } from '../provider.ts'
import { memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'

const parameter = z.string().regex(/^[A-Za-z][\w-]{0,49}$/, 'letters, digits, _ and -')
const hints = z
  .record(parameter, z.string().min(1).max(300))
  .refine((record) => Object.keys(record).length <= 10, 'at most 10 hints')

const input = z
  .object({
    hints: hints.optional(),
    hmac: z.object({ parameter }).nullish(),
    install_uri: z.string().max(1000).nullish(),
  })
  .nullish()
  .meta({
    description:
      'Beyond Arcade: users may begin at the provider, such as in its store of apps: their browser comes to `installation_url` without a `state`, and a code that it brings is never redeemed. `hints`: parameters of that URL, each with a regular expression that the whole value must match; one of the name of a variable that users are asked for gives its value. `hmac.parameter`: the parameter with the hex HMAC-SHA256 of the others, by the client secret (Shopify); URLs without it are refused. `install_uri`: a page of the caller, to which the browser goes with `install_id` in place of our own.',
    example: { hints: { shop: '[a-z0-9-]+\\.myshopify\\.com' }, hmac: { parameter: 'hmac' } },
  })

/** `installation` of `oauth2`. */
export const INSTALLATION_SETTINGS = {
  installation: memberOf<Provider, OAuth2Context>()({
    create: input,
    change: input,
    answer: z
      .object({
        hints: z.record(z.string(), z.string()),
        hmac: z.object({ parameter: z.string() }).optional(),
        install_uri: z.string().optional(),
      })
      .optional(),
    read: (sent, { base }) => ({ installation: sent === undefined ? base?.installation : readOf(sent) }),
    write: ({ installation }) =>
      installation && {
        hints: { ...installation.hints },
        ...(installation.hmacParameter && { hmac: { parameter: installation.hmacParameter } }),
        ...(installation.installUri && { install_uri: installation.installUri }),
      },
  }),
}

function readOf(sent: z.output<typeof input>): InstallationSettings | undefined {
  if (sent == null) return undefined
  for (const [name, pattern] of Object.entries(sent.hints ?? {})) {
    const fault = patternFault(pattern)
    if (fault !== undefined) refuse(`oauth2.installation.hints.${name}`, fault)
  }
  const { install_uri: installUri } = sent
  if (installUri != null && !isPageOfCaller(installUri))
    refuse(
      'oauth2.installation.install_uri',
      'has to be an https URL (http for a loopback host) without a fragment',
    )
  return {
    hints: sent.hints ?? {},
    ...(sent.hmac && { hmacParameter: sent.hmac.parameter }),
    ...(installUri != null && { installUri }),
  }
}

function isPageOfCaller(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '' &&
    isConfidential(url, false)
  )
}
