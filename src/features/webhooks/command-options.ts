/** The option for types of events; `all` is `every`. */
export function typesFlag<Every extends null | undefined>(every: Every) {
  return {
    flags: '--types <types>',
    help: 'only these events, comma-separated; all: every event',
    parse: <Types>(text: string, bySchema: (text: string) => Types) =>
      text.trim() === 'all' ? every : bySchema(text),
  }
}
