import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep, requestedAccount } from '../../domain/authorization.ts'
import { chooseConnection } from '../../domain/connection.ts'
import { sha256 } from '../../domain/ids.ts'
import { endingUri } from '../../flows/ending-uri.ts'
import { causeOfAuthorization } from '../../flows/explain/explain-authorization.ts'
import { causeOfStored } from '../../flows/explain/explain-connection.ts'
import { findProviderByUid } from '../../flows/find-provider.ts'
import type { LoginTrouble } from '../../flows/identify-user.ts'
import { logoNamed } from '../../providers/catalogue/logos.ts'
import { englishSentence } from '../../providers/catalogue/scope-sentences.ts'
import type { Definition } from '../../providers/definition/read-definition.ts'
import { userVariables } from '../../providers/variables.ts'
import { connectPage, type ValueField } from '../pages/connect-page.ts'
import { type EndingView, endingPage } from '../pages/ending-page.ts'
import { type PageStatus, pageHeaders } from '../pages/page-headers.ts'
import { wordsFor } from '../pages/texts/language-of.ts'
import type { Words } from '../pages/texts/words.ts'
import { browserCookies } from './browser-cookies.ts'
import { popupWindow } from './popup-window.ts'

export interface ShowOptions {
  /** The issuer at which the user must log in before the provider, if any. */
  readonly loginAt?: string | undefined
  /** Why the latest login failed, while the authorization still waits for one. */
  readonly trouble?: LoginTrouble | undefined
  /** What the user typed on the connect page, if it was sent, and what is wrong with it. */
  readonly values?: {
    readonly typed: Readonly<Record<string, string>> | undefined
    readonly faults: ReadonlyMap<string, string>
  }
}

/** Answers with the page of the authorization: the connect page while it is pending, else the page of its state. */
export async function showAuthorization(
  c: Context,
  broker: Broker,
  authorization: Authorization,
  { loginAt, trouble, values }: ShowOptions = {},
): Promise<Response> {
  const names = new Map<string, string>()
  let asked: ReturnType<typeof userVariables> = []
  let facts: Definition['facts'] | undefined
  const formTo = loginAt === undefined ? [] : [new URL(loginAt)]
  for (const { providerUid } of authorization.steps) {
    const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
    names.set(providerUid, entry?.provider.displayName ?? 'a removed provider')
    if (entry !== undefined && providerUid === currentStep(authorization).providerUid) {
      formTo.push(new URL(entry.provider.authorizationRequest.endpoint))
      asked = userVariables(entry.provider)
      facts = broker.definitions.describing(entry)?.facts
    }
  }
  const window = await popupWindow(c, broker, authorization)
  pageHeaders(c, {
    formTo,
    hasForm: isStartable(authorization),
    ...(window !== undefined && { script: 'runs' }),
  })
  const { requester, userId } = authorization
  const browserId = browserCookies(broker).idOf(c)
  const nextUri = endingUri(authorization, browserId)
  const providerName = names.get(currentStep(authorization).providerUid) ?? ''
  const about = { providerName, userId, ...(requester !== undefined && { requester }) }
  const action = `/connect/${authorization.id}`
  if (trouble !== undefined && isStartable(authorization))
    return endingResponse(
      c,
      { kind: `login_${trouble}`, again: action },
      trouble === 'unavailable' ? 503 : 200,
    )
  // another browser's approval does not concern this one, which is shown the connect page
  const isElsewhere =
    (authorization.status === 'confirming' || authorization.status === 'confirmed') &&
    (browserId === undefined || sha256(browserId) !== authorization.attempt.browserHash)
  const connectResponse = async () => {
    const askedAgain = await brokenConnection(broker, authorization)
    return c.html(
      connectPage({
        ...about,
        ...(askedAgain !== undefined && { askedAgain }),
        scopes: currentStep(authorization).scopes,
        meanings: Object.fromEntries(
          Object.entries(facts?.scopes ?? {}).map(([scope, said]) => [scope, englishSentence(said)]),
        ),
        logo: facts?.logo === undefined ? undefined : logoNamed(facts.logo),
        fields: fieldsOf(asked, currentStep(authorization).given, values),
        step: authorization.step,
        steps: authorization.steps.map(({ providerUid, connectionId }) => ({
          providerName: names.get(providerUid) ?? '',
          done: connectionId !== undefined,
        })),
        expiresAt: authorization.expiresAt,
        now: broker.now(),
        action,
        ...(loginAt !== undefined && { loginAt: new URL(loginAt).host }),
      }),
      values?.typed === undefined ? 200 : 400,
    )
  }
  if (isElsewhere) return connectResponse()
  switch (authorization.status) {
    case 'pending':
      return connectResponse()
    case 'confirming':
      return endingResponse(
        c,
        {
          kind: 'waiting_for_confirmation',
          ...about,
          again: action,
        },
        200,
      )
    case 'confirmed':
      return endingResponse(c, { kind: 'confirmed', ...about, again: action }, 200)
    case 'exchanging':
      return endingResponse(c, { kind: 'working', ...about }, 200)
    case 'completed': {
      const accounts = await Promise.all(
        authorization.steps.map(({ connectionId = '' }) => broker.store.connections.find(connectionId)),
      )
      const account = accounts
        .map((one) => one?.account.name ?? '')
        .filter(Boolean)
        .join(', ')
      const all = [...new Set(names.values())].join(', ')
      const notGranted = [...new Set(authorization.steps.flatMap((step) => step.missingScopes ?? []))]
      const before = authorization.steps.map((step) => step.previousAccount).find((one) => one !== undefined)
      return endingResponse(
        c,
        {
          kind: 'completed',
          ...about,
          providerName: all,
          ...(before && { previousAccount: before.name || before.id }),
          ...(account !== '' && { account }),
          ...(notGranted.length > 0 && { notGranted }),
          ...(nextUri !== undefined && { nextUri }),
          window,
        },
        200,
      )
    }
    case 'failed': {
      const { reason, message } = authorization
      // the person who sees this page may be the wrong user, so it does not name the right one
      const whose = reason === 'user_mismatch' ? {} : about
      const cause = await causeOfAuthorization(broker, authorization)
      return endingResponse(
        c,
        {
          kind: 'failed',
          ...whose,
          reason,
          message,
          ...(cause && { cause }),
          ...(nextUri !== undefined && { nextUri }),
          window,
        },
        reason === 'expired' ? 410 : 200,
      )
    }
  }
}

