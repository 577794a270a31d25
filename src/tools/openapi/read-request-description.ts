import { didYouMean } from '../../domain/nearest.ts'
import type { AuthorizationRequirement, JsonSchema, ToolRequirements } from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { CatalogueTool } from '../backend.ts'
import { quote, Refusal } from '../read-json.ts'
import type { AnswerPlan } from './answers/answer-plan.ts'
import { ITEMS_FROM } from './answers/bound-answer.ts'
import { checkAnswerPlan } from './answers/check-answer-plan.ts'
import { PAGE } from './answers/pages.ts'
import type { OpenapiSettings, RequestAuthorization, RequestDescription } from './openapi-settings.ts'
import { nextPagesOf, planRequest, withPage } from './plan-request.ts'
import { annotationsOf } from './read-operation.ts'
import { type Credential, isCredentialHeader, type RequestPlan, toToolDocument } from './request-plan.ts'
import { propertiesIn } from './templates/placeholders.ts'

/** Reads the description of one request as a tool. Throws `Refusal`. */
export function readRequestDescription(
  request: RequestDescription,
  { namespace = '', serverUrl, headers = {} }: Pick<OpenapiSettings, 'namespace' | 'serverUrl' | 'headers'>,
): CatalogueTool {
  const { name, version, title, description, outputSchema, tags, pages } = request
  if (!isToolName(name))
    throw new Refusal(`request.name is ${quote(name)}; it must be 1 to 128 of A-Z, a-z, 0-9 and _.-`)
  if (request.inputSchema.type !== 'object')
    throw new Refusal('request.input_schema must describe an object.')
  const inputSchema = withItemsFrom(
    withLongTexts(pages === undefined ? request.inputSchema : withPage(request.inputSchema), request),
    request,
  )
  const credentials = (request.authorization ?? []).map(toCredential)
  const server = { ...(serverUrl !== undefined && { serverUrl }), headers }
  const nextPages = pages && nextPagesOf(request, pages, credentials, server)
  const answer = answerPlanOf(request)
  const defaults = defaultsOf(inputSchema)
  const plan: RequestPlan = {
    ...planRequest(request, credentials, server),
    ...(defaults && { defaults }),
    ...(answer && { answer }),
    ...(nextPages && { nextPages: { ...nextPages, ...(defaults && { defaults }) } }),
  }
  checkPlaceholders(plan, inputSchema)
  if (pages !== undefined) checkPageIsUsed(plan)
  return {
    name,
    namespace,
    version,
    title,
    description,
    inputSchema,
    outputSchema,
    ...(tags && { tags }),
    annotations: { ...annotationsOf(plan.method), ...request.annotations },
    requirements: requirementsOf(request, credentials),
    document: toToolDocument(plan),
  }
}

function answerPlanOf(request: RequestDescription): AnswerPlan | undefined {
  const { answer, errors, pages } = request
  if (answer === undefined && errors === undefined && pages === undefined) return undefined
  const { request: _, ...plan } = pages ?? { request: undefined }
  const made: AnswerPlan = {
    ...answer,
    ...(goesOn(request) && { goesOn: true }),
    ...(errors && { errors }),
    ...(pages && { pages: plan as AnswerPlan['pages'] & object }),
  }
  checkAnswerPlan(made)
  return made
}

/** The values that the input schema has for properties that are not given. */
function defaultsOf({ properties }: JsonSchema): Record<string, unknown> | undefined {
  const described = isRecord(properties) ? Object.entries(properties) : []
  const defaults = described.flatMap(([name, schema]) =>
    isRecord(schema) && schema.default !== undefined ? [[name, schema.default] as const] : [],
  )
  return defaults.length > 0 ? Object.fromEntries(defaults) : undefined
}

/** Whether the tool only reads, and may answer a list, so that it can be called again for the rest. */
function goesOn({ answer, annotations, method }: RequestDescription): boolean {
  const reads = annotations?.readOnlyHint ?? method.toUpperCase() === 'GET'
  const { members, file } = answer ?? {}
  return (
    answer !== undefined && reads && file === undefined && (members === undefined || members.some(isOfList))
  )
}

function isOfList(path: string): boolean {
  return /\[\]|\*|^\$$/.test(path)
}

