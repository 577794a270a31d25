// Results of tools, resources and prompts, in the shapes of MCP. Arrays are mutable, because callers pass them to MCP
// libraries that declare them so.

/** A JSON Schema document, 2020-12 unless its `$schema` says otherwise. */
export type JsonSchema = Readonly<Record<string, unknown>>

export interface TextContent {
  type: 'text'
  text: string
}

export interface ImageContent {
  type: 'image'
  /** Base64. */
  data: string
  mimeType: string
}

export interface AudioContent {
  type: 'audio'
  /** Base64. */
  data: string
  mimeType: string
}

export interface EmbeddedResource {
  type: 'resource'
  resource: ResourceContents
}

export interface ResourceLink {
  type: 'resource_link'
  uri: string
  name: string
  description?: string
  mimeType?: string
}

export type ContentItem = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink

export interface CallToolResult {
  content: ContentItem[]
  /** The same result for programs. */
  structuredContent?: Record<string, unknown>
  /** The tool failed, and `content` says how. */
  isError?: boolean
  _meta?: Record<string, unknown>
}

/** What a resource holds: either `text` or `blob`. */
export interface ResourceContents {
  uri: string
  mimeType?: string
  text?: string
  /** Base64. */
  blob?: string
}

export interface Resource {
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
}

export interface ResourceTemplate {
  /** RFC 6570, with `{name}` for one segment of a path and `{+name}` for several. */
  uriTemplate: string
  name: string
  title?: string
  description?: string
  mimeType?: string
}

/** A directory that the MCP client shares. */
export interface Root {
  uri: string
  name?: string
}

export interface Tool {
  name: string
  title?: string
  description?: string
  inputSchema: JsonSchema
}

export interface PromptArgument {
  name: string
  description?: string
  required?: boolean
}

export interface Prompt {
  name: string
  title?: string
  description?: string
  arguments?: PromptArgument[]
}

export interface PromptMessage {
  role: 'user' | 'assistant'
  content: ContentItem
}

export interface GetPromptResult {
  description?: string
  messages: PromptMessage[]
}

export interface SamplingMessage {
  role: 'user' | 'assistant'
  content: TextContent | ImageContent | AudioContent
}

export interface CreateMessageRequest {
  messages: SamplingMessage[]
  systemPrompt?: string
  maxTokens: number
  temperature?: number
  stopSequences?: string[]
}

export interface CreateMessageResult {
  role: 'assistant'
  content: TextContent | ImageContent | AudioContent
  model: string
  stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens'
}

/** What the user did with a form. `content` is there when it was accepted. */
export interface ElicitResult<T> {
  action: 'accept' | 'decline' | 'cancel'
  content?: T
}

const CONTENT_TYPES: readonly unknown[] = ['text', 'image', 'audio', 'resource', 'resource_link']
const RESULT_MEMBERS = ['content', 'structuredContent', 'isError', '_meta']

/** Whether a handler returned a complete result, rather than a value that happens to have a member `content`. */
export function isCallToolResult(value: unknown): value is CallToolResult {
  if (typeof value !== 'object' || value === null || !('content' in value)) return false
  return (
    Array.isArray(value.content) &&
    value.content.every((item) => CONTENT_TYPES.includes(item?.type)) &&
    Object.keys(value).every((name) => RESULT_MEMBERS.includes(name))
  )
}
