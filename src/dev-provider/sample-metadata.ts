import { PROFILE_TOOL, SAMPLE_TOOL } from './profile-tool.ts'

/**
 * Tool metadata (Shinkai format) of the sample tool, to be imported and bound to the sandbox's worker. It contains no
 * client id or secret: they are set as for any other provider.
 */
export function sampleMetadata(publicUrl: URL): Record<string, unknown> {
  const text = (description: string) => ({ type: 'string', description })
  return {
    name: SAMPLE_TOOL,
    description: 'Greets the user who approved at the sandbox provider.',
    author: 'Gatepass',
    version: PROFILE_TOOL.version,
    keywords: ['sample', 'oauth'],
    configurations: { type: 'object', properties: {}, required: [] },
    parameters: {
      type: 'object',
      properties: { greeting: text('The greeting. "Hello" by default.') },
      required: [],
    },
    result: {
      type: 'object',
      properties: { message: text('The greeting.'), email: text('The e-mail address of the account.') },
      required: ['message', 'email'],
    },
    oauth: [
      {
        name: 'Sandbox',
        version: '2.0',
        authorizationUrl: new URL('sandbox/authorize', publicUrl).href,
        tokenUrl: new URL('sandbox/token', publicUrl).href,
        clientId: '',
        clientSecret: '',
        scopes: ['profile:read'],
        responseType: 'code',
        pkceType: 'S256',
        refreshToken: 'true',
      },
    ],
  }
}
