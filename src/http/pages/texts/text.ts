import type { html } from 'hono/html'

/** A piece of a page in some language. `html` escapes a string and leaves what `html` made unchanged. */
export type Text = string | ReturnType<typeof html>

/** The name of the application that requests access. Without one the sentence says "your application". */
export type App = Text | undefined

/** The shape of a catalogue: a language that lacks one of the English texts does not compile. */
export type Translation<T> = T extends (...values: infer V) => infer R
  ? (...values: V) => R
  : T extends string
    ? string
    : { readonly [K in keyof T]: Translation<T[K]> }

/** What happened, and what the reader can do. */
export interface Ending {
  readonly title: string
  readonly happened: string
  readonly todo: string
}
