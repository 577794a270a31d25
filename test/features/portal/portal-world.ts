import type { PortalRight } from '../../../src/features/portal/domain.ts'
import type { World } from '../../http/world.ts'
import { UserAgent } from '../../user-agent.ts'

/** A one-time link to the user's own page. */
export async function portalLink(
  { call }: Pick<World, 'call'>,
  user: string,
  may?: readonly PortalRight[],
  more: Record<string, unknown> = {},
): Promise<string> {
  const body = { ...(may && { may }), ...more }
  const { status, body: answer } = await call('POST', `/v1/users/${encodeURIComponent(user)}/portal`, body)
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(answer)}`)
  return answer.url
}

/** A browser that such a link has logged in. */
export async function enteredAs(
  world: Pick<World, 'call'>,
  user: string,
  may?: readonly PortalRight[],
  more: Record<string, unknown> = {},
): Promise<UserAgent> {
  const browser = new UserAgent()
  const page = await browser.get(await portalLink(world, user, may, more))
  const entered = await browser.submitForm(page)
  if (!entered.url.endsWith('/me')) throw new Error(`${entered.status} ${entered.url}: ${entered.body}`)
  return browser
}

/** The token in the forms of the page. */
export function csrfIn(body: string): string {
  return /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''
}
