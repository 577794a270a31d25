import type { Broker } from '../broker.ts'
import { createStateCodec } from '../sdk/mcp/request-state.ts'

// The `requestState` of a tool call that has several rounds (MCP 2026-07-28, "Multi Round-Trip Requests"). The client
// sends it back in the next round, which any process of the installation can serve.

/** The call that a state belongs to. Only the same call, by the same caller, opens it. */
export interface CallBinding {
  readonly projectId: string
  /** `Principal.identity`: the credential together with the user. */
  readonly caller: string
  readonly toolUid: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface RequestStates<State> {
  /** Encrypts the state. It expires after 600 s. */
  seal(state: State, binding: CallBinding): Promise<string>
  /** Returns `undefined` for a state that was changed, has expired, or belongs to another call or caller. */
  open(text: string, binding: CallBinding): Promise<State | undefined>
}

/** A longer state was not made here. */
const MAX_LENGTH = 4_000

/** `kind` keeps the states of different features apart. */
export function createRequestStates<State>(
  { deriveKey, now }: Pick<Broker, 'deriveKey' | 'now'>,
  kind: string,
): RequestStates<State> {
  const secret = deriveKey('mcp request state').toString('base64')
  const codec = createStateCodec(secret, () => now() * 1000)
  const members = (of: CallBinding) => [kind, of.projectId, of.caller, of.toolUid, of.input]
  return {
    seal: (state, binding) => codec.seal(state, members(binding)),
    async open(text, binding) {
      if (text.length > MAX_LENGTH) return undefined
      // only `seal` makes a text that opens
      return (await codec.open(text, members(binding))) as State | undefined
    },
  }
}
