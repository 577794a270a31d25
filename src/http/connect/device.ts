import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep } from '../../domain/authorization.ts'
import type { Brand } from '../../domain/brand.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { confirmAccount } from '../../flows/device/confirm-account.ts'
import { awaitDevice, type ShownDevice, shownDevice } from '../../flows/device/shown-device.ts'
import { nextUriOf } from '../../flows/ending-uri.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import type { StartedAttempt } from '../../flows/started-attempt.ts'
import { askedValues, givenFaults } from '../../providers/connection-values.ts'
import { isDeviceGrant } from '../../providers/provider-grant.ts'
import { readForm } from '../endpoint/read-form.ts'
import { accountPage, codePage, GRANT_FIELD } from '../pages/device-page.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import type { Words } from '../pages/texts/words.ts'
import { browserCookies } from './browser-cookies.ts'
import { siteOf } from './site.ts'

// The pages of a device code: the code, and the question about the account, for the browser that clicked alone.

const MAX_WAIT_MS = 20_000

/** The answer of `/connect/:id/device`. `grant`: the form's field of the answer about the account. */
export type TerminalState =
  | { readonly kind: 'account'; readonly account: string; readonly grant: string }
  | {
      readonly kind: 'code'
      readonly user_code: string
      readonly verification_uri: string
      readonly expires_at: string
    }
  /** A POST to the link asks for a code. */
  | { readonly kind: 'click' }
  /** The reasons why the link has to be opened in a browser, or why nothing is left to click. */
  | { readonly kind: 'no_device' | 'login_needed' | 'values_needed' | 'no_click' | 'not_found' }

const pathsOf = ({ id }: Pick<Authorization, 'id'>) => ({
  page: `/connect/${id}`,
  cancel: `/connect/${id}/cancel`,
  waiting: `/connect/${id}/waiting`,
  mine: `/connect/${id}/account/mine`,
  notMine: `/connect/${id}/account/not-mine`,
})

/** Answers with the page of the open code, or of its grant. */
export function showDevice(
  c: Context,
  broker: Broker,
  authorization: Authorization,
  shown: ShownDevice,
  {
    words,
    brand,
    providerName,
  }: { readonly words: Words; readonly brand: Brand; readonly providerName: string },
): Response | Promise<Response> {
  const paths = pathsOf(authorization)
  const about = { brand, requester: authorization.requester, providerName }
  const nextUri = nextUriOf(broker, authorization)
  const { verifier } = broker.settings
  const confirmedAt = verifier.kind === 'caller' ? verifier.url : undefined
  const formTo = [nextUri, confirmedAt]
    .filter((target) => target !== undefined)
    .map((target) => new URL(target))
  if (shown.kind === 'account') {
    pageHeaders(c, { hasForm: true, formTo })
    const { account, grantHash } = shown
    const actions = { mineAction: paths.mine, notMineAction: paths.notMine }
    return c.html(accountPage({ ...about, ...actions, account, grantHash }, words))
  }
  pageHeaders(c, { hasForm: true, formTo, script: 'runs and sends requests' })
  const { kind: _, ...code } = shown
  const view = { ...about, ...code, now: broker.now(), lookAgain: paths.page, waitsAt: paths.waiting }
  return c.html(codePage({ ...view, cancelAction: paths.cancel }, words))
}

/** What the routes of the connect page do for those of a device code. */
export interface DeviceRouteParts {
  readonly find: (id: string) => Promise<Authorization | undefined>
  /** Answers a request that may not go on; `undefined`: it may. */
  readonly refuse: (
    c: Context,
    authorization: Authorization | undefined,
  ) => Response | undefined | Promise<Response | undefined>
  /** The user of this browser's session, if it has one. */
  readonly sessionUserOf: (c: Context, authorization: Authorization) => Promise<string | undefined>
  readonly redirect: (
    c: Context,
    authorization: Authorization,
    browserId: string | undefined,
    start: () => Promise<StartedAttempt>,
  ) => Promise<Response>
}

export function addDevice(
  app: OpenAPIHono,
  broker: Broker,
  { find, refuse, redirect, sessionUserOf }: DeviceRouteParts,
): void {
  const cookies = browserCookies(broker)

  app.get('/connect/:id/waiting', async (c) => {
    pageHeaders(c)
    const authorization = await find(c.req.param('id'))
    const { projectId } = siteOf(c, broker)
    if (authorization === undefined || (projectId ?? authorization.projectId) !== authorization.projectId)
      return c.json({ waiting: false }, 404)
    const how = { ms: MAX_WAIT_MS, owner: 'connect pages', signal: c.req.raw.signal }
    return c.json({ waiting: await awaitDevice(broker, authorization, cookies.idOf(c), how) })
  })

  app.get('/connect/:id/device', async (c) => {
    pageHeaders(c)
    const authorization = await find(c.req.param('id'))
    const { projectId } = siteOf(c, broker)
    if (authorization === undefined || (projectId ?? authorization.projectId) !== authorization.projectId)
      return c.json({ kind: 'not_found' }, 404)
    return c.json(await terminalState(broker, authorization, cookies.idOf(c)))
  })

  for (const [path, answer] of [
    ['mine', 'mine'],
    ['not-mine', 'not mine'],
  ] as const)
    app.post(`/connect/:id/account/${path}`, async (c) => {
      const authorization = await find(c.req.param('id'))
      const refused = await refuse(c, authorization)
      if (refused !== undefined || authorization === undefined) return refused ?? c.body(null, 404)
      const browserId = cookies.idOf(c)
      const shown = (await readForm(c)).get(GRANT_FIELD) ?? undefined
      const sessionUser = await sessionUserOf(c, authorization)
      return redirect(c, authorization, browserId, () =>
        confirmAccount(broker, authorization, { browserId, sessionUser, shown, answer }),
      )
    })
}

/**
 * What a program that takes the place of the browser at a terminal goes on with. As on the page, the code and the account
 * are for the browser that clicked alone.
 */
async function terminalState(
  broker: Broker,
  authorization: Authorization,
  browserId: string | undefined,
): Promise<TerminalState> {
  const shown = shownDevice(broker, authorization, browserId)
  if (shown?.kind === 'account') return { kind: 'account', account: shown.account, grant: shown.grantHash }
  if (shown?.kind === 'code')
    return {
      kind: 'code',
      user_code: shown.userCode,
      verification_uri: shown.verificationUri,
      expires_at: toTimestamp(shown.expiresAt),
    }
  if (authorization.status !== 'pending') return { kind: 'no_click' }
  const { providerUid, given } = currentStep(authorization)
  const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
  if (entry === undefined || !isDeviceGrant(entry.provider)) return { kind: 'no_device' }
  // a terminal cannot log users in
  if (broker.settings.verifier.kind !== 'open') return { kind: 'login_needed' }
  const isAsked = givenFaults(entry.provider, askedValues(entry.provider, given ?? {})).size > 0
  return { kind: isAsked ? 'values_needed' : 'click' }
}

/** Whether users of the current step approve by a code, which is asked for at their click alone. */
export async function isOfDevice(broker: Broker, authorization: Authorization): Promise<boolean> {
  const { providerUid } = currentStep(authorization)
  const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
  return entry !== undefined && isDeviceGrant(entry.provider)
}
