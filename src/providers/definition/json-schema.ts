import { jsonSchemaOf } from '../../parsing/json-schema-of.ts'
import { PROVIDER_TYPES } from '../provider.ts'
import { definitionSchema } from './definition-schema.ts'

/**
 * The JSON Schema (draft 2020-12) of a definition's file, for editors. It refuses unknown members, as Gatepass does when it
 * reads the file.
 */
export function definitionJsonSchema(id: string): object {
  return {
    ...jsonSchemaOf(definitionSchema, id),
    oneOf: PROVIDER_TYPES.map((type) => ({ required: [type] })),
  }
}
