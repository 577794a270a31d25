import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import { parseApiHost } from '../api-host.ts'
import { USUAL_ACCOUNT } from '../catalogue/built-in-provider.ts'
import type { Provider } from '../provider.ts'
import { isDeviceGrant } from '../provider-grant.ts'
import { sameServer } from './known-server.ts'
import { changed, memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'

// Where users may enter the codes of the grant `device_code` (RFC 8628), and whether their account has to be known.

const member = memberOf<Provider, OAuth2Context>()
const hostsInput = z
  .array(z.string().max(300))
  .min(1)
  .max(20)
  .nullish()
  .meta({
    description:
      'Beyond Arcade: with the grant `device_code`, the hosts where users enter the code: `host`, `host:port` or `*.example.com`. A `verification_uri` of another host is refused. Left out: the site of the token endpoint.',
    example: ['www.google.com'],
  })
const unnamedInput = z.boolean().nullish().meta({
  description:
    'Beyond Arcade: with the grant `device_code`, users may connect although the provider does not say which account approved. Without this setting a source of the account is needed: `user_info_request` on `on_token_grant`, `issuer`, the scope `openid` in `default_scopes`, or `account`.',
})

export const DEVICE_SETTINGS = {
  verification_hosts: member({
    create: hostsInput,
    change: hostsInput,
    answer: z.array(z.string()).optional(),
    read(sent, context) {
      if (sent === undefined) return { verificationHosts: kept(context, 'verificationHosts') }
      return { verificationHosts: sent?.map(readHost) }
    },
    write: ({ verificationHosts }) => verificationHosts && [...verificationHosts],
  }),
  unnamed_accounts: member({
    create: unnamedInput,
    change: unnamedInput,
    answer: z.literal(true).optional(),
    read(sent, context) {
      const isSet = changed<boolean>(sent, kept(context, 'unnamedAccounts'))
      return { unnamedAccounts: isSet === true || undefined }
    },
    write: ({ unnamedAccounts }) => unnamedAccounts,
  }),
}

/** A setting of the entry before its change. It stays only while the grant is one by a code, at the same server. */
function kept<Name extends 'verificationHosts' | 'unnamedAccounts'>(
  context: OAuth2Context,
  name: Name,
): Provider[Name] | undefined {
  return isDeviceGrant(context.read) && sameServer(context) ? context.base?.[name] : undefined
}

function readHost(text: string, index: number): string {
  return (
    parseApiHost(text) ??
    refuse(
      `oauth2.verification_hosts.${index}`,
      `is ${JSON.stringify(text.slice(0, 100))}, which is not a host, host:port, or *.example.com (with at least two labels after the *)`,
    )
  )
}

/** Refuses settings of another grant, and an entry whose users could not see which account they have connected. */
export function checkDevice(provider: Provider): void {
  const { verificationHosts, unnamedAccounts } = provider
  if (!isDeviceGrant(provider)) {
    const name = verificationHosts
      ? 'verification_hosts'
      : unnamedAccounts === true
        ? 'unnamed_accounts'
        : undefined
    if (name !== undefined)
      throw invalidMember(
        `oauth2.${name}`,
        'conflict',
        `oauth2.${name} has no use without the grant device_code; null removes it.`,
      )
    return
  }
  if (unnamedAccounts !== true && !saysAccount(provider))
    refuse(
      'oauth2.unnamed_accounts',
      'has to be true, or the entry has to say which account approved (user_info_request on on_token_grant, issuer, the scope openid in default_scopes, or account): nothing else shows users whether the connected account is theirs',
    )
}

/** Whether the entry describes how the account of a grant is found out. */
function saysAccount({ userInfoRequest, issuer, defaultScopes, account }: Provider): boolean {
  const isOwn =
    JSON.stringify([account.id, account.name]) !== JSON.stringify([USUAL_ACCOUNT.id, USUAL_ACCOUNT.name])
  return (
    userInfoRequest?.triggers.onTokenGrant === true ||
    issuer !== undefined ||
    defaultScopes.includes('openid') ||
    isOwn
  )
}
