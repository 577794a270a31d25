import type { Mutation } from '../mutation.ts'

// What software of others expects of a client, where the standards leave room or are not followed.

export const interoperability: readonly Mutation[] = [
  {
    rows: [],
    fault: 'a client that is registered sends no client_id in the body, which the Python SDK of MCP requires',
    file: 'src/providers/client-registration.ts',
    from: "['none', 'client_secret_post', 'client_secret_basic'] as const",
    to: "['none', 'client_secret_basic', 'client_secret_post'] as const",
    test: 'http/mcp-workers.test.ts',
    name: 'authenticates in the body at a server of the Python SDK',
  },
  {
    rows: [],
    fault: 'a plus sign in a client secret is read as a space by servers that decode forms',
    file: 'src/providers/client-authentication.ts',
    from: '/[^!-~]+|[%+:]/g',
    to: '/[^!-~]+|[%:]/g',
    test: 'flows/client-authentication.test.ts',
    name: 'is known to a server that decodes by',
  },
  {
    rows: [],
    fault: 'a refused client secret is not said to be unreadable where it was encoded',
    file: 'src/domain/causes.ts',
    from: "authentication === 'client_secret_basic' ? UNENCODED : ''",
    to: "authentication === 'client_secret_basic' ? '' : ''",
    test: 'flows/explain.test.ts',
    name: 'is printed by gatepass explain, as text and as JSON',
  },
  {
    rows: [],
    fault: 'a refused token type is not named',
    file: 'src/providers/token-response.ts',
    from: "isTypeName(type, answer) ? `${type}, ` : ''",
    to: "isTypeName(type, answer) ? '' : ''",
    test: 'providers/token-response.test.ts',
    name: 'another token type',
  },
  {
    rows: [],
    fault: 'metadata that is redirected is said to be absent',
    file: 'src/providers/well-known.ts',
    from: 'tried.push(`${place.href} (${found})`)',
    to: 'tried.push(place.href)',
    test: 'providers/protected-resource.test.ts',
    name: 'is refused with what each place answered, a redirect too',
  },
  {
    rows: [],
    fault: 'how an MCP server breaks the protocol is kept back',
    file: 'src/tools/mcp/mcp-error.ts',
    from: 'isInvalidResult(cause) ? `: ${plainWords(cause.message)}`',
    to: 'isInvalidResult(cause) && cause.message === "" ? `: ${plainWords(cause.message)}`',
    test: 'tools/mcp/breaches.test.ts',
    name: 'breaks the protocol is said to, with the reason',
  },
]
