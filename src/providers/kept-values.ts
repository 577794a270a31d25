import { isAllowed } from './callback-members.ts'
import type { Provider } from './provider.ts'
import { evaluateText } from './response-map.ts'
import { userVariables, variableFault } from './variables.ts'

/** Values that a provider returned for a connection, by their places in its responses: an entry may rename values. */
export type ToldValues = Readonly<Record<string, string>>

/** The documents in which the provider returns the values of one grant; absent: the document has none. */
export interface GrantDocuments {
  /** The query of the authorization response. It comes through the user's browser. */
  readonly authorizationResponse?: URLSearchParams
  /** The further members of the token response. */
  readonly tokenResponse?: Readonly<Record<string, unknown>> | undefined
  readonly userInfo?: Readonly<Record<string, unknown>> | undefined
  /** The item of the provider's list that the user chose. */
  readonly choice?: unknown
  /** What the user gave for the variables that users are asked for. */
  readonly given?: Readonly<Record<string, string>> | undefined
}

type Keeping = Pick<Provider, 'keptValues' | 'variables'>

/**
 * Reads the values that the entry keeps from the documents of a grant, and adds them to the values `before`. Values
 * that are not allowed are dropped. `undefined`: there is no value.
 */
export function collectValues(
  provider: Keeping,
  documents: GrantDocuments,
  before: ToldValues = {},
): ToldValues | undefined {
  const told: Record<string, string> = { ...before }
  for (const value of Object.values(provider.keptValues ?? {})) {
    const text = textOf(value, documents)
    if (text !== undefined && isAllowed(value, text)) told[keyOf(value)] = text
  }
  for (const [name, variable] of userVariables(provider)) {
    const value = documents.given?.[name]
    if (value !== undefined && variableFault({ ...variable, value }) === undefined)
      told[givenKey(name)] = value
  }
  return Object.keys(told).length > 0 ? told : undefined
}

/**
 * The values of a connection by their names: those that are kept, and those that its user gave. A value that is no
 * longer allowed is left out.
 */
export function keptValuesOf(provider: Keeping, told: ToldValues = {}): Record<string, string> {
  const kept = Object.entries(provider.keptValues ?? {}).flatMap(([name, value]) => {
    const text = Object.hasOwn(told, keyOf(value)) ? told[keyOf(value)] : undefined
    return text !== undefined && isAllowed(value, text) ? [[name, text] as const] : []
  })
  const given = userVariables(provider).flatMap(([name, variable]) => {
    const value = told[givenKey(name)]
    const isGiven = value !== undefined && variableFault({ ...variable, value }) === undefined
    return isGiven ? [[name, value] as const] : []
  })
  return Object.fromEntries([...kept, ...given])
}

/** Reads the named values of an imported connection. `faults`: the names of values that are not allowed. */
export function namedValues(
  provider: Keeping,
  values: Readonly<Record<string, string>>,
): { readonly told: ToldValues; readonly faults: readonly string[] } {
  const told: Record<string, string> = {}
  const faults: string[] = []
  const kept = new Map(Object.entries(provider.keptValues ?? {}))
  const asked = new Map(userVariables(provider))
  for (const [name, text] of Object.entries(values)) {
    const [value, variable] = [kept.get(name), asked.get(name)]
    if (value !== undefined && isAllowed(value, text)) told[keyOf(value)] = text
    else if (variable !== undefined && variableFault({ ...variable, value: text }) === undefined)
      told[givenKey(name)] = text
    else faults.push(name)
  }
  return { told, faults }
}

/** Keeps which installation of the client the connection is for. */
export function keptInstallation(id: string): ToldValues {
  return { [INSTALLATION]: id }
}

/** The installation that `keptInstallation` has kept. */
export function installationIn(told: ToldValues = {}): string | undefined {
  return told[INSTALLATION]
}

/** Differs from every `keyOf` and `givenKey`. */
const INSTALLATION = 'installation'

/** Keeps for which tenant the connection is. */
export function keptTenant(id: string): ToldValues {
  return { [TENANT]: id }
}

/** The tenant that `keptTenant` has kept: the account's id counts within it. */
export function tenantIn(told: ToldValues = {}): string | undefined {
  return told[TENANT]
}

/** Differs from every `keyOf` and `givenKey`. */
const TENANT = 'tenant'

/** The names of the values that the entry keeps of one kind of document. */
export function keptNames({ keptValues = {} }: Keeping, from: KeptValue['from']): string[] {
  return Object.keys(keptValues).filter((name) => keptValues[name]?.from === from)
}

function textOf({ from, at }: KeptValue, documents: GrantDocuments): string | undefined {
  if (from === 'authorization_response') {
    const [value, ...others] = documents.authorizationResponse?.getAll(at) ?? []
    return others.length === 0 ? value : undefined
  }
  const documentOf = {
    token_response: documents.tokenResponse,
    user_info: documents.userInfo,
    choice: documents.choice,
  }
  const value = evaluateText(at, documentOf[from])
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

type KeptValue = NonNullable<Provider['keptValues']>[string]

function keyOf({ from, at }: KeptValue): string {
  return `${from} ${at}`
}

/** Differs from every `keyOf`, which begins with the name of a document. */
function givenKey(name: string): string {
  return `user ${name}`
}
