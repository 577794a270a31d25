import { fileAt, MAX_FILE_BYTES } from '../../stored-file.ts'
import { artifactToJson, type FilePlace, type ToolAnswer, type UnstoredFile } from '../../tool-answer.ts'
import type { FilePlan } from './answer-plan.ts'
import { changeMembers, firstAt } from './member-path.ts'
import type { Answered } from './shape-answer.ts'

/** An answer whose body, or one of whose members, is a file. */
interface FileAnswered extends Answered {
  /** Where it is stored. */
  readonly place: FilePlace
}

/** The answer whose body is a file. A text is the value of the tool; anything else is stored. */
export function fileAnswer(plan: FilePlan, bytes: Uint8Array, answered: FileAnswered): ToolAnswer {
  const type = mediaTypeIn(answered.headers['content-type'])
  const text =
    isTextual(type) || type === OCTETS ? textOf(bytes, answered.headers['content-type']) : undefined
  if (text !== undefined) return { outcome: 'value', value: text, logs: [] }
  if (bytes.length > MAX_FILE_BYTES) return tooLarge(bytes.length)
  const unstored = unstoredFile(plan, bytes, { ...answered, type })
  return { outcome: 'artifact', artifact: unstored.artifact, unstored, logs: [] }
}

/**
 * The value with the file in a member: the text in place of base64, or a reference. `base64` that is none, such as an empty
 * text, is kept.
 */
export function withFileMember(
  plan: FilePlan & { readonly at: string },
  answered: FileAnswered,
): { readonly value: unknown; readonly unstored?: UnstoredFile } | ToolAnswer {
  const { value } = answered
  const base64 = firstAt(value, [plan.at])
  if (typeof base64 !== 'string' || base64 === '') return { value }
  const bytes = Buffer.from(base64, 'base64') // reads both alphabets
  const text = textOf(bytes, undefined)
  if (text !== undefined) return { value: changeMembers(value, plan.at, () => text) }
  if (bytes.length > MAX_FILE_BYTES) return tooLarge(bytes.length)
  const unstored = unstoredFile(plan, bytes, { ...answered, type: OCTETS })
  const reference = artifactToJson(unstored.artifact)
  return { value: changeMembers(value, plan.at, () => reference), unstored }
}

function unstoredFile(
  plan: FilePlan,
  bytes: Uint8Array,
  { type, place, ...answered }: FileAnswered & { readonly type: string },
): UnstoredFile {
  const named = textAt(plan.name, answered) ?? dispositionName(answered.headers['content-disposition'])
  const name = named === undefined ? `file${extensionOf(type)}` : plainName(named)
  const told = mediaTypeIn(textAt(plan.contentType, answered))
  const contentType = [type, told, typeOfName(name)].find((one) => one !== OCTETS) ?? OCTETS
  const artifact = fileAt(place, { name, contentType, size: bytes.length })
  return { place, artifact, base64: Buffer.from(bytes).toString('base64') }
}

function tooLarge(size: number): ToolAnswer {
  const message = `The file has ${size} bytes; a tool may answer one of at most ${MAX_FILE_BYTES}.`
  return {
    outcome: 'error',
    error: { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE', message, canRetry: false },
    logs: [],
  }
}

const OCTETS = 'application/octet-stream'

/**
 * The media type without its parameters; `application/octet-stream` where there is none. One that is not known keeps its
 * letters: secrets have not been removed yet, and would not be recognized in lower case.
 */
function mediaTypeIn(text: string | undefined): string {
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(text?.trim() ?? '')?.[0] ?? OCTETS
  const lower = type.toLowerCase()
  return lower === OCTETS || isTextual(lower) || Object.values(TYPES).includes(lower) ? lower : type
}

function isTextual(type: string): boolean {
  return /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript)$|^application\/(?:x-yaml|x-ndjson|jsonl|csv)$/.test(
    type,
  )
}

/** The text, in the charset that the media type names; `undefined` if the bytes are none. */
function textOf(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  const charset = /charset="?([\w-]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8'
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes)
    return /[^\P{Cc}\s]/u.test(text) ? undefined : text // control characters are a sign of binary data
  } catch {
    return undefined // an unknown charset, or bytes that are invalid in it
  }
}

/** The first that has a value: `{path}` is a property of the input, any other text a path in the answer. */
function textAt(places: readonly string[] = [], { value, input }: Answered): string | undefined {
  for (const place of places) {
    const property = /^\{(\w+)\}$/.exec(place)?.[1]
    const found = property === undefined ? firstAt(value, [place]) : input[property]
    if (typeof found === 'string' && found !== '') return found
  }
  return undefined
}

/** The name in `Content-Disposition` (RFC 6266 section 4.3). */
function dispositionName(header: string | undefined): string | undefined {
  const encoded = /filename\*=utf-8''([^;]+)/i.exec(header ?? '')?.[1]
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded.trim())
  } catch {
    // the plain name is taken
  }
  return /filename="([^"]+)"|filename=([^;\s]+)/i
    .exec(header ?? '')
    ?.slice(1)
    .find(Boolean)
}

/** The last part of a path, without characters that would deceive a reader. */
function plainName(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}"<>]/gu, '')
  const last =
    plain
      .split(/[\\/]/)
      .findLast((part) => part.trim() !== '')
      ?.trim() ?? ''
  return last === '' || last === '.' || last === '..' ? 'file' : last.slice(-200)
}

/** Media types by the ending of a name, for services that tell none. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  zip: 'application/zip',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
}

function typeOfName(name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(TYPES, ending) ? (TYPES[ending] ?? OCTETS) : OCTETS
}

function extensionOf(type: string): string {
  const ending = Object.keys(TYPES).find((name) => TYPES[name] === type)
  return ending === undefined ? '' : `.${ending}`
}
