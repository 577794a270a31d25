// What an operation returns when its output alone does not say everything.

/** By name, in lower case. */
export type AnswerHeaders = Readonly<Record<Lowercase<string>, string>>

/** An answer with its status and headers. */
export class Answer<out Value = unknown> {
  readonly value: Value
  /** The operation's status by default. */
  readonly status: number | undefined
  readonly headers: AnswerHeaders
  /** The request had no effect, so a request with the same idempotency key is executed. */
  readonly hadNoEffect: boolean

  constructor(value: Value, { status, headers = {}, hadNoEffect = false }: AnswerOptions = {}) {
    this.value = value
    this.status = status
    this.headers = headers
    this.hadNoEffect = hadNoEffect
  }

  /** An answer that its maker puts together from stored or recorded JSON, whose members have no types. */
  static untyped(value: unknown, options?: AnswerOptions): Answer<never> {
    return new Answer(value as never, options) // tests compare recorded answers with the schemas
  }
}

export interface AnswerOptions {
  readonly status?: number
  readonly headers?: AnswerHeaders
  readonly hadNoEffect?: boolean
}

/** An output that is JSON text already. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  /** A page whose items are JSON texts. */
  static page(
    { items: _, ...page }: { readonly items: readonly unknown[]; readonly [member: string]: unknown },
    items: readonly string[],
  ): JsonText {
    return new JsonText(`{"items":[${items.join()}],${JSON.stringify(page).slice(1)}`)
  }
}

/** A text of another media type than JSON, whole or in pieces. */
export class TextStream {
  readonly mediaType: string
  readonly pieces: string | AsyncGenerator<string, undefined>
  readonly headers: AnswerHeaders
  constructor(
    mediaType: string,
    pieces: string | AsyncGenerator<string, undefined>,
    headers: AnswerHeaders = {},
  ) {
    this.mediaType = mediaType
    this.pieces = pieces
    this.headers = headers
  }
}

/** A file, which a browser must not show as a page of this origin. */
export class FileContent {
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly name: string
  constructor(mediaType: string, bytes: Uint8Array<ArrayBuffer>, name: string) {
    this.mediaType = mediaType
    this.bytes = bytes
    this.name = name
  }
}

/** Server-sent events. */
export class EventStream {
  /** Sends the events; the stream ends when it returns. An error that it throws is sent as an `error` event. */
  readonly send: (events: EventWriter) => Promise<void>
  /** Makes the data of the `error` event from the refusal on the wire; unchanged by default. */
  readonly errorData: (refusal: object) => object

  constructor(
    send: (events: EventWriter) => Promise<void>,
    errorData: (refusal: object) => object = (refusal) => refusal,
  ) {
    this.send = send
    this.errorData = errorData
  }
}

export interface EventWriter {
  /** Sends one event. `data` is JSON. */
  event(name: string, data: string): Promise<void>
  /** Sends text in the format of the stream, such as a comment that keeps the connection open. */
  write(text: string | Uint8Array): Promise<void>
  /** Aborted when the reader is gone. */
  readonly signal: AbortSignal
}
