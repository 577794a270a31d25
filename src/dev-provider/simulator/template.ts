/** The values of placeholders; lists are joined by `separator`. */
export type Values = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The text of a template. It is written a second time here, apart from the broker's own, because the two are compared.
 * Scopes become the union of all that the template names; where another value is empty, the double space that is left
 * becomes one.
 */
export function render(template: string, values: Values, separator = ' '): string {
  const words = template.split(/(\{\{\s*\w+\s*\}\})/)
  const names = words.flatMap((word) => nameIn(word) ?? [])
  if (names.some((name) => Array.isArray(values[name]))) {
    const all = words.flatMap((word) => {
      const name = nameIn(word)
      return name === undefined ? word.split(/[\s,]+/) : (values[name] ?? [])
    })
    return [...new Set(all.filter((one) => one !== ''))].join(separator)
  }
  const filled = words.map((word) => {
    const name = nameIn(word)
    return name === undefined ? word : String(values[name] ?? '')
  })
  const text = filled.join('')
  return words.length > 1 ? text.replaceAll(/ {2,}/g, ' ').trim() : text
}

export function namesIn(template: string): readonly string[] {
  return template.split(/(\{\{\s*\w+\s*\}\})/).flatMap((word) => nameIn(word) ?? [])
}

function nameIn(word: string): string | undefined {
  return /^\{\{\s*(\w+)\s*\}\}$/.exec(word)?.[1]
}
