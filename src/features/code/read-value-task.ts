import { isRecord } from '../../parsing/json-record.ts'
import { nestsTooDeep } from './nesting.ts'

export type ReadValue =
  | { readonly outcome: 'broken' | 'too_deep' }
  /** The value as JSON. */
  | { readonly outcome: 'value'; readonly value: Uint8Array }

/** Checks the text that a sandbox returned as the JSON of `{ value }`. A thread runs this for large texts. */
export function run(json: string, transfer: ArrayBuffer[]): ReadValue {
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    return { outcome: 'broken' }
  }
  if (!isRecord(parsed)) return { outcome: 'broken' }
  const { value = null } = parsed
  if (nestsTooDeep(value)) return { outcome: 'too_deep' }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  transfer.push(bytes.buffer)
  return { outcome: 'value', value: bytes }
}
