/**
 * The values of the variables where the URI fits the template: `{name}` stands for a part without `/`, `{+name}` for
 * one that may have it (RFC 6570 levels 1 and 2). `undefined` where it does not fit.
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
