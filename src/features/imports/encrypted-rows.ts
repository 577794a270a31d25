import { randomBytes, randomUUID } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'

// The encrypted file of exported connections: JSON lines. The first line has the file's own key, encrypted to a passphrase
// (RFC 7518 section 4.8) or to a key of 32 bytes (section 4.4); each further line is a JWE (RFC 7516) of one row. Each
// protected header has the id of the file and the number of the row, and the last line has the number of rows: so
// `decryptRows` detects rows that were moved, left out or taken from another file.

/** What opens the file. */
export type ExportKey =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | { readonly kind: 'key'; readonly key: Uint8Array }

/** OWASP's figure for PBKDF2 with SHA-512 is 210,000. */
const ITERATIONS = 300_000
/** A file that asks for more iterations is refused: a hostile file could otherwise keep its reader busy for hours. */
const MOST_ITERATIONS = 2_000_000
const ENCRYPTION = 'A256GCM'
const MAX_LINE = 256 * 1024

/** The file cannot be decrypted or has been changed. The message holds nothing of its content. */
export class ExportFault extends Error {
  /** The line with the fault, from 1; absent if the fault concerns the whole file. */
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(line === undefined ? message : `Line ${line}: ${message}`)
    this.name = 'ExportFault'
    this.line = line
  }
}

/** The lines of the file, without line ends. */
export async function* encryptRows(
  rows: AsyncIterable<object>,
  exportKey: ExportKey,
  about: { readonly createdAt: string },
): AsyncGenerator<string> {
  const key = randomBytes(32)
  const file = randomUUID()
  const seal = (number: number, value: object) =>
    new CompactEncrypt(Buffer.from(JSON.stringify(value)))
      .setProtectedHeader({ alg: 'dir', enc: ENCRYPTION, file, row: number })
      .encrypt(key)
  yield JSON.stringify({
    gatepass_export: 1,
    created_at: about.createdAt,
    file,
    opened_by: exportKey.kind,
    key: await wrap(key, exportKey),
  })
  let number = 0
  for await (const row of rows) yield seal(++number, { row })
  yield seal(number + 1, { end: number })
}

/** The kind of key that decrypts the file; `undefined` if the text is no file of `encryptRows`. */
export function exportKindOf(text: string): ExportKey['kind'] | undefined {
  const header = parseHeader(text.trimStart().slice(0, MAX_LINE).split('\n', 1).join(''))
  return header?.opened_by
}

/** The rows with their lines. Throws `ExportFault`. */
export async function* decryptRows(
  text: string,
  exportKey: ExportKey,
): AsyncGenerator<{ readonly line: number; readonly row: Record<string, unknown> }> {
  const [first = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '')
  const header = parseHeader(first)
  if (header === undefined) throw new ExportFault('The file is not an export of Gatepass.')
  const key = await unwrap(header.key, exportKey)
  let rows = 0
  for (const [index, sealed] of lines.entries()) {
    const line = index + 2
    const content = await open(sealed, key, { file: header.file, row: index + 1 }, line)
    if (content.end !== undefined) {
      if (content.end !== rows || index + 1 < lines.length)
        throw new ExportFault('The file has been changed.')
      return
    }
    rows += 1
    yield { line, row: content.row ?? {} }
  }
  throw new ExportFault('The end of the file is missing: it was not written or copied completely.')
}

async function open(
  sealed: string,
  key: Uint8Array,
  expected: { readonly file: string; readonly row: number },
  line: number,
): Promise<{ readonly row?: Record<string, unknown>; readonly end?: number }> {
  const opened = await compactDecrypt(sealed.trim(), key, {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: [ENCRYPTION],
  }).catch(() => undefined)
  const header: Readonly<Record<string, unknown>> = { ...opened?.protectedHeader }
  if (opened === undefined || header.file !== expected.file || header.row !== expected.row)
    throw new ExportFault('it has been changed, or is of another file.', line)
  return JSON.parse(Buffer.from(opened.plaintext).toString('utf8')) // `encryptRows` wrote it, in this shape
}

function wrap(key: Uint8Array, exportKey: ExportKey): Promise<string> {
  const encrypt = new CompactEncrypt(key)
  if (exportKey.kind === 'key')
    return encrypt.setProtectedHeader({ alg: 'A256KW', enc: ENCRYPTION }).encrypt(exportKey.key)
  return encrypt
    .setProtectedHeader({ alg: 'PBES2-HS512+A256KW', enc: ENCRYPTION })
    .setKeyManagementParameters({ p2c: ITERATIONS })
    .encrypt(Buffer.from(exportKey.passphrase, 'utf8'))
}

async function unwrap(wrapped: string, exportKey: ExportKey): Promise<Uint8Array> {
  const [algorithm, secret] =
    exportKey.kind === 'key'
      ? (['A256KW', exportKey.key] as const)
      : (['PBES2-HS512+A256KW', Buffer.from(exportKey.passphrase, 'utf8')] as const)
  const opened = await compactDecrypt(wrapped, secret, {
    keyManagementAlgorithms: [algorithm],
    contentEncryptionAlgorithms: [ENCRYPTION],
    maxPBES2Count: MOST_ITERATIONS,
  }).catch(() => undefined)
  if (opened === undefined)
    throw new ExportFault(`The ${exportKey.kind} does not open the file, or its first line has been changed.`)
  return opened.plaintext
}

interface Header {
  readonly file: string
  readonly key: string
  readonly opened_by: ExportKey['kind']
}

function parseHeader(line: string): Header | undefined {
  try {
    const header = JSON.parse(line)
    const isHeader =
      header?.gatepass_export === 1 &&
      typeof header.file === 'string' &&
      typeof header.key === 'string' &&
      (header.opened_by === 'passphrase' || header.opened_by === 'key')
    return isHeader ? header : undefined
  } catch {
    return undefined
  }
}
