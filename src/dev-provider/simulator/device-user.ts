import { VALUE_PREFIX } from '../../http/pages/connect-page.ts'
import { GRANT_FIELD } from '../../http/pages/device-page.ts'
import { CODE_LIFETIME_SECONDS, COMPLETE_MARK, type DeviceEndpoint, INTERVAL } from './device-endpoint.ts'
import { expectThat } from './job-failure.ts'
import { cookiesOf } from './simulated-browser.ts'
import type { SimulatedGatepass } from './simulated-gatepass.ts'

/** What the user does with the code. */
export type CodeAnswer = 'approve' | 'deny' | 'let expire'

/**
 * Acts as the user of a device code (RFC 8628): clicks on the connect page, enters the code at the simulated provider, and
 * answers whose account it is. Expects the provider to be asked as often as it said.
 */
export async function walkThroughCode(
  { browse, clock, poll }: Pick<SimulatedGatepass, 'browse' | 'clock' | 'poll'>,
  devices: () => DeviceEndpoint,
  {
    url,
    usersValues,
    answer,
  }: {
    readonly url: string
    readonly usersValues: Readonly<Record<string, string>>
    readonly answer: CodeAnswer
  },
): Promise<void> {
  const before = await browse(url, {})
  const typed = Object.entries(usersValues).map(([name, value]) => [`${VALUE_PREFIX}${name}`, value])
  const form = new URLSearchParams(typed).toString()
  const clicked = await browse(url, { cookie: cookiesOf(before), form })
  const cookie = cookiesOf(clicked) || cookiesOf(before)
  const code = devices().latest
  expectThat(code !== undefined, `no code is asked for at the click (${clicked.status})`)
  const shown = async (browser: { readonly cookie?: string } = { cookie }) =>
    (await browse(url, browser)).text()
  const page = await shown()
  expectThat(
    page.includes(code.userCode) && page.includes(`href="${code.verificationUri}"`),
    'the page shows no code, or not where to enter it',
  )
  expectThat(!page.includes(COMPLETE_MARK), 'the page has the link with the code in it')
  expectThat(!(await shown({})).includes(code.userCode), 'another browser is shown the code')

  const later = async (seconds: number) => {
    clock.advance(seconds)
    await poll()
    return code.asked
  }
  if (answer === 'let expire') return void (await later(CODE_LIFETIME_SECONDS))
  if (answer === 'deny') {
    devices().enter(code, 'deny')
    return void (await later(INTERVAL))
  }
  expectThat((await later(INTERVAL)) === 1, 'no tokens are asked for after the interval')
  expectThat((await later(INTERVAL)) === 2, 'after authorization_pending, no tokens are asked for again')
  expectThat((await later(INTERVAL)) === 2, 'after slow_down, tokens are asked for as often as before')
  expectThat((await later(INTERVAL)) === 3, 'after slow_down, no tokens are asked for again')
  devices().enter(code, 'approve')
  expectThat((await later(2 * INTERVAL)) === 4, 'the tokens are not fetched once the user has approved')
  const question = await shown()
  const grant = new RegExp(`name="${GRANT_FIELD}" value="([^"]+)"`).exec(question)?.[1]
  expectThat(grant !== undefined, 'the page does not ask whether the account is the user’s')
  const mine = new URLSearchParams({ [GRANT_FIELD]: grant }).toString()
  await browse(`${url}/account/mine`, { cookie, form: mine })
}
