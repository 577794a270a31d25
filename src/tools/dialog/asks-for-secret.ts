import { isRecord } from '../../parsing/json-record.ts'

// MCP 2026-07-28, Elicitation: servers must not ask for passwords, API keys, access tokens or payment credentials by a
// form, because the client, its model and the readers of its log see the answer. This check searches the words of a form,
// so it finds an honest form that asks for a secret, and not a tool that hides what it asks for.

const SECRET =
  /\b(?:pass ?(?:word|phrase|code)|passwd|secret|credentials?|api ?key|(?:private|access|secret|signing) ?key|(?:access|refresh|auth|authentication|api|bearer|session|id|personal|security) ?token|one[- ]time (?:code|password)|otp|(?:2fa|mfa|totp) ?code|pin(?: code)?|cvv|cvc|card number|credit card|iban|social security)\b/i
/** For the texts above the fields: they may mention a secret without asking for it, so `your` must precede it. */
const YOUR_SECRET = new RegExp(`\\byour ${SECRET.source}`, 'i')
/** Words that are too common within a text, but mean a secret as the whole name of a field. */
const WHOLE_NAME = /^(?:the |your )?(?:token|key|bearer|pwd|pass|jwt)$/i

/**
 * Returns the words that ask for a secret: in a field for free text, or in a text above the fields (the message, the
 * form's title and its description). `undefined` if there are none. Choices and yes-or-no questions are not checked,
 * because their answers cannot hold a secret.
 */
export function asksForSecret(
  message: string,
  { properties, title: formTitle, description: formDescription }: Readonly<Record<string, unknown>>,
): string | undefined {
  const fields = isRecord(properties) ? Object.entries(properties) : []
  const freeFields = fields.filter(
    ([, field]) =>
      isRecord(field) &&
      field.type !== 'boolean' &&
      field.type !== 'array' &&
      !('enum' in field) &&
      !('oneOf' in field),
  )
  for (const [name, field] of freeFields) {
    const { title, description } = isRecord(field) ? field : {}
    for (const text of [spaced(name), title, description]) {
      const found = typeof text === 'string' ? (SECRET.exec(text) ?? WHOLE_NAME.exec(text.trim())) : null
      if (found !== null) return `“${found[0]}”`
    }
  }
  if (freeFields.length === 0) return undefined
  for (const text of [message, formTitle, formDescription]) {
    const found = typeof text === 'string' ? YOUR_SECRET.exec(text) : null
    if (found !== null) return `“${found[0]}”`
  }
  return undefined
}

/** `apiKey`, `api_key` and `api-key` are `api key`. */
function spaced(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[_.\-\s]+/g, ' ')
}
