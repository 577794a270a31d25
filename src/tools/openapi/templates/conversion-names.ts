// An object whose first member begins with `$` is a conversion: the member names it and holds what is converted, and
// the other members are its options.

/** Each conversion, and the options that it takes. */
export const CONVERSIONS = {
  /** Text with placeholders in it: `refs/heads/{branch}`. */
  $text: [],
  /** A list as one text, joined by `with` (default: a comma). */
  $join: ['with'],
  /** A list whose elements become `to`, in which `{item}` is the element and `{item.name}` a member of it. */
  $map: ['to'],
  /** `use` if the value is given and not `false`, else `else`. */
  $when: ['use', 'else'],
  /** A number plus `by`. */
  $plus: ['by'],
  /** UTF-8 text in base64 (RFC 4648 section 4). */
  $base64: [],
  /** UTF-8 text in base64url without padding (RFC 4648 section 5). */
  $base64url: [],
  /** An e-mail message (RFC 5322) from `to`, `cc`, `bcc`, `reply_to`, `subject`, `text`, `html`, and others. */
  $rfc5322: [],
  /** Plain text as a document of Atlassian (Atlassian Document Format). */
  $adf: [],
  /** Plain text as Notion's `rich_text`: pieces of at most 2,000 characters. */
  $rich_text: [],
  /** JSON text in ASCII, as headers need it. */
  $json: [],
  /** Text in quotes: `"` inside is escaped by a backslash; with `quote: "'"`, a quote inside is doubled (OData). */
  $quoted: ['quote'],
  /** Percent-encoded once more than a path needs; with `where: "slashes"`, only a text that begins with a slash or has `//`. */
  $encoded: ['where'],
  /** A text of a path in which slashes separate segments. In `path` alone. */
  $segments: [],
  /** Nested values as `name[a][b]` and `name[0]`. In `query` and in a form alone. */
  $brackets: [],
  /** A UUID that is the same for repetitions of one call, so that they do not act twice. */
  $call_id: [],
  /** A constant, in which neither placeholders nor conversions are read. */
  $literal: [],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type ConversionName = keyof typeof CONVERSIONS

/** The conversion that the object is; `undefined` if it is an ordinary object. The checks of a template refuse others. */
export function conversionIn(value: Readonly<Record<string, unknown>>): ConversionName | undefined {
  for (const first in value) return Object.hasOwn(CONVERSIONS, first) ? (first as ConversionName) : undefined
  return undefined
}
