import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep } from '../../domain/authorization.ts'
import type { Brand } from '../../domain/brand.ts'
import { sha256 } from '../../domain/ids.ts'
import { causeOfAuthorization } from '../../flows/causes/explain-authorization.ts'
import { installationPage, offeredTo } from '../../flows/choose-offered.ts'
import { shownDevice } from '../../flows/device/shown-device.ts'
import { endingUri, nextUriOf } from '../../flows/ending-uri.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import type { LoginTrouble } from '../../flows/identify-user.ts'
import { choosePage } from '../pages/choose-page.ts'
import { connectPage } from '../pages/connect-page.ts'
import { type EndingView, endingPage } from '../pages/ending-page.ts'
import { type PageStatus, pageHeaders } from '../pages/page-headers.ts'
import { wordsFor } from '../pages/texts/language-of.ts'
import type { Words } from '../pages/texts/words.ts'
import { browserCookies } from './browser-cookies.ts'
import { cancelPath, connectPath, connectView, providerNames, type TypedValues } from './connect-view.ts'
import { showDevice } from './device.ts'
import { addressForBrowser } from './inside-app.ts'
import { popupWindow } from './popup-window.ts'

export interface ShowOptions {
  /** The issuer at which the user must log in before the provider, if any. */
  readonly loginAt?: string | undefined
  /** Why the latest login failed, while the authorization still waits for one. */
  readonly trouble?: LoginTrouble | undefined
  readonly values?: TypedValues
}

/** Answers with the page of the authorization: the connect page while it is pending, else the page of its status. */
export async function showAuthorization(
  c: Context,
  broker: Broker,
  authorization: Authorization,
  { loginAt, trouble, values }: ShowOptions = {},
): Promise<Response> {
  const { words, brand } = await wordsAndBrand(c, broker, authorization)
  const names = await providerNames(broker, authorization, words)
  const { requester, userId, userDisplay = userId } = authorization
  const { providerUid } = currentStep(authorization)
  const providerName = names.get(providerUid) ?? ''
  const browserId = browserCookies(broker).idOf(c)
  const device = trouble === undefined ? shownDevice(broker, authorization, browserId) : undefined
  if (device !== undefined)
    return showDevice(c, broker, authorization, device, { words, brand, providerName })
  if (isStartable(authorization)) {
    const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
    // the click leads to the login or the provider, and cancelling to the caller's page
    const endpoint = entry?.provider.authorizationRequest?.endpoint
    const { verifier } = broker.settings
    // typed credentials lead to the caller's page at once
    const isTyped = entry?.provider.credentials !== undefined
    const confirmedAt = isTyped && verifier.kind === 'caller' ? verifier.url : undefined
    const formTo = [loginAt, endpoint, confirmedAt, nextUriOf(broker, authorization)].filter(
      (target) => target !== undefined,
    )
    pageHeaders(c, { formTo: formTo.map((target) => new URL(target)), hasForm: true })
  }
  const window = await popupWindow(c, broker, authorization)
  if (window !== undefined) pageHeaders(c, { script: 'runs' })
  const nextUri = endingUri(broker, authorization, browserId)
  const about = { providerName, userId: userDisplay, requester, brand }
  const action = connectPath(authorization)
  const ending = (view: EndingView, status: PageStatus = 200) =>
    endingResponse(c, { ...view, brand }, status, words)
  if (trouble !== undefined && isStartable(authorization))
    return ending({ kind: `login_${trouble}`, again: action }, trouble === 'unavailable' ? 503 : 200)
  // the user approved in another browser: this browser is shown the connect page
  const isApprovedElsewhere =
    (authorization.status === 'confirming' || authorization.status === 'confirmed') &&
    (browserId === undefined || sha256(browserId) !== authorization.attempt.browserHash)
  const offered = offeredTo(broker, authorization, browserId)
  if (offered !== undefined) {
    const { provider } = (await findProviderByUid(broker, authorization.projectId, providerUid)) ?? {}
    const { choice, installState } = offered
    const view = {
      words,
      brand,
      providerName: names.get(providerUid) ?? '',
      options: choice?.options ?? [],
      action,
      cancelAction: cancelPath(authorization),
      installAt: installState && provider && installationPage(provider, installState),
    }
    return c.html(choosePage({ ...view, installAt: view.installAt || undefined }))
  }
  if (isApprovedElsewhere || authorization.status === 'pending') {
    const view = await connectView(broker, authorization, { words, brand, names, loginAt, values })
    const forBrowser = await addressForBrowser(c, broker, authorization)
    return c.html(connectPage({ ...view, forBrowser }, words), values?.typed === undefined ? 200 : 400)
  }
  switch (authorization.status) {
    case 'confirming':
      return ending({ kind: 'waiting_for_confirmation', ...about, again: action })
    case 'confirmed':
      return ending({ kind: 'confirmed', ...about, again: action })
    case 'exchanging':
      return ending({ kind: 'working', ...about, lookAgain: action })
    case 'completed': {
      const accounts = await Promise.all(
        authorization.steps.map(({ connectionId = '' }) => broker.store.connections.find(connectionId)),
      )
      const account = accounts
        .map((connection) => connection?.account.name ?? '')
        .filter(Boolean)
        .join(', ')
      const all = [...new Set(names.values())].join(', ')
      const notGranted = [...new Set(authorization.steps.flatMap((step) => step.missingScopes ?? []))]
      const previous = authorization.steps
        .map((step) => step.previousAccount)
        .find((known) => known !== undefined)
      return ending({
        kind: 'completed',
        ...about,
        providerName: all,
        ...(previous && { previousAccount: previous.name || previous.id }),
        ...(account !== '' && { account }),
        ...(notGranted.length > 0 && { notGranted }),
        nextUri,
        window,
      })
    }
    case 'failed': {
      const { reason, message } = authorization
      // the person who sees this page may be the wrong user, so it does not name the right one
      const shownAbout = reason === 'user_mismatch' ? {} : about
      const cause = await causeOfAuthorization(broker, authorization)
      // `message` is written for callers: a user who cancelled reads the page's own sentence
      const shownMessage = cause?.code === 'cancelled' ? {} : { message }
      const status = reason === 'expired' ? 410 : 200
      return ending(
        { kind: 'failed', ...shownAbout, reason, ...shownMessage, ...(cause && { cause }), nextUri, window },
        status,
      )
    }
  }
}

