import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Gatepass } from '../gatepass.ts'

export interface ConnectOptions {
  /** `legacy`: MCP 2025-11-25 by `initialize`; `modern`: MCP 2026-07-28. */
  readonly era: Era
  readonly path?: string
  readonly key?: string
  /** `null`: the requests name no user. */
  readonly user?: string | null
  readonly capabilities?: object
}

export type Era = 'legacy' | 'modern'

export const ERAS = [
  { era: 'legacy', version: '2025-11-25' },
  { era: 'modern', version: '2026-07-28' },
] as const

/** Connects the official client to `/mcp`, by default as the user `ada`. */
export async function connect(
  { url, apiKey }: Pick<Gatepass, 'url' | 'apiKey'>,
  { era, path = '/mcp', key = apiKey, user = 'ada', capabilities = {} }: ConnectOptions,
) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(path, url), {
    requestInit: { headers: headersOf(key, user) },
  })
  await client.connect(transport)
  return { client, transport, [Symbol.asyncDispose]: () => client.close() }
}

export function headersOf(key: string, user: string | null): Record<string, string> {
  return { authorization: `Bearer ${key}`, ...(user !== null && { 'x-gatepass-user': user }) }
}
