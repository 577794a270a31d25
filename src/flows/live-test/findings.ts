// Compares the behaviour of a provider in a real consent with its definition. It compares only the forms of values
// (`received` of `explain`), so no token, code or secret reaches this file.

import { parseExpression } from '../../providers/response-map.ts'

export interface LiveStep {
  readonly step: string
  readonly outcome: 'ok' | 'differs' | 'failed' | 'not_tried'
  readonly detail: string
}

/** `patch`: the members of `oauth2` that correct the definition. */
export interface Findings {
  readonly steps: readonly LiveStep[]
  readonly patch: Readonly<Record<string, unknown>>
}

/** The members of an entry's `oauth2` that are compared, as the API answers them. */
export interface ComparedDefinition {
  readonly token_request: ComparedBlock
  readonly exchange_request?: ComparedBlock | null | undefined
  readonly refresh_request?: ComparedBlock | null | undefined
  readonly renewal_request?: object | null | undefined
  readonly token_introspection_request?: object | null | undefined
  readonly user_info_request?: object | null | undefined
  readonly default_expires_in?: number | null | undefined
  readonly token_types?: readonly string[] | null | undefined
  readonly rotation?: { readonly kind: string } | null | undefined
}

export interface ComparedBlock {
  readonly expiration_format?: string | null | undefined
  readonly response_map?: Readonly<Record<string, string>> | null | undefined
}

/** The token response of a code exchange, and what was stored of it. */
export interface ObservedConsent {
  readonly received: readonly string[]
  /** Whether the tokens were stored. */
  readonly isStored: boolean
  readonly asked: readonly string[]
  readonly granted: readonly string[]
  readonly missing: readonly string[]
  readonly isAccountRead: { readonly id: boolean; readonly name: boolean }
  readonly userInfo?: readonly string[]
}

export interface ObservedRefresh {
  readonly received: readonly string[]
  /** Whether the refresh has replaced the refresh token. */
  readonly isRotated: boolean
}

type Forms = ReadonlyMap<string, string>
type BlockName = 'token_request' | 'exchange_request' | 'refresh_request'

export function compareConsent(definition: ComparedDefinition, seen: ObservedConsent): Findings {
  const name = definition.exchange_request == null ? 'token_request' : 'exchange_request'
  const block = definition[name] ?? {}
  const forms = formsIn(seen.received)
  const nested = compareNesting(name, block, forms)
  if (nested !== undefined) return nested
  const tokenType = compareTokenType(definition, block, forms)
  if (!seen.isStored) return combineFindings(tokenType)
  return combineFindings(
    tokenType,
    compareScopes(block, forms, seen),
    compareExpiry(definition, name, forms),
    compareRefreshToken(definition, block, forms),
    compareAccount(definition, seen),
  )
}

export function compareRefresh(definition: ComparedDefinition, seen: ObservedRefresh): Findings {
  return combineFindings(
    compareRotation(definition, seen),
    compareExpiry(definition, 'refresh_request', formsIn(seen.received), 'expires_in again'),
  )
}

export function combineFindings(...all: readonly Findings[]): Findings {
  return {
    steps: all.flatMap(({ steps }) => steps),
    patch: Object.assign({}, ...all.map((finding) => finding.patch)),
  }
}

export function finding(
  step: string,
  outcome: LiveStep['outcome'],
  detail: string,
  patch: Findings['patch'] = {},
): Findings {
  return { steps: [{ step, outcome, detail }], patch }
}

function formsIn(received: readonly string[]): Forms {
  return new Map(
    received.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)] as const),
  )
}

/** In place of the form of a value that the definition computes, or finds in a list: no form of it was noted. */
const UNSEEN = 'read by response_map'

/** The form of a standard member, which the definition may locate under another name; `undefined` if the response did not have it. */
function formOf(forms: Forms, { response_map: map }: ComparedBlock, member: string): string | undefined {
  const text = map?.[member]
  if (text === undefined) return forms.get(member)
  const parsed = parseExpression(text)
  if ('fault' in parsed) return UNSEEN
  const { expression } = parsed
  const located = expression.kind === 'join' ? expression.list : expression
  if (located.kind !== 'path' || located.steps.some((step) => typeof step === 'number')) return UNSEEN
  return forms.get(located.steps.join('.'))
}