/** The texts of the pages of an authorization or a project, in the right language, and the project's branding. */
export async function wordsAndBrand(
  c: Context,
  broker: Broker,
  { projectId, lang }: { readonly projectId: string; readonly lang?: string | undefined },
): Promise<{ readonly words: Words; readonly brand: Brand }> {
  const brand = await broker.brandOf(projectId)
  return { words: wordsFor(c, { language: lang, project: brand.language }), brand }
}

/** Whether a click may start a new attempt, also while an earlier attempt waits for the confirmation of its user. */
export function isStartable({ status }: Authorization): boolean {
  return status === 'pending' || status === 'confirming' || status === 'confirmed'
}

export function linkNotFound(c: Context): Response | Promise<Response> {
  return endingResponse(c, { kind: 'not_found' }, 404)
}

/** The page for the link of a connect session in another browser than the one in which the application opened it. */
export function openedElsewhere(
  c: Context,
  broker: Broker,
  authorization: Authorization | undefined,
): Promise<Response> {
  return endingOf(c, broker, authorization, { kind: 'opened_elsewhere' }, 403)
}

/** A final page in the language and the look of an authorization or a project; without one, in Gatepass's own look. */
export async function endingOf(
  c: Context,
  broker: Broker,
  of: Parameters<typeof wordsAndBrand>[2] | undefined,
  view: EndingView,
  status: PageStatus,
): Promise<Response> {
  if (of === undefined) return endingResponse(c, view, status)
  const { words, brand } = await wordsAndBrand(c, broker, of)
  return endingResponse(c, { ...view, brand }, status, words)
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
