import type { z } from '@hono/zod-openapi'

/** The type of an answer by its schema. Optional members are absent, never `undefined` as zod's own type allows. */
export type AnswerOf<Schema extends z.ZodType> = Exact<z.infer<Schema>>

type Exact<T> = T extends object ? { [Name in keyof T]: Exact<Exclude<T[Name], undefined>> } : T
