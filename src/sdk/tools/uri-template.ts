/**
 * Matches a URI against a template (RFC 6570 levels 1 and 2) and returns the values of its variables: `{name}` matches a
 * part without `/`, `{+name}` also one with `/`. `undefined` when the URI does not match.
 */
export function matchTemplate(template: string, uri: string): Record<string, string> | undefined {
  const names: string[] = []
  const pattern = template
    .split(/(\{\+?\w+\})/)
    .map((part) => {
      const [, plus, name] = /^\{(\+?)(\w+)\}$/.exec(part) ?? []
      if (name === undefined) return part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      names.push(name)
      return plus === '+' ? '(.+)' : '([^/?#]+)'
    })
    .join('')
  const values = new RegExp(`^${pattern}$`).exec(uri)?.slice(1)
  return values && Object.fromEntries(names.map((name, i) => [name, decoded(values[i] ?? '')]))
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
