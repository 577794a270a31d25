import { z } from 'zod'
import {
  type AuthInfo,
  type AuthProvider,
  anyOf,
  type CallToolResult,
  type ContentItem,
  type CreateMessageRequest,
  type CreateMessageResult,
  defineTool,
  type ElicitResult,
  type EmbeddedResource,
  type ErrorAdapter,
  type GetPromptResult,
  GitHub,
  Google,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type JsonSchema,
  type MaterializedTool,
  type MCPMessage,
  OAuth2,
  type Prompt,
  type Resource,
  type ResourceTemplate,
  RetryableToolError,
  type Root,
  type SamplingMessage,
  type ServerSession,
  type SessionMessage,
  Slack,
  type Tool,
  ToolApp,
  type ToolContext,
  type ToolError,
  type ToolOptions,
  tool,
} from '../../../src/sdk/tools/index.ts'

// `npm run types` checks that this file compiles. It never runs.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => undefined

const app = new ToolApp({ name: 'hub', version: '1.0.0', title: 'Hub', instructions: '', logLevel: 'DEBUG' })

// input: inferred from the schema, defaults and conversions included
app.tool('input', {
  input: z.object({ n: z.number().default(1), at: z.coerce.date().optional() }),
  handler: ({ input }) => {
    same<typeof input, { n: number; at?: Date | undefined }>(true)
    // @ts-expect-error a member that the schema does not have
    input.other
  },
})
app.tool('json schema', {
  input: { type: 'object' },
  handler: ({ input }) => same<typeof input, Readonly<Record<string, unknown>>>(true),
})

// authorization: optional without requiresAuth, there with it
app.tool('without', {
  input: z.object({}),
  handler: ({ authorization }) => {
    same<typeof authorization, AuthInfo | undefined>(true)
    // @ts-expect-error it may be undefined
    authorization.token
  },
})
app.tool('with', {
  input: z.object({}),
  requiresAuth: Google({ scopes: ['profile', 'any other'] }),
  handler: ({ authorization, authorizations }) => {
    same<typeof authorization, AuthInfo>(true)
    same<typeof authorizations.google, AuthInfo>(true)
    // @ts-expect-error a provider that the tool does not require
    authorizations.github
  },
})
app.tool('both', {
  input: z.object({}),
  requiresAuth: [GitHub({ scopes: ['repo'] }), OAuth2({ id: 'crm' })],
  handler: ({ authorizations }) => [authorizations.github.token, authorizations.crm.token],
})
app.tool('either', {
  input: z.object({}),
  requiresAuth: anyOf(GitHub(), [Slack(), Google()]),
  handler({ authorization, authorizations }) {
    same<typeof authorization, AuthInfo>(true)
    // @ts-expect-error the user may have granted the other one
    authorizations.github.token
    return authorizations.github?.token
  },
})
// @ts-expect-error scopes are texts
GitHub({ scopes: [1] })
// @ts-expect-error a provider has an id or a kind
app.tool('none', { input: z.object({}), requiresAuth: { scopes: [] }, handler: () => 1 })

// getSecret: declared keys only, without `as const`
app.tool('secret', {
  input: z.object({}),
  requiresSecrets: ['API_KEY'],
  handler({ getSecret }) {
    // @ts-expect-error not declared
    getSecret('OTHER')
    return getSecret('API_KEY').length
  },
})
app.tool('no secret', {
  input: z.object({}),
  // @ts-expect-error none is declared
  handler: ({ getSecret }) => getSecret('API_KEY'),
})

// ui.elicit: the content has the type of the form
app.tool('ask', {
  input: z.object({}),
  async handler({ ui, tools, sampling, resources }) {
    const { action, content } = await ui.elicit('?', z.object({ sure: z.boolean() }), { timeout: 1000 })
    same<typeof action, 'accept' | 'decline' | 'cancel'>(true)
    same<typeof content, { sure: boolean } | undefined>(true)
    same<Awaited<ReturnType<typeof tools.call>>, CallToolResult>(true)
    same<Awaited<ReturnType<typeof sampling.createMessage>>, CreateMessageResult>(true)
    same<Awaited<ReturnType<typeof resources.listRoots>>, Root[]>(true)
    // @ts-expect-error maxTokens is missing
    await sampling.createMessage({ messages: [] })
  },
})

// tool(), defineTool(), app.tool(name, it), app.tools.add(name, it)
const made: MaterializedTool = tool({ input: z.object({ v: z.string() }), handler: ({ input }) => input.v })
app.tool('made', made)
void app.tools.add('made', made)
void app.tools.remove('made')
defineTool({ name: 'it', input: z.object({ v: z.string() }), handler: ({ input }) => input.v })
// @ts-expect-error a name is missing
defineTool({ input: z.object({}), handler: () => 1 })
// @ts-expect-error a handler is missing
tool({ input: z.object({}) })
// @ts-expect-error an input is missing
tool({ handler: () => 1 })

// ToolOptions and ToolContext by their parameters
const options: ToolOptions<{ q: string }, 'KEY', AuthProvider> = {
  input: z.object({ q: z.string() }),
  requiresAuth: { provider: 'github', scopes: [] },
  handler: ({ input, getSecret, authorization }) => [input.q, getSecret('KEY'), authorization.token],
}
void options
declare const context: ToolContext<{ q: string }, 'KEY', true>
same<typeof context.authorization, AuthInfo>(true)
same<Parameters<typeof context.getSecret>, [key: 'KEY']>(true)
// @ts-expect-error the context is read-only
context.userId = 'eve'

// errors and adapters
const error: ToolError = new RetryableToolError('later', { retryAfterMs: 1 })
same<typeof error.canRetry, boolean>(true)
// @ts-expect-error whether it may be repeated is what the class says
new RetryableToolError('later', { canRetry: false })
const adapter: ErrorAdapter = { slug: 'mine', fromException: () => null }
void adapter

// the shapes of MCP
const item: ContentItem = { type: 'text', text: '' }
// @ts-expect-error there is no such content
const video: ContentItem = { type: 'video', data: '', mimeType: '' }
void [item, video]
declare const shapes: [
  EmbeddedResource,
  ElicitResult<unknown>,
  GetPromptResult,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  JsonSchema,
  SamplingMessage,
  CreateMessageRequest,
  MCPMessage,
  SessionMessage,
  ServerSession,
]
void shapes
same<MCPMessage, JSONRPCRequest | JSONRPCResponse | JSONRPCNotification>(true)
