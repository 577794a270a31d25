import type { Mutation } from '../mutation.ts'

// The user for whom an API key or an access token acts.

const KEYS = 'http/keys-of-one-user.test.ts'
const CALLERS = 'mcp/callers.test.ts'
const TOKENS = 'src/mcp/callers/issuer-tokens.ts'

export const callers: readonly Mutation[] = [
  {
    rows: ['37'],
    fault: 'a key of one user acts for another user whom the request names',
    file: 'src/domain/api-key.ts',
    from: 'if (userId === undefined || named === undefined || named === userId) return userId ?? named',
    to: 'if (userId === undefined || named !== undefined) return named ?? userId',
    test: KEYS,
    name: 'gets nothing of another user, at any operation',
  },
  {
    rows: ['37'],
    fault: 'an endpoint that is not declared for keys of one user accepts them',
    file: 'src/http/endpoint/key-of-user.ts',
    from: 'if (userId !== undefined && allowed === undefined)',
    to: "if (userId === '' && allowed === undefined)",
    test: KEYS,
    name: 'gets nothing of another user, at any operation',
  },
  {
    rows: ['37'],
    fault: 'a key of one user finds records of other users',
    file: 'src/services/request-context.ts',
    from: 'return onlyUser === undefined || onlyUser === userId',
    to: "return onlyUser !== ''",
    test: KEYS,
    name: 'gets nothing of another user, at any operation',
  },
  {
    rows: ['31'],
    fault: 'a token of another audience is accepted',
    file: TOKENS,
    from: '        audience: audience ?? resource,\n',
    to: '',
    test: CALLERS,
    name: 'and the answer does not say why',
  },
  {
    rows: ['30'],
    fault: 'a token of any type is accepted',
    file: TOKENS,
    from: 'if (type !== undefined && !TYPES.includes(type))',
    to: "if (typ === '')",
    test: CALLERS,
    name: 'with a signature that proves nothing is refused',
  },
  {
    rows: ['30'],
    fault: 'an ID token is accepted as an access token',
    file: TOKENS,
    from: 'if (claims.nonce !== undefined || claims.at_hash !== undefined)',
    to: 'if (claims.at_hash !== undefined)',
    test: CALLERS,
    name: 'and the answer does not say why',
  },
  {
    rows: ['30'],
    fault: 'each token of an unknown key costs a request to the issuer',
    file: 'src/mcp/callers/issuer-keys.ts',
    from: 'if (reading === undefined && now() < triedAt + PAUSE_SECONDS) return',
    to: '',
    test: CALLERS,
    name: 'of a new key is taken once the keys are read again',
  },
  {
    rows: ['37'],
    fault: 'a request with a token may name another user',
    file: 'src/mcp/callers/authenticate.ts',
    from: '    userFor(principal, namedUser(c))\n',
    to: '',
    test: CALLERS,
    name: 'says who the user is; no header, query, argument or _meta does',
  },
  {
    rows: ['14c'],
    fault: 'a page reaches a server of the loopback interface by a name of its own',
    file: 'src/mcp/callers/browsers.ts',
    from: 'if (mcp.isLoopbackOnly && !isLoopbackHost(host) && host !== publicUrl.hostname)',
    to: "if (host === '')",
    test: CALLERS,
    name: 'cannot reach a server of the loopback interface by a name of its own',
  },
  {
    rows: ['14c'],
    fault: 'a page of any origin may call /mcp',
    file: 'src/mcp/callers/browsers.ts',
    from: 'if (!mayCall(origin))',
    to: "if (origin === '')",
    test: CALLERS,
    name: 'may not',
  },
  {
    rows: ['44'],
    fault: 'a client that was approved for some scopes gets wider ones without a question to the user',
    file: 'src/mcp/authorization-server/approval.ts',
    from: 'asked.scopes.every((scope) => granted.includes(scope)) ? grant : undefined',
    to: 'granted.length > 0 ? grant : undefined',
    test: 'mcp/authorization-server-attacks.test.ts',
    name: 'asks again for another client',
  },
]
