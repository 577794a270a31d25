import type { z } from '@hono/zod-openapi'

/** The TypeScript type of an answer, from its schema. Optional members are absent; zod's own type would also allow `undefined`. */
export type AnswerOf<Schema extends z.ZodType> = Exact<z.infer<Schema>>

type Exact<T> = T extends object ? { [Name in keyof T]: Exact<Exclude<T[Name], undefined>> } : T
