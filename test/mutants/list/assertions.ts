import type { Mutation } from '../mutation.ts'

const JWT_BEARER = 'flows/jwt-bearer.test.ts'

export const assertions: readonly Mutation[] = [
  {
    rows: ['76'],
    fault: 'tokens are asked for in the name of any user',
    file: 'src/flows/impersonated-token.ts',
    from: '    fitsPattern(impersonation.pattern, userId)\n',
    to: "    userId !== ''\n",
    test: JWT_BEARER,
    name: 'nobody beyond the pattern',
  },
  {
    rows: ['76'],
    fault: 'an id in other forms of letters names another person',
    file: 'src/flows/impersonated-token.ts',
    from: "    userId === userId.normalize('NFKC') &&\n",
    to: '',
    test: JWT_BEARER,
    name: 'an id in other forms of letters',
  },
  {
    rows: ['76'],
    fault: 'an assertion is for another server than the entry says',
    file: 'src/providers/grant-assertion.ts',
    from: '.setAudience(filled(audience ?? provider.issuer ?? tokenRequestIn(provider).endpoint))',
    to: '.setAudience(tokenRequestIn(provider).endpoint)',
    test: JWT_BEARER,
    name: 'names the endpoint that it is for',
  },
  {
    rows: ['76'],
    fault: 'assertions have the same id',
    file: 'src/providers/grant-assertion.ts',
    from: '.setJti(randomUUID())',
    to: '.setJti(`${randomUUID().length}`)',
    test: JWT_BEARER,
    name: 'the client signs an assertion for each token',
  },
  {
    rows: ['76'],
    fault: 'a connection from before the grant was changed sends its user a link',
    file: 'src/flows/get-access-token.ts',
    from: "return !isUserless(provider) && (own !== undefined || ownerOf(provider) === 'user')",
    to: "return own !== undefined || ownerOf(provider) === 'user'",
    test: JWT_BEARER,
    name: 'nobody beyond the pattern',
  },
]
