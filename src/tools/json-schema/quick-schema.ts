// Estimates from the text of a schema how long reading and compiling it takes. The estimate is high for hostile schemas and
// low for the schemas of most tools. A check of the text itself is needed, because reading a schema compiles its patterns.

/** In characters of JSON. */
const MAX_LENGTH = 16 * 1024
/** Objects, lists, `true` and `false`. Compiling a subschema takes 0.2 to 0.6 ms. */
const MAX_PARTS = 60
/** In characters, with what is repeated: a character of a pattern takes up to 50 µs. */
const MAX_PATTERNS = 500

const PART = /[{[]|true|false/g
const PATTERN = /"pattern":"((?:[^"\\]|\\.)*)"/g
const REPEATED = /(\)?)\{(\d+)(?:,(\d*))?\}/g

/** Whether the event loop may compile the schema, which takes about 10 ms at most. `json`: as `JSON.stringify` writes it. */
export function isQuickSchema(json: string): boolean {
  return json.length <= MAX_LENGTH && hasFewParts(json) && hasQuickPatterns(json)
}

/** Whether the patterns of the schemas in the JSON are compiled in about 10 ms. */
export function hasQuickPatterns(json: string): boolean {
  if (json.includes('"patternProperties":')) return repeatedLength(json) <= MAX_PATTERNS // its names are patterns
  let length = 0
  for (const [, pattern = ''] of json.matchAll(PATTERN)) {
    length += repeatedLength(pattern)
    if (length > MAX_PATTERNS) return false
  }
  return true
}

function hasFewParts(json: string): boolean {
  let count = 0
  for (const _part of json.matchAll(PART)) if (++count > MAX_PARTS) return false
  return true
}

/** The characters of a pattern whose repetitions are written out. A repeated group repeats all of the pattern. */
function repeatedLength(pattern: string): number {
  let [length, times] = [pattern.length, 1]
  for (const [, group, least, most = ''] of pattern.matchAll(REPEATED)) {
    const count = Math.max(1, Number(least), Number(most))
    if (group === '') length += count
    else times *= count
  }
  return length * times
}
