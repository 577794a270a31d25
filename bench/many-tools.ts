/** Metadata of a tool, as large as in real catalogues. */
export function importedTool(name: string, toolSet = 'many'): object {
  return {
    name,
    tool_set: toolSet,
    version: '1.0.0',
    description: `${name} does something with a text, a number and a list, as tools of real catalogues do.`,
    parameters: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'The text that it works on' },
        count: { type: 'integer', minimum: 1, maximum: 100, description: 'How often it does so' },
        labels: { type: 'array', items: { type: 'string' }, description: 'Labels of the result' },
      },
      required: ['text'],
    },
  }
}

/** The definition of a tool as a worker lists it. With a `providerId` the tool needs an authorization there. */
export function workerTool(index: number, providerId?: string): object {
  const name = `Tool${index}`
  return {
    name,
    fully_qualified_name: `Large.${name}`,
    description: `${name} does something with a text, a number and a list, as tools of real catalogues do.`,
    toolkit: { name: 'Large', version: '1.0.0' },
    input: {
      parameters: [
        { name: 'text', required: true, description: 'The text', value_schema: { val_type: 'string' } },
        { name: 'count', required: false, description: 'How often', value_schema: { val_type: 'integer' } },
      ],
    },
    output: { value_schema: { val_type: 'string' } },
    ...(providerId !== undefined && {
      requirements: {
        authorization: { id: providerId, provider_type: 'oauth2', oauth2: { scopes: ['repo'] } },
      },
    }),
  }
}
