import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { nameOfReference, type OpenApiDocument, type Schema } from '../sdk/wire-types/openapi.ts'

/** Checks an answer by the document. Returns a sentence about the first difference, if there is one. */
export type CheckAnswer = (
  method: string,
  path: string,
  answered: { readonly status: number; readonly mediaType: string; readonly body: string },
) => string | undefined

/** Checks answers by the document of `/openapi.json`. A member that the document does not describe is a fault. */
export function answerChecker(document: OpenApiDocument): CheckAnswer {
  const { schemas } = document.components
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', ...(closed(document, schemas) as object) })
  const routes = Object.entries(document.paths).map(
    ([path, methods]) => [path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), methods] as const,
  )
  const checks = new Map<string, ValidateFunction | undefined>()

  return (method, target, { status, mediaType, body }) => {
    const path = target.replace(/\?.*$/, '')
    const ways = routes.filter(
      ([, pattern, methods]) => pattern.test(path) && method.toLowerCase() in methods,
    )
    const [[template, , methods] = []] = ways.toSorted(
      ([one], [other]) => parameters(one) - parameters(other),
    )
    if (template === undefined || methods === undefined) return `${method} ${path} is not in the document`
    const { responses } = methods[method.toLowerCase()] ?? { responses: {} }
    const described = status in responses ? String(status) : 'default'
    const parts = ['paths', template, method.toLowerCase(), 'responses', described, 'content', mediaType]
    const pointer = `document#/${[...parts, 'schema'].map(escaped).join('/')}`
    if (!checks.has(pointer)) checks.set(pointer, ajv.getSchema(pointer))
    const check = checks.get(pointer)
    if (check === undefined) return `${method} ${path} is not described for ${status} ${mediaType}`
    const wrong = valuesOf(mediaType, body).find((value) => !check(value))
    if (wrong === undefined) return undefined
    check(wrong)
    return `${method} ${path} ${status}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(wrong).slice(0, 500)}`
  }
}

/** The values in an answer: of a stream the data of each event, else the body. */
function valuesOf(mediaType: string, body: string): unknown[] {
  if (mediaType === 'text/event-stream')
    return [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
  return [mediaType === 'application/json' ? JSON.parse(body) : body]
}

function parameters(path: string): number {
  return path.split('{').length
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** The document with every object schema closed: it allows only the members that it describes. */
function closed(value: unknown, schemas: Readonly<Record<string, Schema>>, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, schemas, isPart))
  if (typeof value !== 'object' || value === null) return value
  const { discriminator: _, ...schema } = value as Schema & { readonly discriminator?: unknown }
  // a part of an `allOf` stays open, also a reference to a schema that is closed elsewhere
  if (isPart && schema.$ref !== undefined) return closed(schemas[nameOfReference(schema.$ref)], schemas, true)
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, one]) => [
      name,
      closed(one, schemas, name === 'allOf' || (isPart && name !== 'properties')),
    ]),
  )
  const describesAll = schema.properties !== undefined || schema.allOf !== undefined
  const isOpen = isPart || schema.additionalProperties !== undefined || !describesAll
  return isOpen ? inner : { ...inner, unevaluatedProperties: false }
}
