import { z } from 'zod'
import { type ErrorResponse, STANDARD_ERROR_CODES } from '../request-block.ts'
import { parseExpression } from '../response-map.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'

// Errors under members of a server's own, also in responses with status 200.

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
  .nullish()
  .meta({
    description:
      "Beyond Arcade: where a response tells an error, also with status 200. `at` is the member that decides (`$.errcode`); a value that is not among `success` is an error, an absent one is none. `code` and `description` locate the server's code (default: the value at `at`) and its words. `codes` maps the server's codes to the standard ones; only `invalid_grant` requires a new consent.",
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
  .optional()

/** Throws `invalid_request` for an expression that is none. */
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
