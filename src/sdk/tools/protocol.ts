// The messages of MCP (JSON-RPC 2.0), for authors of transports and for debugging. Types only.

export type MCPMessage = JSONRPCRequest | JSONRPCResponse | JSONRPCNotification

export interface JSONRPCRequest {
  jsonrpc: '2.0'
  id: string | number
  method: string
  params?: Record<string, unknown>
}

export interface JSONRPCResponse {
  jsonrpc: '2.0'
  id: string | number
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

export interface JSONRPCNotification {
  jsonrpc: '2.0'
  method: string
  params?: Record<string, unknown>
}

export interface ServerSession {
  id: string
  /** As the client named itself. */
  clientInfo?: { name: string; version: string }
  /** What the client offers. */
  capabilities?: Record<string, unknown>
}

export interface SessionMessage {
  message: MCPMessage
  session: ServerSession
}
