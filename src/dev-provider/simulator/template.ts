/** The values of placeholders; lists are joined by `separator`. */
export type Values = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Fills in a template. The code is independent of the broker's, which the simulator checks. A template with a list
 * of scopes becomes the union of all its scopes. Otherwise several spaces, as around an empty value, become one.
 */
export function render(template: string, values: Values, separator = ' '): string {
  const parts = template.split(/(\{\{\s*\w+\s*\}\})/)
  const names = parts.flatMap((part) => nameIn(part) ?? [])
  if (names.some((name) => Array.isArray(values[name]))) {
    const all = parts.flatMap((part) => {
      const name = nameIn(part)
      return name === undefined ? part.split(/[\s,]+/) : (values[name] ?? [])
    })
    return [...new Set(all.filter((item) => item !== ''))].join(separator)
  }
  const filled = parts.map((part) => {
    const name = nameIn(part)
    return name === undefined ? part : String(values[name] ?? '')
  })
  const text = filled.join('')
  return parts.length > 1 ? text.replaceAll(/ {2,}/g, ' ').trim() : text
}

export function namesIn(template: string): readonly string[] {
  return template.split(/(\{\{\s*\w+\s*\}\})/).flatMap((part) => nameIn(part) ?? [])
}

/** The name in a placeholder; `undefined` for other text. */
function nameIn(part: string): string | undefined {
  return /^\{\{\s*(\w+)\s*\}\}$/.exec(part)?.[1]
}
