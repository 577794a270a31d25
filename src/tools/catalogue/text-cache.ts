import { LRUCache } from 'lru-cache'
import type { Tool } from '../../domain/tool.ts'

/** The size of the cache for all projects together. */
const MAX_CHARACTERS = 64 * 1024 * 1024

const texts = new LRUCache<string, string>({
  maxSize: MAX_CHARACTERS,
  sizeCalculation: (text, key) => text.length + key.length + 100,
})

/** A number for each tool object. A changed tool is a new object, so its old texts are never used. */
const numbers = new WeakMap<Tool, number>()
let last = 0

/** Returns the JSON of a tool in one of the forms that lists have (`form`), from the cache or by `make`. */
export function cachedText(tool: Tool, form: string, make: () => string): string {
  const number = numbers.get(tool) ?? ++last
  numbers.set(tool, number)
  const key = `${number} ${form}`
  const known = texts.get(key)
  if (known !== undefined) return known
  const made = make()
  texts.set(key, made)
  return made
}
