import { expect, test } from 'vitest'
import { type Outgoing, OutgoingError, type OutgoingErrorKind } from '../../src/egress/outgoing.ts'
import { builtIn } from '../../src/providers/catalogue/registry.ts'
import { clientMetadata, registerClient } from '../../src/providers/client-registration.ts'
import { withClientAuth } from '../../src/tools/mcp/server-provider.ts'

test.each<[OutgoingErrorKind, string]>([
  ['unreachable', 'provider_unavailable'],
  ['timeout', 'provider_unavailable'],
  ['busy', 'provider_unavailable'],
  ['host_not_allowed', 'provider_refused'],
  ['redirected', 'provider_refused'],
  ['too_large', 'provider_refused'],
])('a registration that ends as %s is refused with %s', async (kind, reason) => {
  const send: Outgoing['send'] = () =>
    Promise.reject(new OutgoingError(kind, 'as.example', { requestSent: false }))
  const metadata = clientMetadata({
    publicUrl: new URL('https://gatepass.example'),
    redirectUris: ['https://gatepass.example/callback/p'],
    authMethod: 'none',
  })
  const outgoing = { send } as Outgoing // `registerClient` uses nothing else
  await expect(registerClient(outgoing, 'https://as.example/register', metadata)).rejects.toMatchObject({
    name: 'ProviderRefusal',
    reason,
  })
})

test.each<[string, unknown, number | undefined]>([
  ['a time', 1_900_000_000, 1_900_000_000],
  ['0: never', 0, undefined],
  ['nothing', undefined, undefined],
  ['a text', '1900000000', undefined],
  ['a fraction', 0.5, undefined],
])('the expiry of a registered secret: %s', async (_, said, expected) => {
  const answer = { client_id: 'c', client_secret: 's', client_secret_expires_at: said }
  const send: Outgoing['send'] = async (request) => ({
    url: request.url,
    status: 201,
    headers: {},
    body: Buffer.from(JSON.stringify(answer)),
  })
  const metadata = clientMetadata({
    publicUrl: new URL('https://gatepass.example'),
    redirectUris: ['https://gatepass.example/callback/p'],
    authMethod: 'client_secret_basic',
  })
  const outgoing = { send } as Outgoing // `registerClient` uses nothing else
  const registered = await registerClient(outgoing, 'https://as.example/register', metadata)
  expect(registered.secretExpiresAt).toBe(expected)
})

test('a secret that expires at once counts for an hour, so that a server cannot have the broker register all the time', () => {
  const provider = builtIn('github')?.provider
  const authMethod = 'client_secret_basic'
  const expiry = (secretExpiresAt: number) =>
    provider && withClientAuth(provider, { authMethod, secretExpiresAt }, 1000).clientSecretExpiresAt
  expect(expiry(1001)).toBe(4600)
  expect(expiry(9000)).toBe(9000)
})
