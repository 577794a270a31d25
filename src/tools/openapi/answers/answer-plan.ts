// How the answer of an API becomes the value of a tool: which members it keeps, what is converted, where the next page is,
// and what counts as a failure. Stored as a part of the request plan.

export interface AnswerPlan {
  /** The members of the value that are kept (member-path.ts). Absent: all. */
  readonly members?: readonly string[]
  /** Members within those that are left out. */
  readonly drop?: readonly string[]
  /** Texts that others wrote, which the answer lists as such. */
  readonly foreign?: readonly string[]
  /** The longest answer, in characters of JSON. Default: 16,000. */
  readonly limit?: number
  /** Whether a caller may ask for the rest of a long list, by the input `items_from`. */
  readonly goesOn?: boolean
  /** The values at these paths are converted. */
  readonly convert?: Readonly<Record<string, AnswerConversion>>
  readonly longTexts?: LongTexts
  /** A file in the answer, or that is the answer. */
  readonly file?: FilePlan
  /** The value of an answer without content. Default: `{"done": true}`. */
  readonly empty?: unknown
  readonly pages?: PagesPlan
  readonly errors?: ErrorPlan
}

/**
 * A file: its text if it is one, else it is stored and the answer refers to it. `name` and `contentType` are places of which
 * the first with a value counts: `{path}` is a property of the input, anything else a path in the answer.
 */
export interface FilePlan {
  /** Where its content is, in base64. Absent: the body of the answer is the file. */
  readonly at?: string
  readonly name?: readonly string[]
  readonly contentType?: readonly string[]
}

/** How texts are shortened that are longer than a model should read at once. */
export interface LongTexts {
  /** In characters (UTF-16 code units). */
  readonly limit: number
  /** The property of the input that says where to begin in them. */
  readonly from: string
}

export const ANSWER_CONVERSIONS = [
  /** UTF-8 text in base64 or base64url. */
  'base64_text',
  /** A list of `{name, value}` as an object. Names that occur twice have the first value. */
  'name_value_object',
  /** Gmail's tree of MIME parts: its texts, and its attachments by name. */
  'gmail_payload_text',
  'html_text',
  /** Atlassian Document Format. */
  'adf_text',
  /** Notion's list of `rich_text`. */
  'rich_text_text',
  /** The content of a Google document. */
  'google_document_text',
  'epoch_seconds_time',
  'epoch_milliseconds_time',
] as const

export type AnswerConversion = (typeof ANSWER_CONVERSIONS)[number]

/** A condition on an answer. */
export type Condition =
  /** Whether a value is there that is not `false`, `null`, 0, or empty; with `is`, whether it is that value. */
  | { readonly at: string; readonly is?: string | number | boolean }
  /** Whether no value is there. */
  | { readonly lacks: string }
  /** Whether the number there is larger than the page (`by: number`) or than where the next page begins (`offset`). */
  | { readonly at: string; readonly isAbovePage: true }
  /** Whether the header `Link` has the relation `next` (RFC 8288). */
  | { readonly link: 'next' }
  /** Whether the list there has as many elements as the property of the input asked for. */
  | { readonly at: string; readonly isAsLongAs: string }

/** The input `page` is opaque to callers; it comes from `next_page` of the answer before. */
export interface PagesPlan {
  /**
   * `token`: the answer has it at `at`. `link`: the answer has a URL there, of which `parameters` are taken. `number`: pages
   * are counted from 1. `offset`: the elements of the list at `at` are counted from 0. `last`: the id of the last element.
   */
  readonly by: 'token' | 'link' | 'number' | 'offset' | 'last'
  readonly at?: string
  readonly parameters?: readonly string[]
  /** The token is what follows the last such text: `/query/` in the path of a page. */
  readonly after?: string
  /** There is a next page only if this holds. */
  readonly more?: Condition
}

/** Where an API says what went wrong. The first path that has a value counts. */
export interface ErrorPlan {
  /** An answer with status 2xx for which one of these holds is a failure. */
  readonly failedIf?: readonly Condition[]
  readonly code?: readonly string[]
  readonly message?: readonly string[]
  /** What is wrong with single members. */
  readonly details?: readonly string[]
  /** Parts of the message, in any case of letters, and the code that an answer has which holds one and has no code. */
  readonly sentences?: Readonly<Record<string, string>>
  /**
   * What a code means, where the status does not say it. A code that ends with `*` is a beginning. The entry of a
   * status, such as `429`, is for all codes without an entry.
   */
  readonly kinds?: Readonly<Record<string, FailureKind>>
  /** What to do about a code, or a status. */
  readonly advice?: Readonly<Record<string, string>>
  /** How long to wait, beside the header `Retry-After`. */
  readonly wait?: readonly WaitPlan[]
}

export const FAILURE_KINDS = [
  'bad_token',
  'forbidden',
  'not_found',
  'invalid_input',
  'rate_limit',
  'quota',
  'server',
] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** `amount`: an API that does not say it. `time`: as ISO 8601 or HTTP write it. */
export type WaitPlan = (
  | { readonly header: string }
  | { readonly at: string }
  | { readonly amount: number }
) & {
  readonly unit: 'seconds' | 'milliseconds' | 'epoch_seconds' | 'epoch_milliseconds' | 'time'
}
