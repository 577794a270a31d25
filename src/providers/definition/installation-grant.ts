import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import type { AllowsHttp } from '../../egress/endpoint.ts'
import { REQUESTS_BY_ROLE } from '../endpoint-role.ts'
import { claimTemplates } from '../grant-assertion.ts'
import type { Provider } from '../provider.ts'
import { isInstalled } from '../provider-grant.ts'
import { checkTemplate, placesScopes } from '../template.ts'
import { fillUrl, literalHost } from '../variables.ts'
import { ownVariables } from './client-assertion.ts'
import { changed, memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'
import { literalUrlFault } from './url-variables.ts'

// The pages of the provider for the grant `installation`, and what an entry of it needs.

const member = memberOf<Provider, OAuth2Context>()

const page = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .max(1000)
    .nullish()
    .meta({ description: `Beyond Arcade, with the grant \`installation\`: ${description}`, example })

const installUri = page(
  'the page of the provider on which people install the client; it may name variables. It is shown to users who have no installation yet, with a `state` that brings them back.',
  'https://github.com/apps/{{slug}}/installations/new',
)
const helpUri = page(
  'the page of the provider on which people end an installation. It is shown to users, since disconnecting here ends no installation there.',
  'https://github.com/settings/installations',
)

const unscopedInput = z.boolean().nullish().meta({
  description:
    'Beyond Arcade: with the grant `installation`, a token may have all that the installation has: where a request names no scopes and `default_scopes` is empty, and where `installation_token_request` has no place for scopes. Without this setting the first is refused, and the second is no valid entry.',
})

/** Both pages are kept as templates, since a change of the entry's variables changes them. */
export const INSTALLATION_GRANT = {
  unscoped_tokens: member({
    create: unscopedInput,
    change: unscopedInput,
    answer: z.literal(true).optional(),
    read: (sent, { base, read }) => ({
      unscopedTokens:
        ((isInstalled(read) || sent != null) && changed<boolean>(sent, base?.unscopedTokens)) || undefined,
    }),
    write: ({ unscopedTokens }) => unscopedTokens,
  }),
  installation_uri: member({
    create: installUri,
    change: installUri,
    answer: z.string().optional(),
    read: (sent, { base, read }) => ({
      installationUri: isInstalled(read) || sent != null ? changed(sent, base?.installationUri) : undefined,
    }),
    write: ({ installationUri }) => installationUri,
  }),
  installation_help_uri: member({
    create: helpUri,
    change: helpUri,
    answer: z.string().optional(),
    read: (sent, { base, read }) => ({
      installationHelpUri:
        isInstalled(read) || sent != null ? changed(sent, base?.installationHelpUri) : undefined,
    }),
    write: ({ installationHelpUri }) => installationHelpUri,
  }),
}

/** Refuses an entry that lists no installations or gets no tokens of them, and pages that cannot be shown. */
export function checkInstalled(
  provider: Provider,
  { allowsHttp }: { readonly allowsHttp: AllowsHttp },
): void {
  const { installationUri, installationHelpUri, unscopedTokens } = provider
  const pages = { installation_uri: installationUri, installation_help_uri: installationHelpUri }
  for (const [name, template] of Object.entries(pages)) {
    if (template === undefined) continue
    const path = `oauth2.${name}`
    if (!isInstalled(provider))
      throw invalidMember(
        path,
        'conflict',
        `${path} has no use without the grant installation; null removes it.`,
      )
    const url = fillUrl(template, provider.variables)
    const fault =
      checkTemplate(template, ownVariables(provider)) ??
      (literalHost(template) === undefined ? 'has to name its host itself' : undefined) ??
      literalUrlFault(url, allowsHttp)
    if (fault !== undefined) refuse(path, fault)
  }
  if (!isInstalled(provider)) {
    if (unscopedTokens === true)
      throw invalidMember(
        'oauth2.unscoped_tokens',
        'conflict',
        'oauth2.unscoped_tokens has no use without the grant installation; null removes it.',
      )
    return
  }
  for (const role of ['installations', 'installation_token'] as const) {
    const { block, wire } = REQUESTS_BY_ROLE[role]
    if (provider[block] === undefined) refuse(`oauth2.${wire}`, 'is required with the grant installation')
  }
  const places = [
    ...Object.values(provider.installationTokenRequest?.params ?? {}),
    ...claimTemplates(provider),
  ]
  if (unscopedTokens !== true && !places.some(placesScopes))
    refuse(
      'oauth2.installation_token_request.params',
      'has no place for scopes ({{scope_members}} or {{scopes}}), so each token would have all that the installation has. If that is meant, set oauth2.unscoped_tokens to true',
    )
  if (provider.dpop !== undefined)
    throw invalidMember(
      'oauth2.dpop',
      'conflict',
      'oauth2.dpop has no use with the grant installation; null removes it.',
    )
}
