/**
 * The settings of one feature. `config.ts` reads them with its own; `settings.of` returns their value for this object.
 */
export interface FeatureSettings<Value> {
  /** Its `GATEPASS_…` variables. The start refuses such a variable that is not a setting. */
  readonly variables: readonly string[]
  read(source: SettingsSource<string>): Value
  /** The settings in force, for the doctor and the console. Shows of a secret only `set` or `not set`. */
  show(value: Value): readonly ShownSetting[]
}

export interface SettingsSource<Variable> {
  /** Returns the trimmed value of a variable; `undefined` where it is not set or empty. */
  setting(variable: Variable): string | undefined
  /** Adds a fault: the variable's name, then `what`. One `ConfigError` reports all faults. */
  addFault(variable: Variable, what: string): void
  readonly development: boolean
}

export interface ShownSetting {
  readonly name: string
  readonly value: string
}

/** Defines settings that read no other variables than those they name. */
export function defineSettings<Variable extends string, Value>(settings: {
  readonly variables: readonly Variable[]
  read(source: SettingsSource<Variable>): Value
  show(value: Value): readonly ShownSetting[]
}): FeatureSettings<Value> {
  return settings
}
