import type { SettingName } from './names.ts'

/** Returns the trimmed value of `GATEPASS_<name>`; `undefined` where it is not set or empty. */
export type ReadSetting = (name: SettingName) => string | undefined

/** Adds a fault: the variable's name, then `what`. All faults are reported together, by one `ConfigError`. */
export type AddFault = (name: SettingName, what: string) => void

/** The items of a comma-separated list, trimmed, without empty ones. */
export function splitList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}
