import { VALUE_PREFIX } from '../../http/pages/connect-page.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import type { SimulatedGatepass } from './simulated-gatepass.ts'
import type { Simulator } from './simulator.ts'

/**
 * Acts as the user's browser, which sends cookies: from the connect page to the simulated provider to the callback. Returns
 * its cookies.
 */
export async function walkThroughConsent(
  { browse }: Pick<SimulatedGatepass, 'browse'>,
  simulator: Pick<Simulator, 'authorize'>,
  {
    url,
    usersValues,
    comesBackBy,
  }: {
    readonly url: string
    readonly usersValues: Readonly<Record<string, string>>
    /** The authorization response is a redirect, or a form that the browser posts (`response_mode=form_post`). */
    readonly comesBackBy: 'redirect' | 'form'
  },
): Promise<string> {
  const page = await browse(url, {})
  // the connect page redirects at once, unless it first asks the user for values
  const typed = Object.entries(usersValues).map(([name, value]) => [`${VALUE_PREFIX}${name}`, value])
  const hasForm = page.status === 200 && typed.length > 0
  const form = new URLSearchParams(typed).toString()
  const opened = hasForm ? await browse(url, { cookie: cookiesOf(page), form }) : page
  const toProvider = opened.headers.get('location')
  expectThat(toProvider !== null, `the link does not lead to the provider (${opened.status})`)
  const cookie = cookiesOf(opened) || cookiesOf(page)
  await approve({ browse }, simulator, { toProvider, cookie, comesBackBy })
  return cookie
}

/** From the provider's page to the callback. */
export async function approve(
  { browse }: Pick<SimulatedGatepass, 'browse'>,
  simulator: Pick<Simulator, 'authorize'>,
  {
    toProvider,
    cookie,
    comesBackBy,
  }: {
    readonly toProvider: string
    readonly cookie: string
    readonly comesBackBy: 'redirect' | 'form'
  },
): Promise<void> {
  let back: URL
  try {
    back = simulator.authorize(new URL(toProvider))
  } catch (error) {
    throw new JobFailure(`the authorization request ${error instanceof Error ? error.message : error}`)
  }
  if (comesBackBy === 'redirect') return void (await browse(back.href, { cookie }))
  const posted = await browse(`${back.origin}${back.pathname}`, { form: back.searchParams.toString() })
  const location = posted.headers.get('location')
  expectThat(location !== null, `the posted authorization response is answered with ${posted.status}`)
  await browse(new URL(location, back).href, { cookie })
}

export function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1).join(''))
    .join('; ')
}
