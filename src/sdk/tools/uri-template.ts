/** In characters. Longer URIs match no template, because the time for one grows with the square of its length. */
export const MAX_URI_LENGTH = 2000

/**
 * Matches a URI against a template (RFC 6570 levels 1 and 2) and returns the values of its variables: `{name}` matches a
 * part without `/`, `?` and `#`, `{+name}` also one with them. A variable takes as much as it can. `undefined` when the
 * URI does not match.
 */
export function matchTemplate(template: string, uri: string): Record<string, string> | undefined {
  if (uri.length > MAX_URI_LENGTH) return undefined
  const parts = template.split(/(\{\+?\w+\})/).map((text) => {
    const [, plus, name] = /^\{(\+?)(\w+)\}$/.exec(text) ?? []
    // a regular expression would try again where it has failed, and multiply its time by the length for each variable
    return { text, name, isWhole: plus === '+', failed: new Set<number>() }
  })

  /** The values of the variables from this part on, where the part begins at `start`. */
  function valuesFrom(index: number, start: number): readonly [string, string][] | undefined {
    const part = parts[index]
    if (part === undefined) return start === uri.length ? [] : undefined
    const { text, name, isWhole, failed } = part
    if (name === undefined)
      return uri.startsWith(text, start) ? valuesFrom(index + 1, start + text.length) : undefined
    if (failed.has(start)) return undefined
    const length = isWhole ? uri.length - start : uri.slice(start).search(/[/?#]|$/)
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
