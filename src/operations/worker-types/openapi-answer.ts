import { z } from '@hono/zod-openapi'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import {
  ANSWER_CONVERSIONS,
  type AnswerPlan,
  type Condition,
  type ErrorPlan,
  FAILURE_KINDS,
  type PagesPlan,
} from '../../tools/openapi/answers/answer-plan.ts'
import { jsonValue } from '../schemas/json-schemas.ts'

// The wire format of how a described request's answer is read.

const path = z.string().min(1).max(500).meta({
  description:
    '`a.b`, `a[]` for each element, `a[0]`, `a[name=From|To]`, `*` for any member, `$` for the whole',
})
const paths = z.array(path).max(200)
const places = z.array(path).max(5).optional()

const condition = z
  .union([
    z.object({ at: path, is: z.union([z.string(), z.number(), z.boolean()]).optional() }).strict(),
    z.object({ at: path, is_above_page: z.literal(true) }).strict(),
    z.object({ at: path, is_as_long_as: z.string() }).strict(),
    z.object({ lacks: path }).strict(),
    z.object({ link: z.literal('next') }).strict(),
  ])
  .openapi('AnswerCondition', {
    description:
      'Whether a value is there, is this one, or is not there (`lacks`); whether it is above the number of the page; whether a list has as many elements as a property of the input asked for; whether the header `Link` has a next page',
  })

export const answerDescription = z
  .object({
    members: paths.optional().meta({ description: 'The members that are kept; all unless given' }),
    drop: paths.optional().meta({ description: 'Members within those that are left out' }),
    foreign: z.array(path).max(50).optional().meta({
      description: 'Texts that others wrote: the answer lists these paths as `written_by_others`',
    }),
    limit: z.int().min(1000).max(1_000_000).optional().meta({
      description:
        'The longest answer, in characters of JSON; 16,000 by default. A longer one is cut, and `cut` says how to go on',
    }),
    convert: z
      .record(path, z.enum(ANSWER_CONVERSIONS))
      .optional()
      .meta({ description: 'By path: what is made of the value' }),
    long_texts: z
      .object({ limit: z.int().min(100).max(100_000), from: z.string().min(1).max(100) })
      .strict()
      .optional()
      .meta({
        description: 'From how many characters on texts are shortened, and the input that asks for the rest',
      }),
    file: z
      .object({ at: path.optional(), name: places, content_type: places })
      .strict()
      .openapi('AnswerFile')
      .optional()
      .meta({
        description:
          'A file: a text becomes the value, anything else is stored and answered by reference. `at`: where its content is, in base64; without it the body is the file. `name` and `content_type`: where they are, `{path}` for a property of the input or a path in the answer; the first with a value counts',
      }),
    empty: jsonValue
      .optional()
      .meta({ description: 'The value of an answer without content; `{"done": true}` unless given' }),
  })
  .strict()
  .openapi('AnswerDescription', { description: 'What of an answer becomes the value of the tool' })

export const pagesDescription = z
  .object({
    by: z.enum(['token', 'link', 'number', 'offset', 'last']),
    at: path.optional(),
    parameters: z.array(z.string().min(1).max(100)).max(5).optional(),
    after: z.string().min(1).max(100).optional(),
    more: condition.optional(),
  })
  .strict()

const WAIT_PLACES = ['header', 'at', 'amount'] as const

export const errorDescription = z
  .object({
    failed_if: z
      .array(condition)
      .max(10)
      .optional()
      .meta({ description: 'An answer of status 2xx that is a failure' }),
    code: paths.optional(),
    message: paths.optional(),
    details: paths.optional(),
    kinds: z
      .record(z.string(), z.enum(FAILURE_KINDS))
      .optional()
      .meta({ description: 'By code or status; `*` at the end of a code: any ending' }),
    sentences: z.record(z.string().min(3).max(200), z.string().min(1).max(100)).optional().meta({
      description: 'Parts of the message of an answer without a code, and the code that it then has',
    }),
    advice: z
      .record(z.string(), z.string().max(300))
      .optional()
      .meta({ description: 'By code or status: what to do' }),
    wait: z
      .array(
        z
          .object({
            header: z.string().optional(),
            at: path.optional(),
            amount: z.number().positive().optional(),
            unit: z.enum(['seconds', 'milliseconds', 'epoch_seconds', 'epoch_milliseconds', 'time']),
          })
          .strict()
          .refine(
            (one) => WAIT_PLACES.filter((place) => one[place] !== undefined).length === 1,
            'has one of header, at and amount',
          ),
      )
      .max(5)
      .optional(),
  })
  .strict()
  .openapi('ErrorDescription', { description: 'Where the API says what went wrong' })

