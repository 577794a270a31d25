import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  PerRequestHTTPServerTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server'
import type { Backlog } from './backlog.ts'
import type { CallParts } from './call-tool.ts'
import type { Era, Exchange } from './exchange.ts'
import { answerCall, newServer } from './mcp-server.ts'
import type { ToolList } from './tool-lists.ts'
import { LEGACY_VERSIONS, MODERN_VERSION } from './versions.ts'

// One server of the SDK for the tool calls of all clients of an era. `createMcpHandler` builds, connects and closes a
// server for each request instead, which takes most of the SDK's processor time: 48 us for a call, with a shared server
// 14 (2026-11-29). The server validates requests and results as it does there. It knows a call by a number, since the
// ids of different clients are equal.

/** A call that the server has not answered yet. */
export interface PendingCall {
  readonly exchange: Exchange
  readonly list: ToolList
  readonly request: JSONRPCRequest
  readonly backlog: Backlog
  /** Takes a message of the server for the client, with the client's id of the request. */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>
}

export interface SharedServer {
  /** Returns `false` if the server refuses the call before its handler runs. Then nothing is sent. */
  deliver(call: PendingCall, extra?: MessageExtraInfo): boolean
}

export const CLASSIFICATIONS = {
  modern: { era: 'modern', revision: MODERN_VERSION },
  legacy: { era: 'legacy' },
} as const

export async function connectSharedServer(parts: CallParts, era: Era): Promise<SharedServer> {
  const calls = new Map<unknown, PendingCall>()
  let last = 0
  let isDelivering = false
  let isRefused = false
  const server = newServer(era, {
    supportedProtocolVersions: era === 'modern' ? [MODERN_VERSION] : [...LEGACY_VERSIONS],
  })
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const call = calls.get(context.mcpReq.id)
    if (call === undefined) throw new Error('This call has been answered.')
    const { exchange, list, backlog, request } = call
    return answerCall(
      server,
      { ...parts, exchange, list, era, backlog, requestId: request.id },
      context,
      params,
    )
  })
  // the server reads its revision from this kind of transport, which otherwise serves a single request
  const transport = new PerRequestHTTPServerTransport({ classification: CLASSIFICATIONS[era] })
  transport.send = async (message, options) => {
    const isResponse = !('method' in message)
    const number = isResponse ? message.id : options?.relatedRequestId
    const call = calls.get(number)
    if (isResponse) calls.delete(number)
    if (isDelivering) isRefused = true
    else if (isResponse) await call?.send({ ...message, id: call.request.id })
    else await call?.send(message, { ...options, relatedRequestId: call.request.id })
  }
  await server.connect(transport)

  return {
    deliver(call, extra) {
      const number = ++last
      calls.set(number, call)
      isDelivering = true
      isRefused = false
      try {
        transport.onmessage?.({ ...call.request, id: number }, extra)
      } finally {
        isDelivering = false
      }
      return !isRefused
    },
  }
}
