import { VALUE_PREFIX } from '../../http/pages/connect-page.ts'
import { expectThat, JobFailure } from './job-failure.ts'
import type { SimulatedGatepass } from './simulated-gatepass.ts'
import type { Simulator } from './simulator.ts'

/** The user's browser, from the link to the page after the callback; its cookies go along. */
export async function walkThroughConsent(
  { browse }: Pick<SimulatedGatepass, 'browse'>,
  playing: Simulator,
  {
    url,
    usersValues,
    comesBackBy,
  }: {
    readonly url: string
    readonly usersValues: Readonly<Record<string, string>>
    /** A redirect, or a form that the provider has the browser post (`response_mode`). */
    readonly comesBackBy: 'redirect' | 'form'
  },
): Promise<void> {
  const page = await browse(url, {})
  // a page that asks for the user's values waits for the click
  const typed = Object.entries(usersValues).map(([name, value]) => [`${VALUE_PREFIX}${name}`, value])
  const isShown = page.status === 200 && typed.length > 0
  const form = new URLSearchParams(typed).toString()
  const opened = isShown ? await browse(url, { cookie: cookiesOf(page), form }) : page
  const toProvider = opened.headers.get('location')
  expectThat(toProvider !== null, `the link does not lead to the provider (${opened.status})`)
  const cookie = cookiesOf(opened) || cookiesOf(page)
  let back: URL
  try {
    back = playing.authorize(new URL(toProvider))
  } catch (error) {
    throw new JobFailure(`the authorization request ${error instanceof Error ? error.message : error}`)
  }
  if (comesBackBy === 'redirect') return void (await browse(back.href, { cookie }))
  const posted = await browse(`${back.origin}${back.pathname}`, { form: back.searchParams.toString() })
  const location = posted.headers.get('location')
  expectThat(location !== null, `the posted authorization response is answered with ${posted.status}`)
  await browse(new URL(location, back).href, { cookie })
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((one) => one.split(';', 1).join(''))
    .join('; ')
}
