import type { Tool } from '@modelcontextprotocol/server'
import type { AppTool } from '../tools/app-tools.ts'
import { authorizationOf, authRequirements } from '../tools/auth.ts'
import { jsonSchemaOf } from '../tools/schema.ts'
import { withoutUndefined } from '../without-undefined.ts'

/** Returns a tool as `tools/list` lists it. `_meta` has the tool's requirements in the form of Arcade's servers. */
export function listedMcpTool({ name, options }: AppTool): Tool {
  const { title, description, input, output, annotations } = options
  const requirements = requirementsOf(options)
  return withoutUndefined({
    name,
    title,
    description,
    inputSchema: jsonSchemaOf(input, 'input') as Tool['inputSchema'], // the app has checked that it describes an object
    // where it describes no object, the MCP SDK wraps it for clients of 2025
    outputSchema: output && (jsonSchemaOf(output, 'output') as Tool['outputSchema']),
    annotations: annotations && { ...annotations },
    _meta: requirements && { arcade: { requirements } },
  })
}

function requirementsOf({ requiresAuth, requiresSecrets = [], requiresMetadata = [] }: AppTool['options']) {
  const { all, alternatives } = authRequirements(requiresAuth)
  // `_meta` cannot express alternatives, so Gatepass asks for consent to the first
  const authorization = [...all, ...(alternatives[0] ?? [])].map(authorizationOf)
  if (authorization.length + requiresSecrets.length + requiresMetadata.length === 0) return undefined
  return {
    ...(authorization.length > 0 && { authorization }),
    ...(requiresSecrets.length > 0 && { secrets: requiresSecrets.map((key) => ({ key })) }),
    ...(requiresMetadata.length > 0 && { metadata: requiresMetadata.map((key) => ({ key })) }),
  }
}