/** Why the connection that the current step renews does not work. */
async function brokenConnection(broker: Broker, authorization: Authorization): Promise<string | undefined> {
  const { projectId, userId } = authorization
  const account = requestedAccount(authorization)
  if (account === 'new') return undefined
  const { providerUid } = currentStep(authorization)
  const known = await broker.store.connections.ofOwner({ projectId, providerUid, userId })
  const broken = chooseConnection(known, account)
  if (broken?.status !== 'needs_authorization') return undefined
  return (await causeOfStored(broker, broken.id))?.message
}

/** The fields of the values that users are asked for. What the caller gave is shown and not asked for again. */
function fieldsOf(
  asked: ReturnType<typeof userVariables>,
  byCaller: Readonly<Record<string, string>> = {},
  { typed, faults }: NonNullable<ShowOptions['values']> = { typed: undefined, faults: new Map() },
): readonly ValueField[] {
  return asked.map(([name, { label = name, example, oneOf }]) => ({
    name,
    label,
    ...(example !== undefined && { example }),
    ...(oneOf !== undefined && { oneOf }),
    value: byCaller[name] ?? typed?.[name] ?? '',
    isGiven: byCaller[name] !== undefined,
    // nothing is wrong with a form that the user has not sent
    ...(typed !== undefined && { fault: faults.get(name) }),
  }))
}

/** Whether a click may start a new attempt. It may while an earlier attempt waits for the confirmation of its user. */
export function isStartable({ status }: Authorization): boolean {
  return status === 'pending' || status === 'confirming' || status === 'confirmed'
}

export function linkNotFound(c: Context): Response | Promise<Response> {
  return endingResponse(c, { kind: 'not_found' }, 404)
}

/** The page of a connect session's link in another browser than the one in which the application opened it. */
export function openedElsewhere(c: Context): Response | Promise<Response> {
  return endingResponse(c, { kind: 'opened_elsewhere' }, 403)
}

export function endingResponse(
  c: Context,
  view: EndingView,
  status: PageStatus,
  words: Words = wordsFor(c),
): Response | Promise<Response> {
  if (c.res.headers.get('content-security-policy') === null) pageHeaders(c)
  return c.html(endingPage(view, words), status)
}
