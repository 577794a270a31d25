import { z } from '@hono/zod-openapi'
import { REMEMBER } from '../../domain/approval.ts'
import { CONNECTION_OWNERS, HINTS, USE_KINDS } from '../../domain/requested-use.ts'
import { idText, newIdText, plainText } from '../../operations/schemas/fields.ts'
import { jsonSchema } from '../../operations/schemas/json-schemas.ts'
import { EFFECTS, HOOK_FORMATS } from './domain.ts'

// Policies on the wire. Unknown members are refused, because a policy whose member is misspelled would match everything.

const texts = (max: number, description: string) =>
  z
    .array(plainText(max))
    .min(1, 'names nothing; leave it out to match everything')
    .max(200)
    .optional()
    .meta({ description })

export const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'HH:MM, from 00:00 to 23:59')

const argumentJsonSchema = jsonSchema.refine(
  (schema) => JSON.stringify(schema).length <= 16_384,
  'has more than 16,384 characters of JSON',
)

const argumentTest = {
  one_of: z
    .array(z.union([plainText(1000), z.number(), z.boolean(), z.null()]))
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'The value is one of these; a number equals its text' }),
  matches: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: 'An RE2 pattern that the whole value matches' }),
  domains: z
    .array(plainText(300))
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'The domain is one of these; `*.acme.com` is each below `acme.com`' }),
  schema: argumentJsonSchema
    .optional()
    .meta({ description: 'A JSON Schema (2020-12) that the value fits; patterns are RE2' }),
}

export type WireTest = Pick<z.infer<typeof argumentSchema>, 'one_of' | 'matches' | 'domains' | 'schema'>

export const argumentSchema = z
  .strictObject({
    at: plainText(500).meta({
      description: 'A JSON Pointer such as `/to`; `*` is every item: `/items/*/id`',
    }),
    as: z.enum(['email', 'url']).optional().meta({
      description:
        '`email`: reads an address list (RFC 5322) and compares each address. `url`: compares the host of the URL',
    }),
    ...argumentTest,
    not: z
      .strictObject(argumentTest)
      .optional()
      .meta({ description: 'In place of the test: the test that fails' }),
    missing: z.enum(['match', 'no_match']).optional().meta({
      description: 'Whether the condition holds without the argument; absent: `no_match`, with `not` `match`',
    }),
  })
  .openapi('PolicyArgument')

export const matchSchema = z
  .strictObject({
    users: texts(500, 'Users; `*` matches any characters, here and in all lists'),
    tools: texts(400, 'Tools by any of their names, in any case; `allow` only by names of their own'),
    workers: texts(200, 'Ids of the workers that run the tool'),
    providers: texts(200, 'Ids of provider entries'),
    owners: z
      .array(z.enum(CONNECTION_OWNERS))
      .min(1, 'names nothing; leave it out to match everything')
      .optional()
      .meta({
        description:
          'Who owns the connection that is used: `user`, or `project` for those that an administrator shares. While that is not known, `allow` does not match, and the other effects do',
      }),
    scopes: texts(1000, 'What the token may do'),
    hosts: texts(300, 'Where the token goes: `api.github.com`, `*.example.com`, `localhost:8080`'),
    uses: z.array(z.enum(USE_KINDS)).min(1, 'names nothing; leave it out to match everything').optional(),
    hints: z.array(z.enum(HINTS)).min(1, 'names nothing; leave it out to match everything').optional().meta({
      description:
        'What tools do, by their annotations. A tool without annotations counts as destructive and open',
    }),
    methods: z
      .array(z.string().regex(/^[A-Z]{1,20}$/, 'a method in upper case, such as POST'))
      .min(1, 'names nothing; leave it out to match everything')
      .max(20)
      .optional()
      .meta({ description: 'Methods of requests that the proxy forwards' }),
    paths: texts(1000, 'Paths of requests that the proxy forwards, without their query'),
    arguments: z
      .array(argumentSchema)
      .min(1, 'names nothing; leave it out to match everything')
      .max(20)
      .optional()
      .meta({
        description: 'Conditions on the arguments of a tool, all of which must hold',
      }),
    time: z
      .strictObject({
        days: z
          .array(z.number().int().min(1).max(7))
          .min(1)
          .max(7)
          .optional()
          .meta({ description: '1 is Monday' }),
        from: time.optional(),
        to: time.optional().meta({ description: 'The end; this minute is not included' }),
        zone: plainText(100).optional().meta({ description: 'Such as Europe/Berlin; absent: UTC' }),
      })
      .optional(),
    rate: z
      .strictObject({
        limit: z.number().int().min(1).max(1_000_000),
        seconds: z.number().int().min(1).max(86_400),
        per: z.enum(['user', 'tool', 'project']),
      })
      .optional()
      .meta({ description: 'Matches once there were more than `limit` uses within `seconds`' }),
    quota: z
      .strictObject({
        limit: z.number().int().min(1).max(100_000_000),
        per: z.enum(['user', 'tool', 'agent', 'project']),
        window: z.enum(['hour', 'day']),
        zone: plainText(100).optional().meta({ description: 'Such as Europe/Berlin; absent: UTC' }),
      })
      .optional()
      .meta({
        description:
          'Matches once there were `limit` runs in the calendar hour or day, counted over all nodes; only with `deny` and `approve`',
      }),
  })
  .openapi('PolicyMatch')

