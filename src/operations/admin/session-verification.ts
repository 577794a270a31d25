import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { beginTrial } from '../../flows/verifier-trial.ts'
import { defineOperation } from '../operation.ts'
import { userIdText } from '../schemas/fields.ts'

const settingsSchema = z
  .object({
    verifier_url: z.string().meta({ description: 'Empty unless a page of the caller verifies users' }),
    unsafe_skip_verification: z.boolean(),
    unsafe_skip_verification_choice_allowed: z
      .literal(false)
      .meta({ description: 'It is the operator’s choice, by GATEPASS_USER_VERIFIER' }),
  })
  .openapi('SessionVerification')

const verifierUrl = z.string().max(2000)
const tag = 'Authorization'
const path = '/v1/admin/settings/session_verification'

export const getSessionVerification = defineOperation({
  id: 'getSessionVerification',
  method: 'get',
  path,
  role: 'readonly',
  tag,
  summary: 'The user verifier, in the form of Arcade’s API',
  answer: 'The settings',
  output: settingsSchema,
  run: (broker) => settingsOf(broker),
})

export const confirmSessionVerification = defineOperation({
  id: 'confirmSessionVerification',
  method: 'put',
  path,
  role: 'admin',
  tag,
  summary: 'Confirm the user verifier',
  description:
    'Answers 200 if the request repeats the current settings, else 409 `set_by_operator`: they hold for all projects, so the operator sets them by GATEPASS_USER_VERIFIER.',
  body: z.object({
    verifier_url: verifierUrl.nullish(),
    unsafe_skip_verification: z.boolean().nullish(),
    unsafe_skip_verification_choice_allowed: z.boolean().nullish(),
  }),
  answer: 'The settings',
  output: settingsSchema,
  run(broker, { body }) {
    const { verifier_url: url, unsafe_skip_verification: skips } = settingsOf(broker)
    const sameUrl = body.verifier_url == null || normalized(body.verifier_url) === url
    const sameSkip = body.unsafe_skip_verification == null || body.unsafe_skip_verification === skips
    const sameChoice = body.unsafe_skip_verification_choice_allowed !== true
    if (!sameUrl || !sameSkip || !sameChoice)
      throw new BrokerError(
        'set_by_operator',
        'The user verifier holds for all projects: an operator sets it by GATEPASS_USER_VERIFIER and restarts Gatepass.',
      )
    return settingsOf(broker)
  },
})

export const validateCustomVerifier = defineOperation({
  id: 'validateCustomVerifier',
  method: 'post',
  path: '/v1/auth/validate_custom_verifier',
  role: 'caller',
  tag,
  summary: 'Try out a verifier page',
  description:
    'Open `next_uri` in a browser in which this user is logged in at the page: the page gets `flow_id`, and its server confirms it by POST /v1/auth/confirm_user for this user within ten minutes. Nothing is authorized by it.',
  body: z.object({ user_id: userIdText, verifier_url: verifierUrl }),
  answer: 'Where to send the browser',
  output: z.object({ flow_id: z.string(), next_uri: z.string() }),
  run(broker, { body, caller }) {
    const { flowId, nextUri } = beginTrial(broker, caller.projectId, body.user_id, body.verifier_url)
    return { flow_id: flowId, next_uri: nextUri }
  },
})

/** Arcade's settings of the user verifier. They hold for all projects, so no project's administrator may change them. */
function settingsOf({ settings: { verifier } }: Broker): z.infer<typeof settingsSchema> {
  return {
    verifier_url: verifier.kind === 'caller' ? verifier.url.href : '',
    unsafe_skip_verification: verifier.kind === 'open',
    unsafe_skip_verification_choice_allowed: false,
  }
}

function normalized(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text
}
