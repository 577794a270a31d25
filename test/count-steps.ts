// Counts the work of a synchronous function without a clock: the items that built-in functions read, copy or write.

/** How many characters count as one item. */
const CHARACTERS = 8

type Method = (this: unknown, ...args: unknown[]) => unknown

/** The number of items that a call of a method handles. */
type Items = (receiver: unknown, result: unknown) => number

const one: Items = () => 1
const lengthOf: Items = (receiver) => (receiver as ArrayLike<unknown>).length
const sizeOf: Items = (receiver) => (receiver as Set<unknown>).size
const resultLength: Items = (_, result) => (result as ArrayLike<unknown>).length
const characters: Items = (receiver) => (receiver as string).length / CHARACTERS
const written: Items = (_, result) => (typeof result === 'string' ? result.length / CHARACTERS : 1)

const COUNTED: readonly (readonly [object, Items, readonly (string | symbol)[]])[] = [
  [Set.prototype, one, ['add', 'has', 'delete']],
  [Set.prototype, sizeOf, [Symbol.iterator, 'values', 'forEach']],
  [Map.prototype, one, ['set', 'get', 'has', 'delete']],
  [Map.prototype, sizeOf, [Symbol.iterator, 'entries', 'keys', 'values', 'forEach']],
  [WeakMap.prototype, one, ['set', 'get', 'has']],
  [Array.prototype, one, ['push']],
  [
    Array.prototype,
    lengthOf,
    [
      ...[
        Symbol.iterator,
        'entries',
        'map',
        'filter',
        'flatMap',
        'forEach',
        'reduce',
        'join',
        'concat',
        'slice',
      ],
      ...['every', 'some', 'find', 'findIndex', 'includes', 'indexOf', 'toSorted', 'sort'],
    ],
  ],
  [Object, resultLength, ['entries', 'keys', 'values']],
  [Object, (_, result) => Object.keys(result as object).length, ['fromEntries']],
  [Object, one, ['hasOwn']],
  [JSON, written, ['stringify']],
  [String.prototype, characters, ['split', 'replaceAll', 'replace', 'match', 'matchAll', 'toLowerCase']],
]

/** Returns the number of steps that `work` takes. */
export function countSteps(work: () => unknown): number {
  let [steps, isCounting] = [0, true]
  const restore: (() => void)[] = []
  for (const [owner, items, names] of COUNTED)
    for (const name of names) {
      const original = Object.getOwnPropertyDescriptor(owner, name)
      const method: Method = original?.value
      if (original === undefined) throw new Error(`there is no ${String(name)}`)
      const value: Method = function (...args) {
        const result = Reflect.apply(method, this, args)
        if (isCounting) {
          isCounting = false
          steps += items(this, result)
          isCounting = true
        }
        return result
      }
      restore.push(() => Object.defineProperty(owner, name, original))
      Object.defineProperty(owner, name, { ...original, value })
    }
  try {
    work()
  } finally {
    isCounting = false
    for (const undo of restore) undo()
  }
  return steps
}
