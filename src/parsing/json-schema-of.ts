import { z } from 'zod'

/** The JSON Schema (draft 2020-12) of what a file may say, for editors. Objects refuse members that the schema does not name. */
export function jsonSchemaOf(schema: z.ZodType, id: string): { readonly [member: string]: unknown } {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if ('example' in jsonSchema) {
        jsonSchema.examples = [jsonSchema.example]
        delete jsonSchema.example // OpenAPI's name; JSON Schema has `examples`
      }
      // references to components of the OpenAPI document, which take any value
      for (const member of ['items', 'additionalProperties'] as const)
        if (isComponent(jsonSchema[member])) delete jsonSchema[member]
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties ??= false
    },
  })
  return { $schema, $id: id, ...rest }
}

function isComponent(schema: unknown): boolean {
  return (
    typeof schema === 'object' &&
    schema !== null &&
    '$ref' in schema &&
    String(schema.$ref).startsWith('#/components/')
  )
}
