import { z } from 'zod'
import { definitionSchema } from './definition-schema.ts'

/** The JSON Schema (draft 2020-12) of a definition's file, for editors. It refuses unknown members, as reading does. */
export function definitionJsonSchema(id: string): object {
  const { $schema, ...schema } = z.toJSONSchema(definitionSchema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if ('example' in jsonSchema) {
        jsonSchema.examples = [jsonSchema.example]
        delete jsonSchema.example // the member of OpenAPI
      }
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties ??= false
    },
  })
  return { $schema, $id: id, ...schema }
}
