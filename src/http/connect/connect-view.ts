import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep, requestedAccount } from '../../domain/authorization.ts'
import type { Brand } from '../../domain/brand.ts'
import { type Connection, chooseConnection } from '../../domain/connection.ts'
import { missingScopes, unionOfScopes } from '../../domain/scopes.ts'
import { approvedScopes } from '../../flows/approved-scopes.ts'
import { causeOfStored } from '../../flows/causes/explain-connection.ts'
import { findProviderByUid, providerIdentity } from '../../flows/get-provider.ts'
import { describeScopes, type ScopeWords } from '../../providers/catalogue/scope-sentences.ts'
import { hostOf } from '../../providers/provider-endpoints.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ownScopes } from '../../providers/provider-request.ts'
import { userVariables } from '../../providers/variables.ts'
import type { ConnectView, ShownScope, TypedView, ValueField } from '../pages/connect-page.ts'
import { tileLogo } from '../pages/logo-assets.ts'
import type { Words } from '../pages/texts/words.ts'

/** What the user typed into the form, if the form was sent, and a sentence about each fault, by variable. */
export interface TypedValues {
  readonly typed: Readonly<Record<string, string>> | undefined
  readonly faults: ReadonlyMap<string, string>
  /** Why typed credentials were not stored. */
  readonly problem?: TypedView['problem']
}

export const connectPath = ({ id }: Pick<Authorization, 'id'>) => `/connect/${id}`
export const cancelPath = (authorization: Pick<Authorization, 'id'>) => `${connectPath(authorization)}/cancel`

/** The display names of the providers of an authorization, by their entries. */
export async function providerNames(
  broker: Broker,
  { projectId, steps }: Authorization,
  { texts }: Words,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const { providerUid } of steps) {
    const entry = await findProviderByUid(broker, projectId, providerUid)
    names.set(providerUid, entry?.provider.displayName ?? texts.connect.aRemovedProvider)
  }
  return names
}

/** What the connect page shows of an authorization, and what it asks. */
export async function connectView(
  broker: Broker,
  authorization: Authorization,
  {
    words,
    brand,
    names,
    loginAt,
    values,
  }: {
    readonly words: Words
    readonly brand: Brand
    readonly names: ReadonlyMap<string, string>
    readonly loginAt: string | undefined
    readonly values: TypedValues | undefined
  },
): Promise<ConnectView> {
  const { projectId, userId, userDisplay, requester, step, steps, expiresAt } = authorization
  const { providerUid, given } = currentStep(authorization)
  const entry = await findProviderByUid(broker, projectId, providerUid)
  const facts = entry && broker.definitions.describing(entry)?.facts
  const known = await knownConnection(broker, authorization)
  const askedAgain =
    known?.status === 'needs_authorization' ? (await causeOfStored(broker, known.id))?.message : undefined
  return {
    brand,
    requester,
    providerName: names.get(providerUid) ?? '',
    logo: tileLogo(facts?.logo),
    documentation: facts?.documentation,
    userId,
    userDisplay,
    scopes: shownScopes(authorization, entry, { known, words: facts?.scopes, language: words.language }),
    fields: entry === undefined ? [] : fieldsOf(entry, given, values, loginAt !== undefined),
    typed: entry && typedView(broker, entry, values),
    step,
    steps: steps.map((shown) => ({
      providerName: names.get(shown.providerUid) ?? '',
      done: shown.connectionId !== undefined,
    })),
    expiresAt,
    now: broker.now(),
    authorizationId: authorization.id,
    action: connectPath(authorization),
    cancelAction: cancelPath(authorization),
    askedAgain,
    opens: entry === undefined ? '' : hostOf(entry.provider),
    loginAt: loginAt === undefined ? undefined : new URL(loginAt).host,
    ownPage: broker.ownPage(projectId),
  }
}

/** Every scope that the authorization request will carry. */
function shownScopes(
  authorization: Authorization,
  entry: ProviderEntry | undefined,
  {
    known,
    words,
    language,
  }: {
    readonly known: Connection | undefined
    readonly words: ScopeWords | undefined
    readonly language: string
  },
): ShownScope[] {
  const sent = unionOfScopes(currentStep(authorization).scopes, entry ? ownScopes(entry.provider) : [])
  const approved = known && approvedScopes(known, entry?.provider)
  return describeScopes(words, sent, language).map(({ scope, sentence }) => ({
    scope,
    sentence,
    level: sentence?.level,
    sensitive: sentence?.sensitive,
    isAllowed: approved && missingScopes([scope], approved, entry?.provider).length === 0,
  }))
}

/** The connection that the current step renews. */
async function knownConnection(
  broker: Broker,
  authorization: Authorization,
): Promise<Connection | undefined> {
  const { projectId, userId } = authorization
  const account = requestedAccount(authorization)
  if (account === 'new') return undefined
  const { providerUid } = currentStep(authorization)
  return chooseConnection(await broker.store.connections.ofOwner({ projectId, providerUid, userId }), account)
}

function typedView(
  broker: Broker,
  entry: ProviderEntry,
  values: TypedValues | undefined,
): TypedView | undefined {
  const { credentials, api } = entry.provider
  if (credentials === undefined) return undefined
  return {
    hosts: api?.hosts ?? [],
    identity: providerIdentity(broker, entry),
    problem: values?.problem,
  }
}

/**
 * The fields of the values that users are asked for. What the caller gave is shown and not asked for again. Credentials
 * are typed after the login.
 */
function fieldsOf(
  { provider }: ProviderEntry,
  byCaller: Readonly<Record<string, string>> = {},
  { typed, faults }: TypedValues = { typed: undefined, faults: new Map() },
  isLoginNeeded = false,
): readonly ValueField[] {
  const { credentials } = provider
  if (credentials !== undefined && isLoginNeeded) return []
  if (credentials !== undefined)
    return Object.entries(credentials.fields).map(
      ([name, { label = name, example, oneOf, secret = false, multiline = false, helpUrl, max }]) => ({
        name,
        label,
        max,
        isSecret: secret,
        isMultiline: multiline,
        ...(example !== undefined && { example }),
        ...(oneOf !== undefined && { oneOf }),
        ...(helpUrl !== undefined && { helpUrl }),
        // a secret is never written into a page, so it is typed again
        value: secret ? '' : (byCaller[name] ?? typed?.[name] ?? ''),
        isGiven: byCaller[name] !== undefined,
        isWrong: typed !== undefined && faults.has(name),
      }),
    )
  return userVariables(provider).map(([name, { label = name, example, oneOf }]) => ({
    name,
    label,
    ...(example !== undefined && { example }),
    ...(oneOf !== undefined && { oneOf }),
    value: byCaller[name] ?? typed?.[name] ?? '',
    isGiven: byCaller[name] !== undefined,
    // an empty field is no fault before the user has sent the form
    isWrong: typed !== undefined && faults.has(name),
  }))
}
