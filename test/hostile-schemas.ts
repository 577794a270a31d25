import { isDeeperThan } from '../src/tools/read-json.ts'

// Searches for the schema that costs most: it begins with schemas that are known to be costly, changes them at random and
// keeps what costs more (hill climbing).

type Schema = Record<string, unknown>

export interface Limits {
  /** In characters of JSON. */
  readonly size: number
  readonly depth: number
}

export interface Search extends Limits {
  readonly seed: number
  readonly rounds: number
}

export interface Costliest {
  readonly schema: Schema
  readonly steps: number
}

/** Returns the costliest schema that the search has found. */
export function costliestSchema(
  { seed, rounds, ...limits }: Search,
  costOf: (schema: Schema) => number,
): Costliest {
  const draw = randomNumbers(seed)
  const climbers = costlySchemas(limits).map((schema) => ({ schema, steps: costOf(schema) }))
  for (let round = 0; round < rounds; round++) {
    const at = draw(climbers.length)
    const climber = climbers[at] as Costliest // `at` is an index
    const schema = structuredClone(climber.schema)
    mutate(schema, limits.size, draw)
    if (!fits(schema, limits)) continue
    const steps = costOf(schema)
    if (steps >= climber.steps) climbers[at] = { schema, steps }
  }
  return climbers.reduce((most, one) => (one.steps > most.steps ? one : most))
}

/** The schemas within the limits with which the search begins. */
export function costlySchemas(limits: Limits): Schema[] {
  return KNOWN.map((make) => make(limits.size)).filter((schema) => fits(schema, limits))
}

function fits(schema: Schema, { size, depth }: Limits): boolean {
  return !isDeeperThan(schema, depth) && JSON.stringify(schema).length <= size
}

type Draw = (below: number) => number