/** The input schema with the property that says where to begin in a long list. */
function withItemsFrom(inputSchema: JsonSchema, request: RequestDescription): JsonSchema {
  const properties = isRecord(inputSchema.properties) ? inputSchema.properties : {}
  if (!goesOn(request)) return inputSchema
  if (Object.hasOwn(properties, ITEMS_FROM))
    throw new Refusal(`request.input_schema describes "${ITEMS_FROM}", which request.answer adds.`)
  const property = {
    type: 'integer',
    minimum: 0,
    description: 'Where to go on in a list that `cut` says was cut',
  }
  return { ...inputSchema, properties: { ...properties, [ITEMS_FROM]: property } }
}

/** The input schema with the property that says where to begin in long texts. */
function withLongTexts(inputSchema: JsonSchema, { answer }: RequestDescription): JsonSchema {
  if (answer?.longTexts === undefined) return inputSchema
  const { from, limit } = answer.longTexts
  const properties = isRecord(inputSchema.properties) ? inputSchema.properties : {}
  if (Object.hasOwn(properties, from))
    throw new Refusal(`request.input_schema describes ${quote(from)}, which request.answer.long_texts adds.`)
  const property = {
    type: 'integer',
    minimum: 0,
    description: `Where to go on in texts of more than ${limit} characters, of which a part is answered at a time`,
  }
  return { ...inputSchema, properties: { ...properties, [from]: property } }
}

function requirementsOf(
  { authorization = [] }: RequestDescription,
  credentials: readonly Credential[],
): ToolRequirements {
  const secrets = credentials.flatMap((credential) => (credential.kind === 'secret' ? [credential.key] : []))
  const [single] = authorization
  const common = { secrets: [...new Set(secrets)], metadata: [] }
  const requirement = (
    { id, providerId }: Pick<AuthorizationRequirement, 'id' | 'providerId'>,
    scopes: readonly string[],
  ) => ({ ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }), scopes })
  if (single !== undefined && !('secret' in single) && single.alternatives !== undefined) {
    if (authorization.length > 1)
      throw new Refusal('request.authorization has alternatives, which only a single credential can have.')
    const sets = [single.scopes, ...single.alternatives]
    return { authorization: [], alternatives: sets.map((scopes) => [requirement(single, scopes)]), ...common }
  }
  return {
    authorization: authorization.flatMap((one) => ('secret' in one ? [] : [requirement(one, one.scopes)])),
    ...common,
  }
}

function toCredential(authorization: RequestAuthorization): Credential {
  if ('secret' in authorization) {
    const name = authorization.in === 'header' ? authorization.name.toLowerCase() : authorization.name
    if (authorization.in === 'header' && !isCredentialHeader(name))
      throw new Refusal(`The header ${quote(authorization.name)} cannot carry a credential.`)
    return { kind: 'secret', key: authorization.secret, in: authorization.in, name, scheme: 'plain' }
  }
  const { id, providerId, header = 'authorization' } = authorization
  if (!isCredentialHeader(header)) throw new Refusal(`The header ${quote(header)} cannot carry a credential.`)
  const requirement = { ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }) }
  return { kind: 'token', requirement, header: header.toLowerCase() }
}

/** Refuses placeholders that the input schema does not describe: a misspelt one would never be filled. */
function checkPlaceholders(plan: RequestPlan, { properties }: CatalogueTool['inputSchema']): void {
  const known = isRecord(properties) ? Object.keys(properties) : []
  const unknown = usedIn(plan).find((property) => !known.includes(property))
  if (unknown !== undefined)
    throw new Refusal(
      `request has {${unknown}}, which request.input_schema does not describe.${didYouMean(unknown, known)}`,
    )
}

/** The properties of the input that the request is made of. */
function usedIn({ parameters, body, nextPages }: RequestPlan): string[] {
  const ofParameters = parameters.flatMap(({ property, template }) =>
    template === undefined ? [property] : propertiesIn(template),
  )
  const ofBody = body === undefined ? [] : [...propertiesIn(body.template), ...propertiesIn(body.contentType)]
  return [...ofParameters, ...ofBody, ...(nextPages === undefined ? [] : usedIn(nextPages))]
}

/** A tool whose `page` is sent nowhere would answer with the first page again and again. */
function checkPageIsUsed(plan: RequestPlan): void {
  if (plan.answer?.pages?.by === 'link' || usedIn(plan).includes(PAGE)) return
  throw new Refusal('request.pages needs {page} in the request: it is where the page is asked for.')
}