const effectSchema = z.enum(EFFECTS).meta({
  description:
    '`deny`: a use that it matches is refused. `allow`: if there are such policies, a use that none of them matches is refused. `hook`: a use that it matches is refused unless the hook permits it. `approve`: a use that it matches waits until a person has approved it.',
})

export const timeoutMs = z.number().int().min(100).max(10_000)
export const onFailure = z
  .enum(['deny', 'allow'])
  .meta({ description: 'The decision when the hook fails or its answer is invalid' })
/** Gatepass removes the secret from the answers of the hook, so it must be too long to occur in them by chance. */
export const secret = plainText(500).refine((text) => text.length >= 16 && /^[\x21-\x7e]*$/.test(text), {
  message: '16 characters or more, visible ASCII without spaces',
})

const hookFormat = z.enum(HOOK_FORMATS).meta({
  description:
    '`arcade`: asked as Arcade\'s `/pre` hooks are, answers `{"code": "OK"}`. `authzen`: `url` is the address of a policy decision point (AuthZEN 1.0), whose `/access/v1/evaluation` answers `{"decision": true}`',
})

export const hookSchema = z.strictObject({
  url: plainText(2048),
  format: hookFormat.default('arcade'),
  timeout_ms: timeoutMs.default(2_000),
  on_failure: onFailure.default('deny'),
  secret: secret
    .optional()
    .meta({ description: 'Sent as `Authorization: Bearer <secret>`', writeOnly: true }),
})

export const hookChangesSchema = hookSchema.partial().extend({
  format: hookFormat.optional(),
  timeout_ms: timeoutMs.optional(),
  on_failure: onFailure.optional(),
  secret: secret.nullish().meta({ description: '`null` removes the secret', writeOnly: true }),
})

export const seconds = (max: number) => z.number().int().min(60).max(max)

/** Who approves. */
export const approvedBySchema = z.union([
  z.enum(['user', 'user_in_client']),
  z.strictObject({ group: idText, count: z.number().int().min(1).max(10).default(1) }),
])

export const approveSchema = z
  .strictObject({
    by: approvedBySchema.default('user').meta({
      description:
        "`user`: the user for whom the call is made, on a page of Gatepass. A group: `count` different people of it, in the console or by an API key of the role `approver`. `user_in_client`: the user, through the form of the MCP client that made the call, which may be the model's own program.",
    }),
    expires_seconds: seconds(86_400)
      .default(600)
      .meta({ description: 'How long the question waits for an answer' }),
    use_within_seconds: seconds(86_400)
      .default(600)
      .meta({ description: 'How long an approval counts before the call is made' }),
    remember: z
      .array(z.enum(REMEMBER))
      .min(1, 'names nothing; leave it out for `once`')
      .default(['once'])
      .meta({ description: 'What the approver may choose from' }),
  })
  .openapi('PolicyApproval')

export const policySchema = z
  .object({
    id: z.string(),
    description: z.string().optional(),
    enabled: z.boolean(),
    effect: z.enum(EFFECTS),
    match: matchSchema,
    hook: z
      .object({
        url: z.string(),
        format: z.enum(HOOK_FORMATS),
        timeout_ms: z.number().int(),
        on_failure: onFailure,
        secret: z.object({ exists: z.boolean() }),
      })
      .optional(),
    approve: approveSchema.optional(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi('Policy')

const newPolicy = z.strictObject({
  id: newIdText,
  description: plainText(1000).nullish(),
  enabled: z.boolean().default(true),
  effect: effectSchema,
  match: matchSchema,
  hook: hookSchema.optional(),
  approve: approveSchema.optional(),
})
export const newPolicySchema = newPolicy.openapi('NewPolicy')

export const policyChangesSchema = newPolicy
  .omit({ id: true })
  .partial()
  .extend({ enabled: z.boolean().optional(), hook: hookChangesSchema.optional() })
