import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import type { AnswerConversion } from './answer-plan.ts'

let readHtml: ((html: string) => string) | undefined

/** Loads what the conversions need: the reader of HTML, which is large, with the first answer that has some. */
export async function prepareConversions(conversions: readonly AnswerConversion[]): Promise<void> {
  if (mayReadHtml(conversions)) readHtml ??= (await import('./html-text.ts')).htmlToText
}

export function mayReadHtml(conversions: readonly AnswerConversion[]): boolean {
  return conversions.includes('html_text') || conversions.includes('gmail_payload_text')
}

function htmlToText(html: string): string {
  if (readHtml === undefined) throw new Error('prepareConversions has not run.')
  return readHtml(html)
}

/** Converts a value of an answer, after `prepareConversions`. A value of another form than the conversion reads is kept. */
export function convertAnswer(conversion: AnswerConversion, value: unknown): unknown {
  switch (conversion) {
    case 'base64_text':
      return typeof value === 'string' ? fromBase64(value) : value
    case 'name_value_object':
      return Array.isArray(value) ? toObject(value) : value
    case 'gmail_payload_text':
      return isRecord(value) ? gmailText(value) : value
    case 'html_text':
      return typeof value === 'string' ? htmlToText(value) : value
    case 'adf_text':
      return isRecord(value)
        ? adfText(value)
            .replaceAll(/\n{3,}/g, '\n\n')
            .trim()
        : value
    case 'rich_text_text':
      return Array.isArray(value) ? value.map((piece) => textMember(piece, 'plain_text')).join('') : value
    case 'google_document_text':
      return isRecord(value) ? documentText(value) : value
    case 'epoch_seconds_time':
      return timeOf(value, 1000)
    case 'epoch_milliseconds_time':
      return timeOf(value, 1)
  }
}

/** ISO 8601. */
function timeOf(value: unknown, milliseconds: number): unknown {
  const time =
    typeof value === 'string' || typeof value === 'number' ? Number(value) * milliseconds : Number.NaN
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? value : date.toISOString()
}

/** The text, or its size if the bytes are no text in UTF-8: base64 is of no use to a model. */
function fromBase64(text: string): string {
  const bytes = Buffer.from(text, 'base64') // reads both alphabets
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return `[${bytes.length} bytes that are not text]`
  }
}

function toObject(list: readonly unknown[]): Record<string, unknown> {
  const pairs = list.flatMap((element) =>
    isRecord(element) && typeof element.name === 'string' ? [[element.name, element.value] as const] : [],
  )
  return Object.fromEntries(pairs.reverse()) // so that the first of a name wins
}

/** The levels of parts, nodes, and elements that are read. */
const MAX_DEPTH = 50

/** The headers, the text and the attachments of a message, from Gmail's tree of parts. HTML is read where there is no text. */
function gmailText(payload: JsonRecord): JsonRecord {
  const plain: string[] = []
  const html: string[] = []
  const attachments: unknown[] = []
  const read = (part: unknown, depth: number): void => {
    if (!isRecord(part) || depth > MAX_DEPTH) return
    const { mimeType, filename, body, parts } = part
    const { data, size, attachmentId } = isRecord(body) ? body : {}
    if (typeof filename === 'string' && filename !== '')
      attachments.push({ filename, content_type: mimeType, size, attachment_id: attachmentId })
    else if (typeof data === 'string' && mimeType === 'text/plain') plain.push(fromBase64(data))
    else if (typeof data === 'string' && mimeType === 'text/html') html.push(htmlToText(fromBase64(data)))
    if (Array.isArray(parts)) for (const inner of parts) read(inner, depth + 1)
  }
  read(payload, 0)
  const texts = plain.length > 0 ? plain : html
  return {
    ...(Array.isArray(payload.headers) && { headers: mailHeaders(payload.headers) }),
    ...(texts.length > 0 && { text: texts.join('\n') }),
    ...(attachments.length > 0 && { attachments }),
  }
}

/** The header fields that readers of a message need (RFC 5322 section 3.6). Those of its delivery are many times longer. */
const MAIL_HEADERS = [
  'From',
  'To',
  'Cc',
  'Bcc',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
]

function mailHeaders(list: readonly unknown[]): Record<string, unknown> {
  const given = Object.entries(toObject(list))
  const kept = MAIL_HEADERS.flatMap((name) => {
    const found = given.find(([sent]) => sent.toLowerCase() === name.toLowerCase())
    return found === undefined ? [] : [[name, found[1]] as const]
  })
  return Object.fromEntries(kept)
}

const ADF_BLOCKS = new Set([
  'paragraph',
  'heading',
  'codeBlock',
  'blockquote',
  'listItem',
  'tableRow',
  'rule',
  'panel',
])

/** The text of a node, with a line for each block. */
function adfText(node: unknown, depth = 0): string {
  if (!isRecord(node) || depth > MAX_DEPTH) return ''
  const { type, text, attrs, content } = node
  if (typeof text === 'string') return text
  if (type === 'hardBreak') return '\n'
  if (type === 'mention' || type === 'emoji' || type === 'inlineCard' || type === 'status')
    return isRecord(attrs) ? textMember(attrs, type === 'inlineCard' ? 'url' : 'text') : ''
  const inner = Array.isArray(content) ? content.map((part) => adfText(part, depth + 1)).join('') : ''
  if (type === 'listItem') return `- ${inner.trim()}\n`
  return typeof type === 'string' && ADF_BLOCKS.has(type) ? `${inner}\n` : inner
}

/** The text runs of a Google document, of its tables too. */
function documentText(body: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) return ''
  if (Array.isArray(body)) return body.map((part) => documentText(part, depth + 1)).join('')
  if (!isRecord(body)) return ''
  if (isRecord(body.textRun)) return textMember(body.textRun, 'content')
  const { content, paragraph, elements, table, tableRows, tableCells } = body
  return [content, paragraph, elements, table, tableRows, tableCells]
    .map((part) => (part === undefined ? '' : documentText(part, depth + 1)))
    .join('')
}

function textMember(value: unknown, name: string): string {
  const text = isRecord(value) ? value[name] : undefined
  return typeof text === 'string' ? text : ''
}
