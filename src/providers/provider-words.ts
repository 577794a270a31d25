// An authorization server's own description of an error (RFC 6749 sections 4.1.2.1 and 5.2), made safe for callers, pages,
// the log and the audit trail. The text is not trusted, and may repeat secrets of the request.

const LONGEST = 200
/** Characters that are read at most. */
const LONGEST_READ = 4_096
/** Shorter secrets would match parts of ordinary words. */
const SHORTEST_SECRET = 4

/**
 * At most 200 characters of the text, without control and formatting characters, angle brackets, these secrets in any
 * usual spelling, and long words that look random, which may be a code or a token. `undefined` when nothing is left.
 */
export function wordsOf(
  text: string | undefined | null,
  secrets: readonly (string | undefined | null)[] = [],
): string | undefined {
  if (text === undefined || text === null) return undefined
  let clean = text.slice(0, LONGEST_READ)
  for (const secret of secrets) {
    if (!secret || secret.length < SHORTEST_SECRET) continue
    for (const form of spellingsOf(secret)) clean = withoutStart(clean.replaceAll(form, '[removed]'), form)
  }
  clean = clean
    .replace(/[\p{C}\p{Z}<>]+/gu, ' ')
    .replace(/[\w.~+/=%-]{20,}/g, (word) => (looksRandom(word) ? '[removed]' : word))
    .replace(/[“”"]/g, "'")
    .trim()
  const characters = [...clean]
  const short = characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : clean
  return short === '' ? undefined : short
}

/** Whether the word has a digit, or changes between upper and lower case more often than `camelCase` does. */
export function looksRandom(word: string): boolean {
  const changes = word.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0
  return /\d/.test(word) || changes > word.length / 3
}

/** Removes a beginning of the secret from the text's end, where the cut may have left one. */
function withoutStart(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= SHORTEST_SECRET; length--)
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length)
  return text
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = encodeURIComponent(secret)
  const forms = [
    secret,
    encoded,
    encoded.replaceAll(/%[\dA-F]{2}/g, (escaped) => escaped.toLowerCase()),
    new URLSearchParams([['', secret]]).toString().slice(1),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** The sentence with the provider's words, to be appended to a message; empty if there are no words. */
export function saying(provider: string, words: string | undefined): string {
  return words === undefined ? '' : ` ${provider} says: "${words}"`
}
