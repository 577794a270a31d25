import type { html } from 'hono/html'

/** A piece of a page in some language. `html` escapes a string and leaves what `html` made unchanged. */
export type Text = string | ReturnType<typeof html>

/** A sentence with values in it. Numbers are written as the language writes them. */
export type Sentence<Placeholder extends string> = (
  values: Readonly<Record<Placeholder, Text | number>>,
) => ReturnType<typeof html>

/** A sentence that says "your application", or the like, in a project whose application has no name. */
export type AppSentence<Placeholder extends string = never> = (
  values: Readonly<Record<Placeholder, Text | number>> & { readonly app: Text | undefined },
) => ReturnType<typeof html>

/** A sentence whose form follows from a number. */
export type CountSentence = (values: { readonly count: number }) => ReturnType<typeof html>
