import type { PageRoutes } from '../../http/page-routes.ts'
import { addJsonSchema } from '../../http/reference/json-schema-document.ts'
import { jsonSchemaOf } from '../../parsing/json-schema-of.ts'
import { packSchema, packToolSchema } from './wire-format.ts'

const SCHEMAS = [
  ['/schemas/toolpack.json', packSchema], //           pack.json
  ['/schemas/toolpack-tool.json', packToolSchema], //  the file of a tool
] as const

export const packRoutes: PageRoutes = {
  paths: SCHEMAS.map(([path]) => path),
  add(app, { settings }) {
    for (const [path, schema] of SCHEMAS)
      addJsonSchema(app, path, () => jsonSchemaOf(schema, `${settings.publicUrl.origin}${path}`))
  },
}
