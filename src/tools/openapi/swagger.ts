import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { isDeeperThan, Refusal } from '../read-json.ts'
import { MAX_DEPTH } from './openapi-document.ts'

/**
 * Converts a document of Swagger 2.0, which it changes, to OpenAPI 3.0. Returns others unchanged. The time grows with the
 * document, so it is called in a thread. Throws `Refusal`.
 */
export async function convertedSwagger(document: unknown): Promise<unknown> {
  if (!isRecord(document) || document.swagger !== '2.0') return document
  if (isDeeperThan(document, MAX_DEPTH))
    throw new Refusal(`The document nests deeper than ${MAX_DEPTH} levels.`)
  try {
    for (const node of [document, ...operationsOf(document)]) dropEmptyTypes(node)
    // loaded when it is needed, because few documents are of Swagger 2.0
    const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0')
    return upgradeFromTwoToThree({ ...document, ...schemesOf(document) })
  } catch {
    throw new Refusal(
      'The document is of Swagger 2.0 and could not be converted: convert it to OpenAPI 3.1, by another tool.',
    )
  }
}

function operationsOf({ paths }: JsonRecord): JsonRecord[] {
  const items = isRecord(paths) ? Object.values(paths).filter(isRecord) : []
  return items.flatMap((item) => Object.values(item).filter(isRecord))
}

/** An empty list of media types, as in DocuSign's document, would leave a body without a type: JSON is the default. */
function dropEmptyTypes(record: Record<string, unknown>): void {
  for (const name of ['consumes', 'produces']) {
    const types = record[name]
    if (Array.isArray(types) && types.length === 0) delete record[name]
  }
}

/** `https` comes first, because the first server is used, and is taken where none is named: the library takes `http`. */
function schemesOf({ schemes }: JsonRecord): { readonly schemes: readonly unknown[] } {
  const named: readonly unknown[] = Array.isArray(schemes) && schemes.length > 0 ? schemes : ['https']
  const isSecure = (scheme: unknown) => scheme === 'https'
  return { schemes: [...named.filter(isSecure), ...named.filter((scheme) => !isSecure(scheme))] }
}
