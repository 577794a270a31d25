import type { Hono } from 'hono'
import { SANDBOX_PROVIDER } from './definition.ts'

/** The names of the sample tool. */
export const PROFILE_TOOL = { toolkit: 'Sandbox', name: 'Profile', version: '1.0.0' } as const
/** The name by which callers run it. */
export const SAMPLE_TOOL = `${PROFILE_TOOL.toolkit}_${PROFILE_TOOL.name}`

export type ToolOutput = { readonly value: unknown } | { readonly error: ToolError }

interface ToolError {
  readonly message: string
  readonly kind: string
  readonly can_retry: boolean
  readonly status_code?: number
}

/** Greets the account of the token. Without a token the API refuses, as it would for any caller. */
export async function runProfileTool(api: Hono, greeting: unknown, token?: string): Promise<ToolOutput> {
  if (greeting !== undefined && greeting !== null && typeof greeting !== 'string') {
    const message = 'greeting has to be a string.'
    return { error: { message, kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', can_retry: false } }
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await api.request('/api/profile', { headers })
  const answer: Record<string, unknown> = await response.json()
  if (!response.ok) {
    const message = `The sandbox API refused: ${answer.message}`
    const status_code = response.status
    return { error: { message, kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', can_retry: false, status_code } }
  }
  const message = greeting ? `${greeting} ${answer.name}` : answer.greeting
  return { value: { message, email: answer.email } }
}

/** The tool's ToolDefinition in Arcade's worker protocol. */
export function profileToolDefinition(): Record<string, unknown> {
  const { toolkit, name, version } = PROFILE_TOOL
  return {
    name,
    fully_qualified_name: `${toolkit}.${name}`,
    description: 'Greets the user who approved at the sandbox provider.',
    toolkit: { name: toolkit, version, description: 'A sample that needs nothing installed.' },
    input: {
      parameters: [
        {
          name: 'greeting',
          description: 'The greeting. "Hello" by default.',
          required: false,
          inferrable: true,
          value_schema: { val_type: 'string', inner_val_type: null, enum: null },
        },
      ],
    },
    output: {
      description: 'A message and the e-mail address.',
      available_modes: ['value', 'error'],
      value_schema: { val_type: 'json', inner_val_type: null, enum: null },
    },
    requirements: {
      authorization: {
        id: SANDBOX_PROVIDER,
        provider_id: null,
        provider_type: 'oauth2',
        oauth2: { scopes: ['profile:read'] },
      },
      secrets: null,
      metadata: null,
    },
    deprecation_message: null,
  }
}
