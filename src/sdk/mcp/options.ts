import type { CallerOptions } from './caller.ts'
import type { OriginOptions } from './origins.ts'

// Apart from the code, because the types of `ToolApp` must be readable where `@modelcontextprotocol/server` is not
// installed.

export interface McpHandlerOptions extends CallerOptions, OriginOptions {
  /**
   * Encrypts what clients carry between the rounds of a call. Give every process the same one where several answer;
   * at least 32 characters. By default it is random.
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
