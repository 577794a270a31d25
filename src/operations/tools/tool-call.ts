import { z } from '@hono/zod-openapi'
import { isRecord } from '../../parsing/json-record.ts'
import { idText, pageMembers, plainText, toolNameText, userIdText } from '../schemas/fields.ts'
import { jsonObject } from '../schemas/json-schemas.ts'

/** The members that every endpoint for running tools takes besides the tool and its arguments. */
export const callMembers = {
  user_id: userIdText
    .nullish()
    .meta({ description: 'The user for whom the tool runs; required by tools that act for a user' }),
  account: userIdText
    .nullish()
    .meta({ description: "Which of the user's accounts: a connection's id, an account's id or name" }),
  accounts: z
    .record(idText, userIdText)
    .nullish()
    .meta({ description: 'The account at each of several providers, by the ids of their entries' }),
  next_uri: z.string().max(2000).nullish(),
  ...pageMembers,
  metadata: z
    .record(idText, plainText(2000))
    .nullish()
    .meta({ description: 'For tools that declare it; a tool gets only what it declares' }),
  keep_content: z.boolean().nullish().meta({
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

type OwnName = 'toolId' | 'tool_name'

/** Another name of the member `own`, for programs that are written for another endpoint. */
export function otherNameOf<Schema extends z.ZodType>(own: string, schema: Schema) {
  return schema.optional().meta({ description: `Means the same as \`${own}\``, deprecated: true })
}

/** The tool and its version. */
function toolMembers(own: OwnName) {
  const text = toolNameText
  const described = text.optional().meta({ description: 'A tool by any of its names' })
  return {
    toolId: own === 'toolId' ? described : otherNameOf(own, text),
    tool_name: own === 'tool_name' ? described : otherNameOf(own, text),
    tool_id: otherNameOf(own, text),
    tool_version: z.string().max(100).nullish().meta({ description: 'Absent: the newest version' }),
  }
}

function inputMembers(own: OwnName) {
  const described = jsonObject.optional().meta({
    description: "The tool's arguments, checked by its schema before anything runs",
  })
  return own === 'toolId'
    ? { args: described, input: otherNameOf('args', jsonObject) }
    : { input: described, args: otherNameOf('input', jsonObject) }
}

/** The schema of a body that names a tool. `own`: the endpoint's own name for the tool, which messages use. */
export function namesTool<Shape extends z.ZodRawShape>(own: OwnName, more: Shape) {
  return withOneToolName(z.object({ ...toolMembers(own), ...more }), own)
}

/** The schema of a body that runs a tool. */
export function runsTool<Shape extends z.ZodRawShape>(own: OwnName, more: Shape) {
  const schema = withOneToolName(z.object({ ...toolMembers(own), ...inputMembers(own), ...more }), own)
  return schema.refine((body) => givenOf(body, INPUTS).length <= 1, {
    path: ['args'],
    message: 'means the same as input: send one of them',
    when: isObject,
  })
}

function withOneToolName<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, own: OwnName) {
  const others = TOOL_NAMES.filter((name) => name !== own)
  const document = { anyOf: [own, ...others].map((name) => ({ required: [name] })) }
  return z
    .preprocess(withoutNulls, schema.openapi(document))
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

/** Programs send `null` for names that they do not use. The OpenAPI document does not say so: others leave them out. */
function withoutNulls(body: unknown): unknown {
  if (!isRecord(body)) return body
  const unused = new Set<string>(
    [...TOOL_NAMES, ...INPUTS, 'use_previous'].filter((name) => body[name] === null),
  )
  return unused.size === 0
    ? body
    : Object.fromEntries(Object.entries(body).filter(([name]) => !unused.has(name)))
}

function isObject({ value }: { value: unknown }): boolean {
  return isRecord(value)
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

/** Reads the tool and its arguments. A `tool_version` is appended to the name, which may include a version itself. */
export function readRun(body: Parameters<typeof readTool>[0]) {
  const { name, version, input = {} } = readTool(body)
  return { toolId: version === undefined ? name : `${name}@${version}`, args: input }
}
