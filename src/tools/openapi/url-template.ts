import { quote, Refusal } from '../read-json.ts'

/** Percent-encodes the constant parts of a path with `{placeholders}`. Throws `Refusal`. */
export function pathTemplate(path: string): string {
  if (/[?#]/.test(path)) throw new Refusal(`Its path ${quote(path)} has a query or a fragment.`)
  return path
    .split(/(\{[^{}]*\})/)
    .map((part) =>
      part.startsWith('{') ? part : part.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%/]/g, encodeURIComponent),
    )
    .join('')
}

export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
}
