/** `T` whose members that may be `undefined` are optional instead. */
export type WithoutUndefined<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name]
} & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/** Copies the object without its members that are `undefined`. */
export function withoutUndefined<T extends object>(record: T): WithoutUndefined<T> {
  const present = Object.entries(record).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as WithoutUndefined<T> // only members that are `undefined` are missing
}
