import type { SettingName } from './names.ts'
import type { AddFault } from './read.ts'

const UNITS = { MB: 1_000_000, GB: 1_000_000_000 } as const
const LEAST = UNITS.MB
const MOST = 64 * UNITS.GB

/** Reads an amount of memory, such as `128MB`, as bytes. */
export function readBytes(text: string, name: SettingName, addFault: AddFault): number {
  const [, digits, unit] = /^(\d{1,6})(MB|GB)$/.exec(text) ?? []
  const bytes = Number(digits) * (UNITS[unit as keyof typeof UNITS] ?? Number.NaN) // the pattern has no other units
  if (bytes >= LEAST && bytes <= MOST) return bytes
  addFault(name, 'must be a number with MB or GB, such as 128MB, from 1MB to 64GB.')
  return LEAST
}
