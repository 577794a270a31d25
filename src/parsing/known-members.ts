import type { z } from 'zod'
import { foldName, nearest } from '../domain/nearest.ts'

// Finds members of a request that its schema does not have. Zod drops them silently: a misspelled member would run a
// tool without its input, or request other scopes than the caller meant.

/** The members that a schema has, at every depth. */
export interface KnownMembers {
  /** The members of an object; absent where the schema takes no object. */
  readonly members?: ReadonlyMap<string, KnownMembers>
  /** The schema takes further members. */
  readonly open?: true
  /** The members of each item of an array. */
  readonly items?: KnownMembers
  /** The members of each value of a record whose names are free. */
  readonly values?: KnownMembers
}

/** A member of a request that the schema does not have. */
export interface UnknownMember {
  readonly path: readonly PropertyKey[]
  /** The path of the member that the sender probably meant. */
  readonly meant?: string
  /** The members that the schema has in the same place. */
  readonly siblings: readonly string[]
}

/** The most faults in one error. */
export const MAX_FAULTS = 10
/** How many members of a schema are searched for the same name in another place. */
const MAX_PLACES = 500

/** Returns the members of a schema, with those of the schemas inside it. */
export function knownOf(schema: z.ZodType): KnownMembers {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod // the union of all types of schemas
  switch (def.type) {
    case 'object':
      return {
        members: new Map(Object.entries(def.shape).map(([name, member]) => [name, inner(member)])),
        ...(def.catchall !== undefined && typeOf(def.catchall) !== 'never' && { open: true }),
      }
    case 'array':
      return { items: inner(def.element) }
    case 'record': {
      const names = namesOf(def.keyType)
      const values = inner(def.valueType)
      return names === undefined ? { values } : { members: new Map(names.map((name) => [name, values])) }
    }
    case 'union':
      return def.options.map(inner).reduce(merge, {})
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return inner(def.innerType)
    case 'pipe':
      return inner(typeOf(def.in) === 'transform' ? def.out : def.in)
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'null':
    case 'undefined':
      return {}
    default:
      return { open: true }
  }
}

function inner(schema: z.core.$ZodType): KnownMembers {
  return knownOf(schema as z.ZodType)
}

/** The only names that the members of a record may have. */
function namesOf(schema: z.core.$ZodType): readonly string[] | undefined {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod // the union of all types of schemas
  return def.type === 'enum' ? Object.values(def.entries).map(String) : undefined
}

function typeOf(schema: z.core.$ZodType): string {
  return schema._zod.def.type
}

/** The members that either of two alternatives has. */
function merge(a: KnownMembers, b: KnownMembers): KnownMembers {
  const members =
    a.members && b.members
      ? new Map([
          ...a.members,
          ...[...b.members].map(([name, known]) => [name, merge(a.members?.get(name) ?? {}, known)] as const),
        ])
      : (a.members ?? b.members)
  const items = a.items && b.items ? merge(a.items, b.items) : (a.items ?? b.items)
  const values = a.values && b.values ? merge(a.values, b.values) : (a.values ?? b.values)
  return {
    ...(members && { members }),
    ...(items && { items }),
    ...(values && { values }),
    ...((a.open || b.open) && { open: true }),
  }
}

/** The members of the value that the schema does not have, at most `MAX_FAULTS`. */
export function unknownMembers(known: KnownMembers, value: unknown): readonly UnknownMember[] {
  const found: UnknownMember[] = []
  collect(known, known, value, [], found)
  return found
}

function collect(
  root: KnownMembers,
  known: KnownMembers,
  value: unknown,
  path: PropertyKey[],
  found: UnknownMember[],
): void {
  if (found.length >= MAX_FAULTS || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (known.items !== undefined)
      for (const [at, item] of value.entries()) collect(root, known.items, item, [...path, at], found)
    return
  }
  const { members, values, open } = known
  if (members === undefined && values === undefined) return
  for (const name of Object.keys(value)) {
    const member = members?.get(name) ?? values
    if (member !== undefined) {
      const within = (value as Record<string, unknown>)[name]
      if (typeof within === 'object' && within !== null) collect(root, member, within, [...path, name], found)
    } else if (open !== true && found.length < MAX_FAULTS) {
      const siblings = [...(members?.keys() ?? [])]
      const meant = meantBy(root, path, name, siblings)
      found.push({ path: [...path, name], siblings, ...(meant !== undefined && { meant }) })
    }
  }
}

/**
 * The path that the sender probably meant. In this order: a sibling in another spelling; the same name in another place of
 * the schema; a sibling with few letters changed; the sibling that ends in `_id` (`user_id` for `user`); the only sibling that
 * begins with the name.
 */
function meantBy(
  root: KnownMembers,
  path: readonly PropertyKey[],
  name: string,
  siblings: readonly string[],
): string | undefined {
  const wanted = foldName(name)
  const pathOf = (sibling: string | undefined) => sibling && dotted([...path, sibling])
  return (
    pathOf(siblings.find((sibling) => foldName(sibling) === wanted)) ??
    placesOf(root).find((place) => foldName(place.slice(place.lastIndexOf('.') + 1)) === wanted) ??
    pathOf(nearest(name, siblings)) ??
    pathOf(siblings.find((sibling) => sibling === `${name}_id`)) ??
    pathOf(onlyOne(siblings.filter((sibling) => sibling.startsWith(`${name}_`))))
  )
}

function onlyOne<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined
}

/** The paths of the members, those with the fewest levels first. Ends after the level that reaches `MAX_PLACES`. */
function placesOf(root: KnownMembers): string[] {
  const places: string[] = []
  let level: (readonly [string, KnownMembers])[] = [['', root]]
  while (level.length > 0 && places.length < MAX_PLACES) {
    const next: (readonly [string, KnownMembers])[] = []
    for (const [prefix, known] of level) {
      for (const [name, member] of known.members ?? []) {
        places.push(`${prefix}${name}`)
        next.push([`${prefix}${name}.`, member])
      }
      if (known.items !== undefined) next.push([`${prefix}0.`, known.items])
    }
    level = next
  }
  return places
}

/** The path with dots between its levels, as in `Fault`. */
export function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}
