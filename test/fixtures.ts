import type { FakeAuthorizationServer } from './fake-authorization-server.ts'

/** Metadata of a tool whose only `oauth` entry, named `Demo`, is for this server. */
export function toolMetadata(
  as: Pick<FakeAuthorizationServer, 'authorizationUrl' | 'tokenUrl' | 'clientId' | 'clientSecret'>,
  entry: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    name: 'Who am I',
    version: '1.0.0',
    description: 'Says who approved',
    parameters: { type: 'object', properties: {} },
    oauth: [
      {
        name: 'Demo',
        version: '2.0',
        authorizationUrl: as.authorizationUrl,
        tokenUrl: as.tokenUrl,
        clientId: as.clientId,
        clientSecret: as.clientSecret,
        scopes: ['read'],
        responseType: 'code',
        ...entry,
      },
    ],
  }
}
