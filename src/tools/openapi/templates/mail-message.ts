import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { BadArgument } from '../write-parameter.ts'
import { isMediaType } from './media-type.ts'

/** The members that `$rfc5322` takes. */
export const MESSAGE_MEMBERS: readonly string[] = [
  'to',
  'cc',
  'bcc',
  'reply_to',
  'subject',
  'text',
  'html',
  'in_reply_to',
  'references',
  'attachments',
]

/**
 * An e-mail message as text (RFC 5322, RFC 2045). It has no `From`, which the mail service adds for its user, and no `Date`.
 * `attachments` have `filename`, `content_type` and `data` in base64. Throws `BadArgument`.
 */
export async function toMailMessage(message: JsonRecord): Promise<string> {
  checkSize(message)
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer') // loaded by the first e-mail
  const composer = new MailComposer({
    to: addresses(message.to, 'to'),
    cc: addresses(message.cc, 'cc'),
    bcc: addresses(message.bcc, 'bcc'),
    replyTo: addresses(message.reply_to, 'reply_to'),
    subject: textOf(message.subject),
    text: textOf(message.text),
    html: textOf(message.html),
    inReplyTo: textOf(message.in_reply_to),
    references: references(message),
    attachments: attachments(message.attachments),
    // an attachment is what the input holds, never a file or an address
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const node = composer.compile()
  // the service reads the hidden recipients from the message itself
  node.keepBcc = true
  return withoutOwnHeaders((await node.build()).toString())
}

/** In characters: larger ones would hold the event loop while they are encoded. */
const MOST = { subject: 1_000, references: 10_000, in_reply_to: 1_000, text: 500_000, html: 500_000 }
/** Of all fields together. */
const MAX_RECIPIENTS = 500
/** In characters, with the name. An address has at most 254 (RFC 5321 section 4.5.3.1.3). */
const MAX_ADDRESS = 400
const MAX_ATTACHMENTS = 100
/** In characters, as most file systems have it. */
const MAX_FILENAME = 255

function checkSize(message: JsonRecord): void {
  for (const [name, most] of Object.entries(MOST)) {
    const { length } = textOf(message[name]) ?? ''
    if (length > most)
      throw new BadArgument(`"${name}" has ${length} characters; an e-mail may have ${most} there.`)
  }
  const recipients = [message.to, message.cc, message.bcc, message.reply_to].flatMap(
    (list) => list ?? [],
  ).length
  if (recipients > MAX_RECIPIENTS)
    throw new BadArgument(`The e-mail has ${recipients} addresses; it may have ${MAX_RECIPIENTS}.`)
  const { attachments: files } = message
  if (Array.isArray(files) && files.length > MAX_ATTACHMENTS)
    throw new BadArgument(`The e-mail has ${files.length} attachments; it may have ${MAX_ATTACHMENTS}.`)
}

/** Leaves it to the mail service to name the message and its time. */
function withoutOwnHeaders(message: string): string {
  const end = message.indexOf('\r\n\r\n')
  const lines = message.slice(0, end).split('\r\n')
  return lines.filter((line) => !/^(?:Message-ID|Date):/.test(line)).join('\r\n') + message.slice(end)
}

/**
 * A plain address, or `Name <address>`: a comma, a line break or the name of a group (RFC 5322 section 3.4) would add
 * recipients that the input does not list, and invisible characters would make one of another text than people and
 * policies read.
 */
const ADDRESS =
  /^[^\s<>,:;"()@\p{C}]+@[^\s<>,:;"()@\p{C}]+$|^[^<>,:;"()\p{C}]*<[^\s<>,:;"()@\p{C}]+@[^\s<>,:;"()@\p{C}]+>$/u

function addresses(value: unknown, member: string): string[] | undefined {
  if (value === undefined || value === null) return undefined
  const list = Array.isArray(value) ? value : [value]
  for (const address of list) {
    if (typeof address !== 'string' || address.length > MAX_ADDRESS || !ADDRESS.test(address))
      throw new BadArgument(
        `"${member}" must hold one e-mail address in each element, such as ada@example.com.`,
      )
  }
  return list
}

/** The references of an answer are those of the message that it answers, and that message (RFC 5322 section 3.6.4). */
function references({ references: earlier, in_reply_to: answered }: JsonRecord): string | undefined {
  const ids = [textOf(earlier), textOf(answered)].filter((id) => id !== undefined)
  return ids.length > 0 ? ids.join(' ') : undefined
}

function attachments(value: unknown) {
  if (!Array.isArray(value)) return undefined
  return value.map((file: unknown) => {
    if (!isRecord(file) || typeof file.filename !== 'string' || typeof file.data !== 'string')
      throw new BadArgument('Each of "attachments" needs "filename" and "data", the content in base64.')
    if (file.filename.length > MAX_FILENAME)
      throw new BadArgument(`The filename of an attachment may have ${MAX_FILENAME} characters.`)
    if (file.content_type !== undefined && !isMediaType(file.content_type))
      throw new BadArgument(
        'The "content_type" of an attachment must be a media type, such as application/pdf.',
      )
    return {
      filename: file.filename,
      content: Buffer.from(file.data, 'base64'),
      ...(typeof file.content_type === 'string' && { contentType: file.content_type }),
    }
  })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
