import { z } from '@hono/zod-openapi'
import { userFor } from '../../domain/api-key.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { defineOperation } from '../../operations/operation.ts'
import { languageTag, userDisplayText, userIdText } from '../../operations/schemas/fields.ts'
import { PORTAL_RIGHTS } from './domain.ts'
import { createPortalLink as create } from './portal-link.ts'

const DEFAULT_SECONDS = 300
const MOST_SECONDS = 3600

const linkSchema = z
  .object({
    return_url: z.string().max(2000).nullish().meta({
      description: 'Where the page leads back to; its origin must be one that a `next_uri` may lead to',
      example: 'https://app.example.com/settings',
    }),
    user_display: userDisplayText.nullish().meta({
      description: "The user's name, for the page. Without it the page has the user id",
      example: 'Ada L.',
    }),
    lang: languageTag.nullish().meta({
      description: 'The language of the page; else that of the browser. en, de, fr, es, pt, ja, zh',
      example: 'de',
    }),
    may: z
      .array(z.enum(PORTAL_RIGHTS))
      .min(1)
      .max(PORTAL_RIGHTS.length)
      .refine((may) => may.includes('view'), 'needs `view`, which shows the page that has the other actions')
      .default(['view', 'disconnect'])
      .meta({
        description:
          '`view`: see what is connected; `disconnect`: disconnect accounts and applications; `connect`: connect further accounts, reconnect broken ones, and choose the default; `approve`: decide about calls where users are not verified (`GATEPASS_USER_VERIFIER=open`), and take decisions back; `export`: download what is kept; `erase`: delete it all',
      }),
    seconds: z
      .number()
      .int()
      .min(30)
      .max(MOST_SECONDS)
      .default(DEFAULT_SECONDS)
      .meta({ description: 'How long the link works' }),
  })
  .openapi('PortalLinkRequest')

const answerSchema = z
  .object({
    url: z
      .string()
      .meta({ description: 'Works once. Give it only to this user, after the user has logged in' }),
    expires_at: z.string(),
  })
  .openapi('PortalLink')

export const createPortalLink = defineOperation({
  id: 'createPortalLink',
  method: 'post',
  path: '/v1/users/{user_id}/portal',
  role: 'caller',
  keysOfUsers: 'own',
  tag: 'Connections',
  summary: "A one-time link to the user's own page",
  description:
    'The page (`/me`) shows what the user has connected. The link opens it without a login, so redirect only the browser of this user to it, after your application has logged the user in.',
  params: z.object({ user_id: userIdText }),
  body: linkSchema,
  bodyIsOptional: true,
  status: 201,
  answer: 'The link',
  output: answerSchema,
  async run(broker, { params, body, caller }) {
    userFor(caller, params.user_id)
    const { url, expiresAt } = await create(broker, {
      projectId: caller.projectId,
      userId: params.user_id,
      may: PORTAL_RIGHTS.filter((right) => body.may.includes(right)),
      seconds: body.seconds,
      returnUrl: body.return_url,
      userDisplay: body.user_display,
      lang: body.lang,
    })
    return { url, expires_at: toTimestamp(expiresAt) }
  },
})
