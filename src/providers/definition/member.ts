import type { z } from 'zod'
import { collectFaults } from '../../parsing/collect-faults.ts'

/**
 * One member of a JSON object on the wire, described once: its schema where a request creates the object, where one
 * changes it and where an answer shows it, and its translation into the stored model and back. A part that is left out
 * does not exist: such a member is refused there, or not answered.
 */
export interface Member<
  Model,
  Context,
  View,
  Create extends z.ZodType,
  Change extends z.ZodType,
  Answer extends z.ZodType,
> {
  readonly create?: Create
  readonly change?: Change
  readonly answer?: Answer
  /** Members on the wire without which this one cannot be read: it is left unread when one of them has a fault. */
  readonly buildsOn?: readonly string[]
  /** The members of the model that `sent` decides. Throws `invalid_request`. */
  read?(sent: z.output<Create> | z.output<Change> | undefined, context: Context): Found<Model>
  /** The value in an answer; `undefined` leaves the member out. */
  write?(view: View): z.input<Answer> | undefined
}

/** Members of the model; those that are `undefined` are left out of it. */
export type Found<Model> = { readonly [Name in keyof Model]?: Model[Name] | undefined }

type Part = 'create' | 'change' | 'answer'
type Described = { readonly [Name in Part]?: z.ZodType }
type Members = Readonly<Record<string, Described>>

/** The shape of an object schema that has this part of each member. */
export type ShapeOf<All extends Members, Of extends Part> = {
  [Name in keyof All as All[Name] extends { readonly [P in Of]: z.ZodNever } ? never : Name]: Exclude<
    All[Name][Of],
    undefined
  >
}

interface Complete<Create extends z.ZodType, Change extends z.ZodType, Answer extends z.ZodType> {
  readonly create: Create
  readonly change: Change
  readonly answer: Answer
}

/**
 * Makes a `member` function for objects of one model. `Context` is what reading may look at, `View` what is written from.
 */
export function memberOf<Model, Context, View = Model>() {
  return <
    Create extends z.ZodType = z.ZodNever,
    Change extends z.ZodType = z.ZodNever,
    Answer extends z.ZodType = z.ZodNever,
  >(
    member: Member<Model, Context, View, Create, Change, Answer>,
  ) => member as typeof member & Complete<Create, Change, Answer> // a part that is left out has the type `ZodNever`
}

export function shapeOf<All extends Members, Of extends Part>(members: All, part: Of): ShapeOf<All, Of> {
  const present = Object.entries(members).flatMap(([name, member]) => {
    const schema = member[part]
    return schema === undefined ? [] : [[name, schema] as const]
  })
  return Object.fromEntries(present) as ShapeOf<All, Of> // `ShapeOf` leaves out the same members
}

/** A table of members by their names on the wire. Members that are not read or not written have no such function. */
export type Table<Model, Context, View = Model> = Readonly<
  Record<
    string,
    {
      read?(sent: unknown, context: Context): Found<Model>
      write?(view: View): unknown
      readonly answer?: z.ZodType
      readonly buildsOn?: readonly string[]
    }
  >
>

/**
 * Reads each member in the order of the table; `context` is given what was read before it. Throws `invalid_request` with
 * the faults of all members.
 */
export function readMembers<Model, Context>(
  members: Table<Model, Context, never>,
  sent: Readonly<Record<string, unknown>>,
  context: (read: Found<Model>) => Context,
): Partial<Model> {
  let read: Found<Model> = {}
  const faulty = new Set<string>()
  const faults = collectFaults()
  for (const [name, member] of Object.entries(members)) {
    if (member.read === undefined || member.buildsOn?.some((earlier) => faulty.has(earlier))) continue
    const found = faults.of(() => member.read?.(sent[name], context(read)))
    if (found === undefined) faulty.add(name)
    else read = { ...read, ...found }
  }
  faults.throwIfAny()
  return withoutUndefined(read) as Partial<Model> // none of them is `undefined`
}

/** The answer's members, in the order of the table. */
export function writeMembers<View, All extends Table<object, never, View>>(
  members: All,
  view: View,
): z.input<z.ZodObject<ShapeOf<All, 'answer'>>> {
  const written = Object.entries(members).map(([name, member]) => [name, member.write?.(view)])
  return withoutUndefined(Object.fromEntries(written)) // each member by its own `answer`
}

export function withoutUndefined<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T // only fewer members
}

/** The new value; the old one when the request leaves the member out, none when `null` removes it. */
export function changed<T>(sent: T | null | undefined, old: T | undefined): T | undefined {
  return sent === undefined ? old : (sent ?? undefined)
}
