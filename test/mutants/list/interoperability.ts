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
]
