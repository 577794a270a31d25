import type { AccessEvaluation, RequestableDenial } from './domain-access-request.ts'

/** `failed`: the hook could not be reached, or its response is malformed. */
export type HookResult =
  | { readonly outcome: 'agreed' }
  | Refused
  /** Refused, but an access request may change that. */
  | (Omit<Refused, 'outcome'> & {
      readonly outcome: 'requestable'
      readonly denial: RequestableDenial
      readonly evaluation: AccessEvaluation
    })
  | { readonly outcome: 'failed'; readonly message: string }

/** `retryIn`: after so many seconds the same use may be permitted. */
interface Refused {
  readonly outcome: 'refused'
  readonly message?: string
  readonly retryIn?: number
}

const MAX_MESSAGE = 300

/** The refusal, with the hook's own words as far as they can be shown to the caller. */
export function refusedBecause(reason: unknown, secret: string | undefined): Refused {
  const message = typeof reason === 'string' ? toSafeLine(reason, secret) : ''
  return { outcome: 'refused', ...(message !== '' && { message }) }
}

/** One line of bounded length, without characters that draw nothing or change the order of text, and without the hook's own secret. */
function toSafeLine(message: string, secret: string | undefined): string {
  const plain = secret === undefined ? message : message.replaceAll(secret, '[redacted]')
  const line = plain
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\s]+/gu, ' ')
    .trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE).toWellFormed()}…` : line
}

/** The members of the JSON object; `undefined` for anything else. */
export function parsedAnswer(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
