import { isRecord } from '../tools/read-json.ts'
import { nestsTooDeep } from './nesting.ts'

export type ReadValue =
  | { readonly outcome: 'broken' | 'too_deep' }
  /** The value as JSON. */
  | { readonly outcome: 'value'; readonly value: Uint8Array }

/** Checks the text that a sandbox returned as the JSON of `{ value }`. A thread runs this for large texts. */
export function run(told: string, transfer: ArrayBuffer[]): ReadValue {
  let said: unknown
  try {
    said = JSON.parse(told)
  } catch {
    return { outcome: 'broken' }
  }
  if (!isRecord(said)) return { outcome: 'broken' }
  const { value = null } = said
  if (nestsTooDeep(value)) return { outcome: 'too_deep' }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  transfer.push(bytes.buffer)
  return { outcome: 'value', value: bytes }
}
