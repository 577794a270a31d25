import type { AppTool } from '../tools/app-tools.ts'
import { authorizationOf, authRequirements } from '../tools/auth.ts'
import { jsonSchemaOf } from '../tools/schema.ts'
import type { ServedApp } from '../tools/served-app.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { toParameters, toValueSchema } from './value-schema.ts'

/** Returns a tool as `GET /worker/tools` lists it. */
export function toolDefinition(app: ServedApp, { name, options }: AppTool) {
  const { title, description, input, output, annotations = {}, version = app.version, tags } = options
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  const behavior = withoutUndefined({
    read_only: readOnlyHint,
    destructive: destructiveHint,
    idempotent: idempotentHint,
    open_world: openWorldHint,
  })
  return withoutUndefined({
    name,
    fully_qualified_name: `${app.name}.${name}`,
    title,
    description: description ?? '',
    toolkit: { name: app.name, version: version ?? null, description: app.instructions ?? null },
    input: { parameters: toParameters(jsonSchemaOf(input, 'input')) },
    output: {
      available_modes: ['value', 'error', 'null'],
      ...(output !== undefined && { value_schema: toValueSchema(jsonSchemaOf(output, 'output')) }),
    },
    requirements: requirementsOf(options),
    metadata: Object.keys(behavior).length > 0 ? { behavior } : undefined,
    tags,
    deprecation_message: null,
  })
}

/**
 * Arcade knows one authorization for each tool, `authorization`. A tool with several has them, for Gatepass, in
 * `authorizations` (all are needed) and in `authorization_alternatives` (lists, of which one is needed in addition).
 */
function requirementsOf({ requiresAuth, requiresSecrets = [], requiresMetadata = [] }: AppTool['options']) {
  const { all, alternatives } = authRequirements(requiresAuth)
  const [first] = [...all, ...alternatives.flat()]
  return {
    authorization: first === undefined ? null : authorizationOf(first),
    ...((all.length > 1 || alternatives.length > 0) && { authorizations: all.map(authorizationOf) }),
    ...(alternatives.length > 0 && {
      authorization_alternatives: alternatives.map((group) => group.map(authorizationOf)),
    }),
    secrets: requiresSecrets.map((key) => ({ key })),
    metadata: requiresMetadata.map((key) => ({ key })),
  }
}