/** The finding for tokens in a nested object of the response that the definition does not mention. */
function compareNesting(name: BlockName, block: ComparedBlock, forms: Forms): Findings | undefined {
  const map = block.response_map ?? {}
  if (forms.size === 0 || forms.has('access_token') || map.access_token !== undefined) return undefined
  const place = [...forms.keys()].find((key) => key.endsWith('.access_token'))
  if (place === undefined) return undefined
  const outer = place.slice(0, place.indexOf('.') + 1)
  const inside = [...forms.keys()]
    .filter((key) => key.startsWith(outer))
    .map((key) => key.slice(outer.length))
  const unsaid = inside.filter(
    (member) => member !== 'token_type' && !forms.has(member) && map[member] === undefined,
  )
  const found = Object.fromEntries(unsaid.map((member) => [member, `$.${outer}${member}`]))
  return finding('access token', 'differs', `it is in ${place}, which the definition does not say`, {
    [name]: { response_map: { ...map, ...found } },
  })
}

/** Forms of a `token_type` that is not a plain name. */
const NO_NAMES = ['text', 'number', 'boolean', 'list', 'object']

function compareTokenType(definition: ComparedDefinition, block: ComparedBlock, forms: Forms): Findings {
  const type = formOf(forms, block, 'token_type')
  const known = definition.token_types ?? []
  if (type === undefined || type === 'empty' || type === 'null')
    return finding('token type', 'ok', 'none came, which is read as bearer')
  if (type === 'bearer' || type === UNSEEN) return finding('token type', 'ok', type)
  if (known.includes(type)) return finding('token type', 'ok', `${type}, as the definition says`)
  if (NO_NAMES.includes(type))
    return finding('token type', 'differs', 'it is no plain name, so it is not shown; it is not bearer')
  return finding('token type', 'differs', `${type}, which the definition does not take`, {
    token_types: [...known, type],
  })
}

function compareScopes(block: ComparedBlock, forms: Forms, seen: ObservedConsent): Findings {
  const { asked, granted, missing } = seen
  const form = formOf(forms, block, 'scope')
  const words = [SCOPE_FORMS[form ?? ''] ?? `scope came as ${form}`]
  const more = form === undefined ? [] : granted.filter((scope) => !asked.includes(scope))
  words.push(`asked: ${asked.join(' ') || 'none'}`)
  if (form !== undefined) words.push(`granted: ${granted.join(' ') || 'none'}`)
  if (missing.length > 0) words.push(`not granted: ${missing.join(' ')}`)
  if (missing.length > 0 && more.length > 0)
    words.push(
      `if ${more.join(', ')} is what the server calls ${missing.join(', ')}, oauth2.scope_aliases can say so: that cannot be seen`,
    )
  return finding('scopes', missing.length > 0 ? 'differs' : 'ok', words.join('; '))
}

const SCOPE_FORMS: Readonly<Record<string, string>> = {
  '': 'the response names none, so those that were asked for count as granted',
  text: 'the response names them',
  spaces: 'separated by spaces',
  commas:
    'separated by commas, which are always read; scope_delimiter is about requests, and says nothing of this',
  list: 'the response names them in a list, which is always read',
  [UNSEEN]: UNSEEN,
}

/** The expiration format that follows from the form of a value. A lifetime may be in seconds or in milliseconds. */
const SHOWN_FORMATS: Readonly<Record<string, string>> = {
  unix_seconds: 'absolute_unix_timestamp',
  unix_milliseconds: 'absolute_unix_timestamp',
  date: 'iso_8601',
}

