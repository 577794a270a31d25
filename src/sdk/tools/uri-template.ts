/** In characters. Longer URIs match no template, because the time of a match grows with the square of the length. */
export const MAX_URI_LENGTH = 2000

/**
 * Matches a URI against a template (RFC 6570 levels 1 and 2) and returns the values of the template's variables.
 * `{name}` matches characters other than `/`, `?` and `#`; `{+name}` matches any. A variable matches as much as it can,
 * and at least one character. Returns `undefined` when the URI does not match.
 */
export function matchTemplate(template: string, uri: string): Record<string, string> | undefined {
  if (uri.length > MAX_URI_LENGTH) return undefined
  const parts = template.split(/(\{\+?\w+\})/).map((text) => {
    const [, plus, name] = /^\{(\+?)(\w+)\}$/.exec(text) ?? []
    // `failed`: where the variable cannot begin. A regular expression would try these positions again, which multiplies
    // its time by the length of the URI for each variable.
    return { text, name, isAny: plus === '+', failed: new Set<number>() }
  })

  /** The values of the variables from this part on, where the part begins at `start`. */
  function valuesFrom(index: number, start: number): readonly [string, string][] | undefined {
    const part = parts[index]
    if (part === undefined) return start === uri.length ? [] : undefined
    const { text, name, isAny, failed } = part
    if (name === undefined)
      return uri.startsWith(text, start) ? valuesFrom(index + 1, start + text.length) : undefined
    if (failed.has(start)) return undefined
    const length = isAny ? uri.length - start : uri.slice(start).search(/[/?#]|$/)
    for (let end = start + length; end > start; end--) {
      const others = valuesFrom(index + 1, end)
      if (others !== undefined) return [[name, decoded(uri.slice(start, end))], ...others]
    }
    failed.add(start)
    return undefined
  }

  const values = valuesFrom(0, 0)
  return values && Object.fromEntries(values)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
