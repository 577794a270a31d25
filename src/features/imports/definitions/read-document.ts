import { parseDocument } from 'yaml'
import { BrokerError } from '../../../domain/errors.ts'
import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { importArcade } from './arcade.ts'
import { importGrant } from './grant-library.ts'
import { type ImportedProvider, type ImportOptions, notCarried } from './imported.ts'
import { importNango } from './nango.ts'

/** The documents that are read, by the product that they are of. */
export type DocumentSource = 'nango' | 'grant' | 'arcade'

export interface ImportedDocument {
  readonly source: DocumentSource
  readonly items: readonly ImportedProvider[]
}

/** In characters. Nango's file of 981 providers has 0.9 million. */
const MAX_LENGTH = 8 * 1024 * 1024
/** YAML's parsing time grows with the number of lines and of items in brackets. */
const MAX_PARTS = 500_000
const MAX_PROVIDERS = 10_000

const READERS: Readonly<
  Record<DocumentSource, (document: JsonRecord, options: ImportOptions) => readonly ImportedProvider[]>
> = { nango: importNango, grant: importGrant, arcade: importArcade }

/**
 * Reads the providers of a foreign document, JSON or YAML, of the product that is named or that its shape shows. Throws
 * `invalid_request` for what is neither.
 */
export function importDocument(
  text: string,
  { from, ...options }: ImportOptions & { readonly from?: DocumentSource | undefined } = {},
): ImportedDocument {
  const document = parseText(text)
  const source = from ?? sourceOf(document)
  if (source === undefined)
    throw new BrokerError(
      'invalid_request',
      'The document is none that is read: it is neither Nango’s providers.yaml (auth_mode), nor grant’s oauth.json (authorize_url, access_url), nor an engine configuration of Arcade (auth.providers). Name the product if it is one.',
    )
  if (countOf(document, source) > MAX_PROVIDERS)
    throw new BrokerError('invalid_request', `The document has more than ${MAX_PROVIDERS} providers.`)
  const items = withoutDoubles(READERS[source](document, options))
  if (items.length === 0)
    throw new BrokerError('invalid_request', `The document has no providers as ${source} describes them.`)
  return { source, items }
}

/** How many providers the document may have at most. They are counted before they are read, which takes longer. */
function countOf({ auth, ...entries }: JsonRecord, source: DocumentSource): number {
  if (source !== 'arcade') return Object.keys(entries).length
  return isRecord(auth) && Array.isArray(auth.providers) ? auth.providers.length : 0
}

/** Of several names that make one id the first counts. */
function withoutDoubles(items: readonly ImportedProvider[]): readonly ImportedProvider[] {
  const ids = new Set<string>()
  return items.map((item) => {
    const id = item.definition?.id
    if (id === undefined || !ids.has(id)) {
      if (id !== undefined) ids.add(id)
      return item
    }
    return notCarried(item.name, `another one has the id ${id} already`)
  })
}

/** The product whose shape the document has. */
export function sourceOf(document: JsonRecord): DocumentSource | undefined {
  if (isRecord(document.auth) && Array.isArray(document.auth.providers)) return 'arcade'
  const entries = Object.values(document).filter(isRecord)
  if (entries.some((entry) => typeof entry.auth_mode === 'string')) return 'nango'
  if (
    entries.some((entry) => typeof entry.authorize_url === 'string' && typeof entry.access_url === 'string')
  )
    return 'grant'
  return undefined
}

/** The object of a JSON or YAML text. Messages quote nothing of it, since it may hold secrets. */
function parseText(text: string): JsonRecord {
  if (text.length > MAX_LENGTH)
    throw new BrokerError('invalid_request', `The document is longer than ${MAX_LENGTH} characters.`)
  const document = parseJson(text.replace(/^\uFEFF/, '')) ?? parseYaml(text)
  if (!isRecord(document)) throw new BrokerError('invalid_request', 'The document is not an object.')
  return document
}

function parseJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined // a YAML mapping may begin like this too
  }
}

function parseYaml(text: string): unknown {
  if ((text.match(/[\n,[{]/g)?.length ?? 0) > MAX_PARTS)
    throw new BrokerError(
      'invalid_request',
      `The document has more than ${MAX_PARTS} lines, commas and brackets.`,
    )
  // checking for repeated keys takes quadratic time, so the last of equal keys counts, as in JSON
  const parsed = parseDocument(text, { logLevel: 'silent', uniqueKeys: false })
  const [fault] = parsed.errors
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line
    throw new BrokerError(
      'invalid_request',
      `The document is neither JSON nor YAML${line === undefined ? '' : ` (line ${line})`}.`,
    )
  }
  try {
    // an alias can repeat what it names any number of times, so a few lines could become gigabytes
    return parsed.toJS({ maxAliasCount: 0 })
  } catch {
    throw new BrokerError('invalid_request', 'The document has YAML aliases (*name), which are not followed.')
  }
}