/** The same numbers for the same seed (mulberry32). */
function randomNumbers(seed: number): Draw {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

function times<Item>(count: number, make: (i: number) => Item): Item[] {
  return Array.from({ length: Math.max(0, Math.floor(count)) }, (_, i) => make(i))
}

const named = (count: number, make: (i: number) => unknown): Schema =>
  Object.fromEntries(times(count, (i) => [`p${i}`, make(i)]))

function nested(levels: number, inner: Schema): Schema {
  return levels === 0 ? inner : { properties: { a: nested(levels - 1, inner) } }
}

/** References to each level of `nested`. */
const toLevels = (levels: number) => times(levels, (i) => ({ $ref: `#${'/properties/a'.repeat(i + 1)}` }))

/** Schemas that cost much in implementations that are easily written. */
const KNOWN: readonly ((size: number) => Schema)[] = [
  (size) => ({ properties: named(size / 14, () => ({})) }),
  // each part adds a name to a list that is long already
  (size) => ({
    allOf: [
      ...times(size / 40, (i) => ({ required: [`a${i}`] })),
      { required: times(size / 20, (i) => `b${i}`) },
    ],
  }),
  (size) => ({
    anyOf: times(size / 60, () => ({ $ref: '#/$defs/a' })),
    $defs: { a: { required: times(size / 20, (i) => `b${i}`) } },
  }),
  // each part adds a schema to the same property
  (size) => ({ allOf: times(size / 40, (i) => ({ properties: { x: { a: i } } })) }),
  (size) => ({ oneOf: times(size / 40, () => ({ properties: { x: { a: 1 } } })) }),
  // the properties of each level move to the root, with all levels below
  (size) => ({
    ...nested(25, { description: 'x'.repeat(size / 2) }),
    allOf: toLevels(25),
  }),
  (size) => ({ ...nested(25, { x: times(size / 8, () => ({})) }), anyOf: toLevels(25) }),
  (size) => ({
    allOf: [{ $ref: '#/$defs/0' }],
    $defs: Object.fromEntries(
      times(size / 60, (i) => [i, { $ref: `#/$defs/${i + 1}`, properties: { [`q${i}`]: {} } }]),
    ),
  }),
  (size) => ({ allOf: times(size / 140, () => ({ $ref: `#${'/$defs'.repeat(20)}` })) }),
  // a keyword that is left out, below lists of lists
  (size) => ({ x: times(size / 40, () => ({ 'x-mcp-header': 'A' })) }),
  () => ({ x: times(60, (i) => i).reduce<unknown>((inner) => [inner], { 'x-mcp-header': 'A' }) }),
  // properties that move through many levels
  (size) =>
    times(25, (i) => i).reduce<Schema>((inner) => ({ allOf: [inner], properties: { z: {} } }), {
      properties: named(size / 20, () => ({})),
    }),
  (size) =>
    times(25, (i) => i).reduce<Schema>((inner) => ({ anyOf: [inner] }), {
      required: times(size / 10, (i) => `r${i}`),
    }),
]

const LISTS = ['allOf', 'anyOf', 'oneOf']
const SINGLE = ['then', 'else', 'not', 'if', 'items']

function mutate(schema: Schema, size: number, draw: Draw): void {
  const pick = <Item>(all: readonly Item[]): Item => all[draw(all.length)] as Item // `all` is not empty
  const count = () => pick([1, 3, 10, 30, 100, size / 100])
  const place = pick(schemasIn(schema))
  const pointer = () => pick(pointersIn(schema))
  const parts: readonly ((i: number) => Schema)[] = [
    () => ({}),
    (i) => ({ required: [`a${i}`] }),
    (i) => ({ properties: { x: { a: i } } }),
    () => ({ properties: { x: { a: 1 } }, required: ['x'] }),
    (i) => ({ properties: { [`n${i}`]: {} } }),
    () => ({ $ref: pointer() }),
  ]
  const append = (keyword: string, items: readonly unknown[]) => {
    const before = place[keyword]
    place[keyword] = Array.isArray(before) ? [...before, ...items] : items
  }
  const merge = (keyword: string, members: Schema) => {
    place[keyword] = { ...(place[keyword] as Schema | undefined), ...members }
  }
  pick<() => unknown>([
    () => append(pick(LISTS), times(count(), pick(parts))),
    () =>
      append(
        'required',
        times(count(), (i) => `a${i}`),
      ),
    () =>
      merge(
        'properties',
        named(count(), () => ({})),
      ),
    () => merge('properties', { [pick(['a', 'x', 'p1'])]: { description: 'x'.repeat(count() * 10) } }),
    () => merge('dependentSchemas', named(count(), pick(parts))),
    () => merge('$defs', named(count(), pick(parts))),
    () => append('allOf', toLevels(pick([1, 5, 25]))),
    () => {
      place[pick(SINGLE)] = pick(parts)(0)
    },
    () => {
      place.$ref = pointer()
    },
    () => {
      const inner = { ...place }
      for (const keyword of Object.keys(place)) delete place[keyword]
      place[pick(LISTS)] = [inner]
    },
    () => {
      delete place[pick([...Object.keys(place), ''])]
    },
    () => {
      const list = place[pick(LISTS)]
      if (Array.isArray(list)) list.splice(draw(list.length), Math.ceil(list.length / 2))
    },
  ])()
}

/** Some of the schemas in the schema, the outer ones first. */
function schemasIn(schema: Schema): Schema[] {
  const found: Schema[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.length >= 200) return
    if (!Array.isArray(value)) found.push(value as Schema) // not null
    for (const inner of Object.values(value).slice(0, 20)) visit(inner)
  }
  visit(schema)
  return found
}

function pointersIn(schema: Schema): string[] {
  const found = ['#']
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null || found.length >= 200) return
    found.push(pointer)
    for (const [name, inner] of Object.entries(value).slice(0, 20)) visit(inner, `${pointer}/${name}`)
  }
  visit(schema, '#')
  return found
}
