/** What is at a place of the arguments. `unreadable`: the arguments have another shape than the pointer expects. */
export type Found =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' }

export const MISSING: Found = { kind: 'missing' }
export const UNREADABLE: Found = { kind: 'unreadable' }

/** The name in a pointer for every item of a list, and every member of an object. */
export const EVERY = '*'

/** What is at the pointer: one result for each item that `*` selects, and at least one. `spend` is called for each step. */
export function valuesAt(
  input: unknown,
  tokens: readonly string[],
  spend: (steps: number) => void,
): readonly Found[] {
  let found: readonly Found[] = [{ kind: 'value', value: input }]
  for (const token of tokens)
    found = found.flatMap((one) => {
      spend(1)
      if (one.kind !== 'value' || one.value === null || one.value === undefined)
        return one.kind === 'value' ? MISSING : one
      if (typeof one.value !== 'object') return UNREADABLE
      if (token !== EVERY) return memberOf(one.value, token)
      const items: readonly unknown[] = Array.isArray(one.value) ? one.value : Object.values(one.value)
      spend(items.length)
      return items.length === 0 ? MISSING : items.map((value): Found => ({ kind: 'value', value }))
    })
  return found
}

/** Own members only: `__proto__` and `constructor` are names like any other. */
function memberOf(value: object, token: string): Found {
  if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(token)) return UNREADABLE
  if (!Object.hasOwn(value, token)) return MISSING
  return { kind: 'value', value: Reflect.get(value, token) }
}