type ConditionWire = z.output<typeof condition>

function toCondition(sent: ConditionWire): Condition {
  if ('link' in sent || 'lacks' in sent) return sent
  if ('is_above_page' in sent) return { at: sent.at, isAbovePage: true }
  if ('is_as_long_as' in sent) return { at: sent.at, isAsLongAs: sent.is_as_long_as }
  return { at: sent.at, ...(sent.is !== undefined && { is: sent.is }) }
}

function toConditionWire(condition: Condition): ConditionWire {
  if ('link' in condition || 'lacks' in condition) return condition
  if ('isAbovePage' in condition) return { at: condition.at, is_above_page: true }
  if ('isAsLongAs' in condition) return { at: condition.at, is_as_long_as: condition.isAsLongAs }
  return condition
}

export function toAnswerSettings({
  long_texts: longTexts,
  file,
  ...sent
}: z.output<typeof answerDescription>): AnswerPlan {
  const { content_type: contentType, ...rest } = file ?? {}
  return {
    ...withoutUndefined(sent),
    ...(longTexts && { longTexts }),
    ...(file && { file: withoutUndefined({ ...rest, contentType }) }),
  }
}

export function toAnswerWire({
  longTexts,
  members,
  drop,
  foreign,
  goesOn: _,
  file,
  ...rest
}: Omit<AnswerPlan, 'pages' | 'errors'>) {
  const { at, name, contentType } = file ?? {}
  return {
    ...rest,
    ...(members && { members: [...members] }),
    ...(drop && { drop: [...drop] }),
    ...(foreign && { foreign: [...foreign] }),
    ...(longTexts && { long_texts: longTexts }),
    ...(file && {
      file: withoutUndefined({
        at,
        name: name && [...name],
        content_type: contentType && [...contentType],
      }),
    }),
  }
}

export function toErrorSettings({
  failed_if: failedIf,
  wait,
  ...sent
}: z.output<typeof errorDescription>): ErrorPlan {
  return {
    ...withoutUndefined(sent),
    ...(failedIf && { failedIf: failedIf.map(toCondition) }),
    ...(wait && {
      wait: wait.map(({ header, at = '', amount, unit }) => ({
        ...(amount !== undefined ? { amount } : header === undefined ? { at } : { header }),
        unit,
      })),
    }),
  }
}

export function toErrorWire({ failedIf, ...rest }: ErrorPlan) {
  return { ...rest, ...(failedIf && { failed_if: failedIf.map(toConditionWire) }) }
}

interface PagesWire extends Omit<z.output<typeof pagesDescription>, never> {
  readonly request?: RequestPartsWire | undefined
}

interface RequestPartsWire {
  readonly content_type?: string | undefined
  readonly [name: string]: unknown
}

export function toPagesSettings({ more, request, ...sent }: PagesWire) {
  const { content_type: contentType, ...parts } = request ?? {}
  return {
    ...withoutUndefined(sent),
    ...(more && { more: toCondition(more) }),
    ...(request && {
      request: { ...withoutUndefined(parts), ...(contentType !== undefined && { contentType }) },
    }),
  } as PagesPlan
}

export function toPagesWire({ more, ...rest }: PagesPlan & { readonly request?: object }) {
  const { request, ...pages } = rest
  const { contentType, ...parts } = (request ?? {}) as { readonly contentType?: string }
  return {
    ...pages,
    ...(more && { more: toConditionWire(more) }),
    ...(request && {
      request: { ...parts, ...(contentType !== undefined && { content_type: contentType }) },
    }),
  }
}
