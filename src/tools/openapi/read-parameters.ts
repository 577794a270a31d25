import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { quote, Refusal } from '../read-json.ts'
import { type OpenapiDocument, resolved, textOf } from './openapi-document.ts'
import {
  isHeaderName,
  isReservedHeader,
  type ParameterForm,
  type ParameterStyle,
  type PlannedParameter,
} from './request-plan.ts'
import type { SchemaWriter } from './tool-schema.ts'

export interface ReadParameter {
  readonly planned: PlannedParameter
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

/**
 * Reads the parameters of an operation and of its path. Leaves out optional cookies, headers that the connection sets,
 * and parameters that the settings or the credentials set (`isTaken`). Throws `Refusal`.
 */
export function readParameters(
  document: OpenapiDocument,
  lists: { readonly ofPath: unknown; readonly ofOperation: unknown },
  writer: SchemaWriter,
  isTaken: (place: string, name: string) => boolean,
): ReadParameter[] {
  const all = new Map<string, JsonRecord>()
  for (const list of [lists.ofPath, lists.ofOperation])
    for (const item of Array.isArray(list) ? list : []) {
      const parameter = resolved(document, item, 'A parameter')
      all.set(JSON.stringify([parameter.in, parameter.name]), parameter)
    }
  const read: ReadParameter[] = []
  for (const parameter of all.values()) {
    const { in: place, name } = parameter
    if (typeof name !== 'string' || name === '') throw new Refusal('It has a parameter without a name.')
    const isRequired = parameter.required === true || place === 'path'
    if (place !== 'path' && place !== 'query' && place !== 'header') {
      if (isRequired)
        throw new Refusal(`Its parameter ${quote(name)} is in ${quote(place)}, which is not supported.`)
      continue
    }
    if (place === 'header' && !isHeaderName(name))
      throw new Refusal(`Its header parameter ${quote(name)} is not a valid header name.`)
    if (isTaken(place, name)) continue
    if (place === 'header' && (isReservedHeader(name) || name.toLowerCase() === 'accept')) {
      if (isRequired && !IGNORED.includes(name.toLowerCase()))
        throw new Refusal(`Its header ${quote(name)} is not one that a tool may set.`)
      continue
    }
    let property = name
    while (read.some(({ planned }) => planned.property === property)) property = `${place}_${property}`
    const description = textOf(parameter.description)
    const { form, schema } = formOf(parameter, place)
    read.push({
      planned: { property, in: place, name, ...form },
      schema: { ...writer.write(schema), ...(description !== undefined && { description }) },
      isRequired,
    })
  }
  return read
}

/** Header parameters of these names are ignored (OpenAPI 3.1 section 4.8.12.1). */
const IGNORED = ['accept', 'content-type', 'authorization', 'dpop']

type Place = PlannedParameter['in']

const STYLES: Readonly<Record<Place, readonly ParameterStyle[]>> = {
  path: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
}

function formOf(
  { name, style, explode, schema, content }: JsonRecord,
  place: Place,
): { readonly form: ParameterForm; readonly schema: unknown } {
  if (isRecord(content)) {
    const [type, media] = Object.entries(content)[0] ?? []
    if (type === undefined || !isJsonType(type))
      throw new Refusal(`Its parameter ${quote(name)} is written as ${quote(type)}, which is not supported.`)
    return { form: { style: 'json', explode: false }, schema: (isRecord(media) && media.schema) || {} }
  }
  const form = styleOf({ style, explode }, place)
  if (form === undefined)
    throw new Refusal(
      `Its parameter ${quote(name)} is in the style ${quote(style)}, which is not supported in a ${place}.`,
    )
  return { form, schema: schema ?? {} }
}

/** The style with its defaults (OpenAPI 3.1 section 4.8.12); `undefined` for one that is not supported there. */
export function styleOf({ style, explode }: JsonRecord, place: Place): ParameterForm | undefined {
  const known = STYLES[place].find((candidate) => candidate === (style ?? STYLES[place][0]))
  if (known === undefined) return undefined
  const isExploded = typeof explode === 'boolean' ? explode : known === 'form' || known === 'deepObject'
  return { style: known, explode: isExploded }
}

/** Whether a media type is JSON, by its name or its suffix (RFC 6839 section 3.1). */
export function isJsonType(contentType: string): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType.trim())
}
