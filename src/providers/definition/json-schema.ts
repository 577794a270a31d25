import { z } from 'zod'
import { PROVIDER_TYPES } from '../provider.ts'
import { definitionSchema } from './definition-schema.ts'

/**
 * The JSON Schema (draft 2020-12) of a definition's file, for editors. It refuses unknown members, as Gatepass does when it
 * reads the file.
 */
export function definitionJsonSchema(id: string): object {
  const { $schema, ...schema } = z.toJSONSchema(definitionSchema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if ('example' in jsonSchema) {
        jsonSchema.examples = [jsonSchema.example]
        delete jsonSchema.example // OpenAPI's name; JSON Schema has `examples`
      }
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties ??= false
    },
  })
  return { $schema, $id: id, ...schema, oneOf: PROVIDER_TYPES.map((type) => ({ required: [type] })) }
}
