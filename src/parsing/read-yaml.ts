/** The value of a YAML text. `place`: where the text is malformed, as ` (line 3, column 7)`; empty if that is not known. */
export type ReadYaml =
  | { readonly outcome: 'read'; readonly value: unknown }
  | { readonly outcome: 'unreadable'; readonly place: string }

/** Reads YAML 1.2. Throws if aliases repeat a value more than 100 times, which would take much memory. */
export async function readYaml(text: string): Promise<ReadYaml> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { schema: 'core' })
  const [fault] = document.errors
  if (fault === undefined) return { outcome: 'read', value: document.toJS({ maxAliasCount: 100 }) }
  const [start] = fault.linePos ?? []
  return {
    outcome: 'unreadable',
    place: start === undefined ? '' : ` (line ${start.line}, column ${start.col})`,
  }
}
