import { valueAt } from '../../sdk/worker/json-pointer.ts'
import type { Dialect } from './dialect.ts'
import { excerpt, locationOf, SchemaFault } from './schema-fault.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** The base URI of a document without an `$id`. */
const UNNAMED = 'schema://unnamed/'

/**
 * The schema resources of one document by URI, and their anchors (2020-12 core sections 8.2 and 9.3). A reference cannot
 * leave the document: nothing is fetched.
 */
export class SchemaResources {
  readonly root = UNNAMED
  readonly #document: unknown
  readonly #dialect: Dialect
  readonly #pointers = new Map<string, string>([[UNNAMED, '']])
  readonly #anchors = new Map<string, string>()
  readonly #dynamic = new Map<string, number>()

  constructor(document: unknown, dialect: Dialect) {
    this.#document = document
    this.#dialect = dialect
  }

  /** Registers the schema's `$id` and anchors and returns the base URI for its subschemas. */
  enter(raw: JsonObject, pointer: string, outer: string): string {
    const isDraft07 = this.#dialect === 'draft-07'
    // draft-07 core section 8.3: siblings of `$ref` are ignored
    const id = isDraft07 && typeof raw.$ref === 'string' ? undefined : raw.$id
    let base = outer
    if (id !== undefined && id !== null) {
      const uri = typeof id === 'string' ? resolveUri(id, outer) : undefined
      if (uri === undefined || (uri.fragment !== '' && !isDraft07))
        throw new SchemaFault(
          'invalid_schema',
          `${locationOf(pointer)} has an \`$id\` that cannot be used: it must be a URI reference${isDraft07 ? '' : ' without a fragment'}.`,
        )
      if (uri.whole !== outer) {
        this.#claim(this.#pointers, uri.whole, pointer)
        base = uri.whole
      }
      if (uri.fragment !== '') this.#claim(this.#anchors, `${base}#${uri.fragment}`, pointer)
    }
    if (isDraft07) return base
    for (const anchor of [raw.$anchor, raw.$dynamicAnchor])
      if (typeof anchor === 'string') this.#claim(this.#anchors, `${base}#${anchor}`, pointer)
    if (typeof raw.$dynamicAnchor === 'string')
      this.#dynamic.set(raw.$dynamicAnchor, (this.#dynamic.get(raw.$dynamicAnchor) ?? 0) + 1)
    return base
  }

  /** Resolves a reference. Throws `SchemaFault`; with kind `external_ref` when it leads out of the document. */
  resolve(
    reference: string,
    base: string,
    { from, isDynamic }: { readonly from: string; readonly isDynamic: boolean },
  ): { readonly pointer: string; readonly value: unknown; readonly base: string } {
    const uri = resolveUri(reference, base)
    const start = uri && this.#pointers.get(uri.whole)
    if (uri === undefined || start === undefined)
      throw new SchemaFault(
        'external_ref',
        `${locationOf(from)} refers to "${excerpt(reference)}", which is not in this document, and nothing is fetched: put it into \`$defs\`.`,
      )
    const isPointer = uri.fragment === '' || uri.fragment.startsWith('/')
    const pointer = isPointer ? `${start}${uri.fragment}` : this.#anchors.get(`${uri.whole}#${uri.fragment}`)
    const value = pointer === undefined ? undefined : valueAt(this.#document, pointer)
    if (pointer === undefined || value === undefined)
      throw new SchemaFault(
        'invalid_schema',
        `${locationOf(from)} refers to "${excerpt(reference)}", and there is no such place.`,
      )
    // with a single anchor of this name in the document, the dynamic scope cannot resolve to another one
    if (isDynamic && !isPointer && (this.#dynamic.get(uri.fragment) ?? 0) > 1)
      throw new SchemaFault(
        'invalid_schema',
        `${locationOf(from)} refers to one of several places named "${excerpt(uri.fragment)}" by \`$dynamicRef\`, which is not supported: give each a name of its own.`,
      )
    return { pointer, value, base: uri.whole }
  }

  #claim(names: Map<string, string>, name: string, pointer: string): void {
    if (names.has(name) && names.get(name) !== pointer)
      throw new SchemaFault(
        'invalid_schema',
        `${locationOf(pointer)} has the name "${excerpt(name)}" of another schema of this document.`,
      )
    names.set(name, pointer)
  }
}

/** Resolves a URI reference (RFC 3986 section 5) and decodes its fragment. `undefined` if it is not one. */
function resolveUri(
  reference: string,
  base: string,
): { readonly whole: string; readonly fragment: string } | undefined {
  if (!URL.canParse(reference, base)) return undefined
  const url = new URL(reference, base)
  const fragment = decode(url.hash.slice(1))
  url.hash = ''
  return { whole: url.href, fragment }
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment // an undecodable fragment matches no place
  }
}
