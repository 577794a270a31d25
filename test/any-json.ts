/** JSON of any shape: a test reads members of it without a type, and its assertions say which have to be there. */
// biome-ignore lint/suspicious/noExplicitAny: with `unknown`, every assertion on an answer would need a cast
export type AnyJson = any
