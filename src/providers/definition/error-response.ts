import { z } from 'zod'
import { type ErrorResponse, STANDARD_ERROR_CODES } from '../request-block.ts'
import { parseExpression } from '../response-map.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'

// How errors are read from a server that reports them in members of its own (not `error`), even with status 200.

const expression = z.string().min(1).max(500)
const value = z.union([z.string().max(100), z.number(), z.boolean()]).transform(String)

export const errorResponseInput = z
  .object({
    at: expression,
    success: z.array(value).max(20).optional(),
    code: expression.nullish(),
    description: expression.nullish(),
    codes: z
      .record(z.string().min(1).max(100), z.enum(STANDARD_ERROR_CODES))
      .refine((codes) => Object.keys(codes).length <= 200, 'at most 200 members')
      .nullish(),
  })
  .meta({ id: 'OAuth2ErrorResponseInput' })
  .nullish()
  .meta({
    description:
      "Beyond Arcade: how a response reports an error, even with status 200. `at` is the member that decides (`$.errcode`): a value that is not in `success` is an error; if the member is absent, there is no error. `code` and `description` locate the server's error code (default: the value at `at`) and its error text. `codes` maps the server's codes to the standard ones; only `invalid_grant` requires a new consent.",
    example: {
      at: '$.errcode',
      success: ['0'],
      description: '$.errmsg',
      codes: { '40163': 'invalid_grant' },
    },
  })

export const errorResponseAnswer = z
  .object({
    at: z.string(),
    success: z.array(z.string()),
    code: z.string().optional(),
    description: z.string().optional(),
    codes: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'OAuth2ErrorResponse' })
  .optional()

/** Throws `invalid_request` for an invalid expression. */
export function readErrorResponse(
  path: string,
  sent: z.output<typeof errorResponseInput>,
): ErrorResponse | undefined {
  if (sent == null) return undefined
  const { at, success = [], code, description, codes } = sent
  for (const [name, text] of Object.entries({ at, code, description })) {
    const parsed = text == null ? undefined : parseExpression(text)
    if (parsed !== undefined && 'fault' in parsed) refuse(`${path}.${name}`, parsed.fault)
  }
  const optional = {
    code: code ?? undefined,
    description: description ?? undefined,
    codes: codes ?? undefined,
  }
  return { at, success, ...withoutUndefined(optional) } as ErrorResponse // none of them is `undefined`
}

export function writeErrorResponse({ at, success, code, description, codes }: ErrorResponse) {
  return {
    at,
    success: [...success],
    ...(code !== undefined && { code }),
    ...(description !== undefined && { description }),
    ...(codes !== undefined && { codes: { ...codes } }),
  }
}
