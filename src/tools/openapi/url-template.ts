import { quote, Refusal } from '../read-json.ts'

/** A path with `{placeholders}`, its own text encoded as URLs have it. Throws `Refusal`. */
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
