import { z } from 'zod'
import { headerNameFault } from '../headers.ts'
import { checkTemplate } from '../template.ts'
import { refuse } from './refuse.ts'

export const headersInput = z
  .record(z.string().min(1).max(100), z.string().max(1000))
  .refine((headers) => Object.keys(headers).length <= 20, 'at most 20 headers')
  .nullish()

export const headersAnswer = z.record(z.string(), z.string()).optional()

/** Headers with their names in lower case. Throws `invalid_request`. */
export function readHeaders(
  path: string,
  sent: z.output<typeof headersInput>,
  placeholders: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (sent == null) return undefined
  const headers: Record<string, string> = {}
  for (const [written, template] of Object.entries(sent)) {
    const name = written.toLowerCase()
    const fault =
      headerNameFault(name) ??
      checkTemplate(template, placeholders) ??
      (/^[\x20-\x7e]*$/.test(template) ? undefined : 'has to be visible ASCII') ??
      (Object.hasOwn(headers, name) ? 'occurs twice' : undefined)
    if (fault !== undefined) refuse(`${path}.${written}`, fault)
    headers[name] = template
  }
  return Object.keys(headers).length > 0 ? headers : undefined
}
