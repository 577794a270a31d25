import { z } from '@hono/zod-openapi'
import { CAUSE_ACTORS, CAUSE_CODES, type Cause } from '../../domain/causes.ts'

/** Why something does not work, with what to change: part of explanations and of refusals. */
export const causeSchema = z
  .object({
    code: z
      .enum(CAUSE_CODES)
      .openapi('CauseCode', { description: 'A stable code to switch on', example: 'wrong_client_secret' }),
    message: z.string().meta({ description: 'What is wrong, in one sentence' }),
    to_do: z.string().meta({ description: 'What to change' }),
    who: z.enum(CAUSE_ACTORS).meta({ description: 'Who can change it' }),
  })
  .openapi('Cause')

export function causeToWire({ code, message, toDo, who }: Cause): z.infer<typeof causeSchema> {
  return { code, message, to_do: toDo, who }
}
