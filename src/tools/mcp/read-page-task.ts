import {
  type LargeMessage,
  MARK,
  type ReplacedMessage,
  replaceMessage,
  smallMembers,
} from './large-message-task.ts'

/** Runs in a thread: takes the tools out of a large page of `tools/list`, as a JSON array. */
export function run(message: LargeMessage, transfer: ArrayBuffer[]): ReplacedMessage<Uint8Array> {
  return replaceMessage(message, (result) => {
    const { tools } = result
    if (!Array.isArray(tools)) return { small: smallMembers(result), kept: new Uint8Array() } // the SDK refuses it
    const kept = new TextEncoder().encode(JSON.stringify(tools))
    transfer.push(kept.buffer)
    return { small: { ...smallMembers(result), tools: [], _meta: { [MARK]: message.mark } }, kept }
  })
}
