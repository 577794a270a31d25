import { parseSync } from 'vite'

/**
 * The string literals of a TypeScript source and the parts of its template literals, which have the names of its tests.
 * Throws when the source cannot be parsed.
 */
export function stringLiteralsOf(path: string, source: string): string[] {
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const texts: string[] = []
  visit(program, texts)
  return texts
}

function visit(node: unknown, texts: string[]): void {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, texts)
    return
  }
  if (typeof node !== 'object' || node === null) return
  const { type, value } = node as { readonly type?: unknown; readonly value?: unknown }
  if (type === 'Literal' && typeof value === 'string') texts.push(value)
  if (type === 'TemplateElement') texts.push(String((value as { readonly cooked?: string }).cooked))
  for (const member of Object.values(node)) visit(member, texts)
}
