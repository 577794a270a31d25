import type { Broker } from '../broker.ts'
import {
  type Attempt,
  type AttemptSecrets,
  type Authorization,
  authorizationAt,
  type Pending,
} from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'
import type { Provider } from '../providers/provider.ts'
import { fillUrl } from '../providers/variables.ts'
import { mayClick, type OpenerOf } from '../services/openers.ts'
import { UnsealError } from '../store/seal.ts'
import { failAsAnotherUser } from './another-user.ts'
import { openAttemptSecrets } from './attempt-secrets.ts'
import { recordRefusal } from './authorization-audit.ts'
import { completeAuthorization } from './complete-authorization.ts'
import { openHeldGrant } from './held-grant.ts'
import { CHOICE } from './offer-choice.ts'
import { responseOf } from './typed-grant.ts'

// What the browser that approved is asked on our page, and what it answers.

/** What the page of this authorization has to ask the browser; `undefined` for any other browser. */
export function offeredTo(
  broker: Broker,
  authorization: Authorization,
  browserId: string | undefined,
): Pick<AttemptSecrets, 'choice' | 'installState' | 'given'> | undefined {
  if (authorization.status !== 'pending' || authorization.attempt === undefined) return undefined
  if (browserId === undefined || sha256(browserId) !== authorization.attempt.browserHash) return undefined
  const { choice, installState, given } = secretsOf(broker, authorization, authorization.attempt)
  if (choice === undefined && installState === undefined) return undefined
  return { ...(choice && { choice }), ...(installState && { installState }), ...(given && { given }) }
}

/** Without any if they were altered: the attempt cannot go on then. */
function secretsOf(broker: Broker, authorization: Pending, attempt: Attempt): Partial<AttemptSecrets> {
  try {
    return openAttemptSecrets(broker, authorization, attempt)
  } catch (error) {
    if (error instanceof UnsealError) return {}
    throw error
  }
}

export type Chosen =
  | { readonly outcome: 'current'; readonly authorization: Authorization }
  /** Another browser than the one that approved, or one that was offered nothing of that id. Nothing was changed. */
  | { readonly outcome: 'wrong_browser' }

/** Stores the connection of the installation or tenant that the browser chose. */
export async function chooseOffered(
  broker: Broker,
  authorization: Authorization,
  {
    chosen,
    browserId,
    sessionUser,
    openerOf,
  }: {
    readonly chosen: string
    readonly browserId: string | undefined
    readonly sessionUser: string | undefined
    readonly openerOf: OpenerOf
  },
): Promise<Chosen> {
  const offered = offeredTo(broker, authorization, browserId)?.choice
  const isOffered = offered?.options.some(({ id }) => id === chosen) === true
  if (!isOffered || !(await mayClick(broker, authorization, openerOf))) {
    await recordRefusal(broker, authorization, 'wrong_browser')
    return { outcome: 'wrong_browser' }
  }
  if (sessionUser !== undefined && sessionUser !== authorization.userId)
    return { outcome: 'current', authorization: await failAsAnotherUser(broker, authorization) }
  const { attempt, granted } = authorization as Pending // `offeredTo` has checked it
  const completed = await completeAuthorization(broker, {
    from: 'pending',
    stateHash: attempt?.stateHash ?? '',
    response: () => {
      const answer = new URLSearchParams({ [CHOICE]: chosen })
      if (granted === undefined) return answer
      // the parameters of the authorization response come first, so that none of them takes the place of ours
      const { grant, response } = openHeldGrant(broker, authorization, granted)
      for (const [name, value] of [...responseOf(grant), ...answer]) response.set(name, value)
      return response
    },
  })
  if (completed !== undefined) return { outcome: 'current', authorization: completed }
  const found = (await broker.store.authorizations.find(authorization.id)) ?? authorization
  return { outcome: 'current', authorization: authorizationAt(found, broker.now()) }
}

/** Where people install the client, with the state that brings them back; `undefined` if the entry does not know it. */
export function installationPage(provider: Provider, state: string): URL | undefined {
  const page = pageOf(provider, provider.installationUri)
  page?.searchParams.set(provider.stateParameter ?? 'state', state)
  return page
}

/** Where people end an installation; `undefined` if the entry does not know it. */
export function installationHelp(provider: Provider): URL | undefined {
  return pageOf(provider, provider.installationHelpUri)
}

function pageOf({ variables }: Provider, template: string | undefined): URL | undefined {
  const url = template && fillUrl(template, variables)
  return url && URL.canParse(url) ? new URL(url) : undefined
}
