import type { z } from '@hono/zod-openapi'

/** The type of an answer, from its Zod schema. Zod's own type would allow optional members to be `undefined`. */
export type AnswerOf<Schema extends z.ZodType> = Exact<z.infer<Schema>>

type Exact<T> = T extends object ? { [Name in keyof T]: Exact<Exclude<T[Name], undefined>> } : T
