import { z } from '@hono/zod-openapi'
import { ERROR_CODES, FAULT_CODES } from '../../domain/errors.ts'
import { requiredAuthorizationSchema } from '../dialects/execution-schemas.ts'
import { causeSchema } from './cause-schema.ts'

export const errorCodeSchema = z
  .enum(ERROR_CODES)
  .openapi('ErrorCode', { description: 'A stable code to switch on', example: 'invalid_request' })
const faultCodeSchema = z.enum(FAULT_CODES).openapi('FaultCode', { example: 'missing' })

/** The body of every refusal, which errors.ts makes. */
export const errorSchema = z
  .object({
    name: errorCodeSchema,
    message: z.string().meta({ description: 'What happened and what to do' }),
    errors: z
      .array(
        z.object({
          path: z.string().meta({
            description: 'The member, parameter or header; empty for the whole',
            example: 'auth_requirement.oauth2.scopes.0',
          }),
          code: faultCodeSchema,
          message: z.string(),
          line: z.number().int().optional().meta({ description: 'In broken JSON, from 1' }),
          column: z.number().int().optional(),
          label: z.string().optional().meta({ description: 'What a missing value is, in words' }),
          catalogued: z.string().optional().meta({
            description: 'The definition of the catalogue that an unknown provider probably means',
          }),
        }),
      )
      .optional()
      .meta({ description: 'Each thing that is wrong with the request' }),
    cause: causeSchema
      .optional()
      .meta({ description: 'Why a token or a consent cannot be obtained, if that is known' }),
    requires_authorization: requiredAuthorizationSchema.optional().meta({
      description: 'What a person must approve; then the same request can be made again',
    }),
  })
  .openapi('ErrorBody')
