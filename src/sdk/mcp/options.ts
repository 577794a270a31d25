import type { CallerOptions } from './caller.ts'
import type { OriginOptions } from './origins.ts'

// Separate from the code, because the types of `ToolApp` must compile where `@modelcontextprotocol/server` is not
// installed.

export interface McpHandlerOptions extends CallerOptions, OriginOptions {
  /**
   * Encrypts the state that clients send back in the rounds of a call; at least 32 characters. Several processes need
   * the same one. By default it is random.
   */
  readonly stateSecret?: string | undefined
}

export type ServeMcpOptions =
  | (McpHandlerOptions & {
      readonly transport?: 'http' | undefined
      /** Default: `127.0.0.1`. */
      readonly host?: string | undefined
      /** Default: 8000. */
      readonly port?: number | undefined
      /** Default: `/mcp`. */
      readonly path?: string | undefined
    })
  | {
      readonly transport: 'stdio'
      /** Whose tools they are, as Gatepass knows the user. Default: `GATEPASS_USER`. */
      readonly user?: string | undefined
    }
