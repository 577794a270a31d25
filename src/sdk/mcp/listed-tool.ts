import type { Tool } from '@modelcontextprotocol/server'
import type { AppTool } from '../tools/app-tools.ts'
import { authRequirements, type ToolAuth } from '../tools/auth.ts'
import { jsonSchemaOf } from '../tools/schema.ts'

/** A tool as `tools/list` answers it. `_meta` says what it requires, as Gatepass and Arcade's servers read it. */
export function listedMcpTool({ name, options }: AppTool): Tool {
  const { title, description, input, output, annotations } = options
  const requirements = requirementsOf(options)
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: jsonSchemaOf(input, 'input') as Tool['inputSchema'], // the app has checked that it is an object's
    ...(output !== undefined && { outputSchema: jsonSchemaOf(output, 'output') as Tool['outputSchema'] }), // an object too
    ...(annotations !== undefined && { annotations: { ...annotations } }),
    ...(requirements !== undefined && { _meta: { arcade: { requirements } } }),
  } as Tool // no member is undefined
}

function requirementsOf({ requiresAuth, requiresSecrets = [], requiresMetadata = [] }: AppTool['options']) {
  const { all, alternatives } = authRequirements(requiresAuth)
  // `_meta` cannot express alternatives, so Gatepass asks for the first
  const authorization = [...all, ...(alternatives[0] ?? [])].map(authorizationOf)
  if (authorization.length + requiresSecrets.length + requiresMetadata.length === 0) return undefined
  return {
    ...(authorization.length > 0 && { authorization }),
    ...(requiresSecrets.length > 0 && { secrets: requiresSecrets.map((key) => ({ key })) }),
    ...(requiresMetadata.length > 0 && { metadata: requiresMetadata.map((key) => ({ key })) }),
  }
}

function authorizationOf(auth: ToolAuth) {
  const name = 'id' in auth ? { id: auth.id } : { provider_id: auth.provider }
  return { ...name, provider_type: 'oauth2', oauth2: { scopes: [...(auth.scopes ?? [])] } }
}
