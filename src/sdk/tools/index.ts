// The library for authors of tools: `@gatepass/sdk/tools` and `gatepass/tools`.

export * from '../generated/providers.ts'
export type { PromptOptions, PromptValue } from './app-prompts.ts'
export type { ResourceOptions, ResourceRequest, ResourceValue } from './app-resources.ts'
export type { AppTool, AppTools } from './app-tools.ts'
export {
  type AnyAuth,
  type AuthProvider,
  anyOf,
  OAuth2,
  type OAuth2Provider,
  type RequiresAuth,
  type ToolAuth,
} from './auth.ts'
export type * from './content.ts'
export type { AuthInfo, LogLevel, ToolContext } from './context.ts'
export { GoogleErrorAdapter } from './error-adapters/google.ts'
export { GraphQLErrorAdapter } from './error-adapters/graphql.ts'
export { HTTPErrorAdapter } from './error-adapters/http.ts'
export { MicrosoftGraphErrorAdapter } from './error-adapters/microsoft-graph.ts'
export { SlackErrorAdapter } from './error-adapters/slack.ts'
export {
  ContextRequiredError,
  type ErrorKind,
  FatalToolError,
  RetryableToolError,
  ToolError,
  type ToolErrorOptions,
  UpstreamError,
  type UpstreamErrorOptions,
} from './errors.ts'
export type { GatepassClient } from './gatepass-client.ts'
export type * from './protocol.ts'
export type { SchemaIssue, SchemaResult, ToolSchema, TypedSchema, ValueOf } from './schema.ts'
export {
  type DefinedTool,
  defineTool,
  type ErrorAdapter,
  type MaterializedTool,
  type NamedToolOptions,
  type ToolAnnotations,
  type ToolOptions,
  tool,
} from './tool.ts'
export { type ServeOptions, type Serving, ToolApp, type ToolAppOptions } from './tool-app.ts'
