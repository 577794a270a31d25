import type { Operations } from '../generated/wire.ts'

/** The body of a request of the operation. */
export type Body<Id extends keyof Operations> = NonNullable<Operations[Id]['body']>

/** The JSON that answers the operation. */
export type Answer<Id extends keyof Operations> = Operations[Id]['answer']
