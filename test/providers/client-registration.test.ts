import { expect, test } from 'vitest'
import { type Outgoing, OutgoingError, type OutgoingErrorKind } from '../../src/egress/outgoing.ts'
import { clientMetadata, registerClient } from '../../src/providers/client-registration.ts'

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
