/**
 * Whether a text holds a secret in a form that `scrub` promises to find. Simple and slow: it looks for one form of the
 * secret after the other, in the text and in its fold, which one regular expression makes.
 */
export function naivelyHolds(text: string, secret: string): boolean {
  // a tool may trim a secret before it uses it
  return holdsForm(text, secret) || holdsForm(text, secret.trim())
}

function holdsForm(text: string, secret: string): boolean {
  const folded = fold(text)
  const exact = [secret, JSON.stringify(secret).slice(1, -1)]
  const folds = [fold(secret), fold(percentEncoded(secret))].filter((form) => form.length >= 4)
  return (
    exact.some((form) => text.includes(form)) ||
    [...folds, ...base64Forms(secret).map(fold)].some((form) => folded.includes(form))
  )
}

/**
 * Whether the beginning or the end of a secret is inside an escape of the text. Then the text beside the secret reads
 * differently after the secret is removed.
 */
export function cutsAnEscape(text: string, secret: string): boolean {
  const forms = [secret, secret.trim()].flatMap((known) => [known, JSON.stringify(known).slice(1, -1)])
  const ends = new Set<number>()
  for (const form of forms)
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      ends.add(at).add(at + form.length)
  return [...text.matchAll(UNIT)].some(({ index, 0: unit }) =>
    [...Array(unit.length - 1).keys()].some((i) => ends.has(index + i + 1)),
  )
}

function percentEncoded(secret: string): string {
  return Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&')
}

function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) =>
    (['base64', 'base64url'] as const).map((alphabet) => {
      const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
      return whole.toString(alphabet).slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6))
    }),
  )
}

const UNIT =
  /\\+u[dD][89abAB][\dA-Fa-f]{2}\\+u[dD][c-fC-F][\dA-Fa-f]{2}|\\+u[\dA-Fa-f]{4}|\\+|%(?:25)*[\dA-Fa-f]{2}|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][\dA-Fa-f]{1,6});|[\b\f\n\r\t+]|[^\0-\x7f]/gu
const NAMES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const FOLDED: Readonly<Record<string, string>> = {
  '\\': '',
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '+': ' ',
}

/** The text without escapes, one character for each byte. */
function fold(text: string): string {
  return text.replaceAll(UNIT, (unit) => {
    const character = characterOf(unit)
    return FOLDED[character] ?? (unit.startsWith('%') ? character : Buffer.from(character).toString('latin1'))
  })
}

function characterOf(unit: string): string {
  const hex = (digits: string) => Number.parseInt(digits, 16)
  if (unit.startsWith('\\')) {
    const codes = unit.split('u').slice(1)
    return codes.length === 0 ? '\\' : String.fromCharCode(...codes.map((code) => hex(code.slice(0, 4))))
  }
  if (unit.startsWith('%')) return String.fromCharCode(hex(unit.slice(-2)))
  if (!unit.startsWith('&')) return unit
  const entity = unit.slice(1, -1)
  if (!entity.startsWith('#')) return NAMES[entity] ?? ''
  const code = /^#x/i.test(entity) ? hex(entity.slice(2)) : Number(entity.slice(1))
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
