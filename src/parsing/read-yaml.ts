/**
 * The value of a YAML text. `why` continues a sentence: the place of the fault, as ` (line 3, column 7)`, or a reason,
 * as `: …`; empty if neither is known.
 */
export type ReadYaml =
  | { readonly outcome: 'read'; readonly value: unknown }
  | { readonly outcome: 'unreadable'; readonly why: string }

/** Reads YAML 1.2. Refuses aliases that repeat a value more than 100 times, because they would take much memory. */
export async function readYaml(text: string): Promise<ReadYaml> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { schema: 'core' })
  const [fault] = document.errors
  if (fault !== undefined) {
    const [start] = fault.linePos ?? []
    return {
      outcome: 'unreadable',
      why: start === undefined ? '' : ` (line ${start.line}, column ${start.col})`,
    }
  }
  try {
    return { outcome: 'read', value: document.toJS({ maxAliasCount: 100 }) }
  } catch {
    return {
      outcome: 'unreadable',
      why: ': it has an alias (*name) without an anchor (&name), or aliases that repeat a value more than 100 times. Put a text that begins with * in quotes, such as "*.example.com"',
    }
  }
}