function compareExpiry(
  definition: ComparedDefinition,
  name: BlockName,
  forms: Forms,
  step = 'expires_in',
): Findings {
  const block = definition[name] ?? {}
  const format = block.expiration_format ?? 'relative_seconds'
  const form = formOf(forms, block, 'expires_in')
  if (form === UNSEEN) return finding(step, 'ok', UNSEEN)
  if (format === 'access_token_jwt') return finding(step, 'ok', "is not read: the token's exp counts")
  if (form === undefined || form === 'null' || form === 'empty' || form === 'zero') {
    const what = form === undefined ? 'none came' : `it is ${form}`
    if (forms.has('expires_at')) return finding(step, 'ok', `${what}; expires_at is read`)
    if (definition.default_expires_in != null)
      return finding(step, 'ok', `${what}; default_expires_in counts: ${definition.default_expires_in} s`)
    if (definition.token_introspection_request != null)
      return finding(step, 'ok', `${what}; introspection is asked`)
    return finding(
      step,
      'differs',
      `${what}, and the definition has neither default_expires_in nor an introspection: such a token is used until the API refuses it. Its real lifetime cannot be seen`,
    )
  }
  const shown = SHOWN_FORMATS[form]
  if (shown !== undefined && shown !== format)
    return finding(step, 'differs', `it is a time (${form}), the definition says ${format}`, {
      [name]: { expiration_format: shown },
    })
  const isTime = format === 'absolute_unix_timestamp' || format === 'iso_8601'
  if (form === 'number' && isTime)
    return finding(
      step,
      'differs',
      `it is a lifetime, the definition says ${format}; whether in seconds or milliseconds cannot be seen`,
    )
  return shown === undefined && form !== 'number'
    ? finding(step, 'differs', `it is ${form}, which no expiration_format reads`)
    : finding(step, 'ok', `${form}, as ${format}`)
}

function compareRefreshToken(definition: ComparedDefinition, block: ComparedBlock, forms: Forms): Findings {
  const step = 'refresh token'
  const form = formOf(forms, block, 'refresh_token')
  if (form === UNSEEN) return finding(step, 'ok', UNSEEN)
  const came = form === 'text'
  const isUsed = definition.refresh_request != null
  if (came && isUsed) return finding(step, 'ok', 'it came')
  if (came)
    return finding(
      step,
      'differs',
      'it came, and the definition has no refresh_request, so it is never used. The endpoint for it was not seen',
    )
  if (isUsed)
    return finding(
      step,
      'differs',
      'none came, although the definition has refresh_request: the provider may want a scope or a parameter for it (offline_access), or the client may lack the right to it',
    )
  const renewed = definition.renewal_request == null ? '' : '; the access token itself is renewed'
  return finding(step, 'ok', `none came, as the definition says${renewed}`)
}

function compareAccount(
  definition: ComparedDefinition,
  { isAccountRead, userInfo }: ObservedConsent,
): Findings {
  const { id, name } = isAccountRead
  if (id) return finding('account', 'ok', name ? 'id and name were read' : 'its id was read, a name was not')
  if (definition.user_info_request == null)
    return finding('account', 'ok', 'not read: the definition has no user_info_request')
  const names = userInfo === undefined ? 'and had no readable answer' : `which has ${userInfo.join(', ')}`
  return finding('account', 'differs', `no id was read by oauth2.account from the user info, ${names}`)
}

function compareRotation(
  { rotation, refresh_request }: ComparedDefinition,
  { received, isRotated }: ObservedRefresh,
): Findings {
  const kind = rotation?.kind
  const said = kind === undefined ? 'the definition does not say rotation' : `rotation says ${kind}`
  if (isRotated) {
    const unseen = 'whether the used one is still taken cannot be seen without risking the grant'
    return finding(
      'refresh',
      kind === 'none' ? 'differs' : 'ok',
      `a new refresh token came; ${said}; ${unseen}`,
    )
  }
  const form = formOf(formsIn(received), refresh_request ?? {}, 'refresh_token')
  if (form === UNSEEN) return finding('refresh', 'ok', `${UNSEEN}, and not replaced; ${said}`)
  if (form !== 'text')
    return finding('refresh', 'ok', `no refresh token came, so the used one stays; ${said}`)
  const isOther = kind !== undefined && kind !== 'none'
  return finding(
    'refresh',
    isOther ? 'differs' : 'ok',
    `the same refresh token came back; ${said}`,
    isOther ? { rotation: { kind: 'none' } } : {},
  )
}
