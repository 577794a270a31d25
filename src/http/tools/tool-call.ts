import { z } from '@hono/zod-openapi'
import { idText, pageMembers, plainText, toolNameText, userIdText } from '../endpoint/fields.ts'
import { jsonObject } from '../endpoint/json-schemas.ts'

/** The members that every endpoint for running tools takes besides the tool and its arguments. */
export const callMembers = {
  user_id: userIdText
    .nullish()
    .openapi({ description: 'The user for whom the tool runs; required by tools that act for a user' }),
  account: userIdText
    .nullish()
    .openapi({ description: "Which of the user's accounts: a connection's id, an account's id or name" }),
  accounts: z
    .record(idText, userIdText)
    .nullish()
    .openapi({ description: 'The account at each of several providers, by the ids of their entries' }),
  next_uri: z.string().max(2000).nullish(),
  ...pageMembers,
  metadata: z
    .record(idText, plainText(2000))
    .nullish()
    .openapi({ description: 'For tools that declare it; a tool gets only what it declares' }),
  keep_content: z.boolean().nullish().openapi({
    description: 'Store input and output in the execution history, which has neither by default',
  }),
}

const schema = z.object(callMembers).partial()

/** Renames these members to those of `ToolCall`. */
export function readCall(body: z.output<typeof schema>) {
  const { user_id, account, accounts, next_uri, user_display, lang, metadata, keep_content } = body
  return {
    ...(user_id != null && { userId: user_id }),
    ...(account != null && { account }),
    ...(accounts != null && { accounts }),
    ...(next_uri != null && { nextUri: next_uri }),
    ...(user_display != null && { userDisplay: user_display }),
    ...(lang != null && { lang }),
    ...(metadata != null && { metadata }),
    ...(keep_content != null && { keepContent: keep_content }),
  }
}

/** Each endpoint has its own names for the tool and its input, and takes those of the others too. A body with two names is refused. */
const TOOL_NAMES = ['toolId', 'tool_id', 'tool_name'] as const
const INPUTS = ['args', 'input'] as const

const input = jsonObject.nullish()

/** The tool and its version. */
const toolMembers = {
  toolId: toolNameText
    .nullish()
    .openapi({ description: 'A tool by any of its names; also `tool_id`, `tool_name`' }),
  tool_id: toolNameText.nullish(),
  tool_name: toolNameText
    .nullish()
    .openapi({ description: 'A tool by any of its names; also `tool_id`, `toolId`' }),
  tool_version: z.string().max(100).nullish().openapi({ description: 'Absent: the newest version' }),
}
const inputMembers = {
  args: input.openapi({
    description: "The tool's arguments, checked by its schema before anything runs; also `input`",
  }),
  input: input.openapi({ description: "The tool's arguments; also `args`" }),
}

/** The schema of a body that names a tool. `own`: the endpoint's own name for the tool, which messages use. */
export function namesTool<Shape extends z.ZodRawShape>(own: 'toolId' | 'tool_name', more: Shape) {
  return withOneToolName(z.object({ ...toolMembers, ...more }), own)
}

/** The schema of a body that runs a tool. */
export function runsTool<Shape extends z.ZodRawShape>(own: 'toolId' | 'tool_name', more: Shape) {
  const schema = withOneToolName(z.object({ ...toolMembers, ...inputMembers, ...more }), own)
  return schema.refine((body) => givenOf(body, INPUTS).length <= 1, {
    path: ['args'],
    message: 'means the same as input: send one of them',
    when: isObject,
  })
}

function withOneToolName<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  own: 'toolId' | 'tool_name',
) {
  return schema
    .refine((body) => givenOf(body, TOOL_NAMES).length > 0, {
      path: [own],
      message: 'is missing',
      params: { code: 'missing' },
      when: isObject, // so that it is reported together with other faults
    })
    .refine((body) => givenOf(body, TOOL_NAMES).length <= 1, {
      path: [own],
      message: 'is given more than once: toolId, tool_id and tool_name mean the same',
      when: isObject,
    })
}

function isObject({ value }: { value: unknown }): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function givenOf(body: object, names: readonly string[]): string[] {
  return names.filter((name) => (body as Record<string, unknown>)[name] != null)
}

/** The tool that the body names, and its input, under any of the names. */
export function readTool(
  body: {
    readonly [name in (typeof TOOL_NAMES)[number] | 'tool_version']?: string | null | undefined
  } & { readonly [name in (typeof INPUTS)[number]]?: Record<string, unknown> | null | undefined },
) {
  const version = body.tool_version
  return {
    name: body.toolId ?? body.tool_id ?? body.tool_name ?? '',
    version: version == null || version === '' ? undefined : version,
    input: body.args ?? body.input ?? undefined,
  }
}
