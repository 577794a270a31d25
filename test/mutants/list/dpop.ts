import type { Mutation } from '../mutation.ts'

// Tokens that are bound to a key (RFC 9449): proofs, nonces, downgrades, and who is given no token.

const FLOWS = 'flows/dpop.test.ts'
const API = 'http/dpop-api.test.ts'
const PROOFS = 'src/providers/dpop-proofs.ts'
const FORWARD = 'src/flows/forward-request.ts'

export const dpop: readonly Mutation[] = [
  {
    rows: ['74'],
    fault: 'a bearer token is accepted in place of a bound one',
    file: 'src/providers/token-response.ts',
    from: "rules.dpop === 'required' && !isBound",
    to: 'false',
    test: FLOWS,
    name: 'whose answer is a bearer token fails',
  },
  {
    rows: ['74'],
    fault: 'tokens without a key are used although the entry demands bound ones',
    file: 'src/providers/dpop.ts',
    from: 'dpopKey === undefined ? dpop === undefined || dpop.optional === true : dpop !== undefined',
    to: 'true',
    test: FLOWS,
    name: 'asks users again only for tokens of the other kind',
  },
  {
    rows: ['75'],
    fault: 'two proofs have the same jti',
    file: PROOFS,
    from: '.setJti(randomUUID())',
    to: ".setJti('always-the-same')",
    test: API,
    name: 'proves each request anew',
  },
  {
    rows: ['75'],
    fault: 'the proof of the caller is passed on',
    file: 'src/http/proxy/proxy-headers.ts',
    from: "  'dpop',\n",
    to: '',
    test: 'http/proxy.test.ts',
    name: 'says nothing of the caller',
  },
  {
    rows: ['75'],
    fault: 'a caller is given a bound token',
    file: 'src/providers/provider-grant.ts',
    from: 'provider.credentials !== undefined || isKeptFromWorkers(provider)',
    to: 'provider.credentials !== undefined',
    test: FLOWS,
    name: 'gives its tokens to nobody',
  },
  {
    rows: ['75'],
    fault: 'a worker is given a bound token',
    file: 'src/tools/run/execute-tool.ts',
    from: 'if (kept !== undefined)',
    to: 'if (false)',
    test: API,
    name: 'of another worker is not run',
  },
  {
    rows: [],
    fault: 'a request is repeated for a nonce without end',
    file: PROOFS,
    from: 'first.isNonceAsked ? (await send(true)).response : first.response',
    to: 'first.isNonceAsked ? (await send(true), await send(true)).response : first.response',
    test: FLOWS,
    name: 'is repeated once for a nonce',
  },
  {
    rows: [],
    fault: 'a repeated token request has the signed assertion of the first one',
    file: 'src/providers/pushed-authorization.ts',
    from: 'isRepeated ? await credentialsFor(block, registered, now()) : client',
    to: 'client',
    test: FLOWS,
    name: 'is connected and refreshed',
  },
  {
    rows: [],
    fault: 'the nonces of the authorization server and of the API are the same',
    file: PROOFS,
    from: "accessToken === undefined ? 'server' : 'api'",
    to: "accessToken === undefined ? 'api' : 'api'",
    test: FLOWS,
    name: 'is connected and refreshed',
  },
  {
    rows: [],
    fault: 'a token is refreshed because the API refuses its proof',
    file: FORWARD,
    from: ' || isProofRefused(release, answer)',
    to: '',
    test: API,
    name: 'passes on the refusal of',
  },
  {
    rows: [],
    fault: 'a request with a large body that lacked a nonce looks refused for good',
    file: FORWARD,
    from: 'if (isNonceAsked) return { ...answered, answer, isWorthRepeating: true }',
    to: '',
    test: API,
    name: 'does not repeat a large body',
  },
]
