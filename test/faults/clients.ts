import type { FakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { oauth2For } from '../flows/fixtures.ts'
import { UserAgent } from '../user-agent.ts'
import type { Answer, Installation } from './installation.ts'

/** One user's run through a consent. */
export interface Flow {
  readonly id: string
  readonly url: string
  readonly user: string
  readonly browser: UserAgent
}

export async function addProvider({ call }: Installation, as: FakeAuthorizationServer): Promise<void> {
  const { status, body } = await call('POST', '/v1/admin/auth_providers', {
    id: 'demo',
    oauth2: oauth2For(as),
  })
  if (status !== 201) throw new Error(`the provider was refused: ${JSON.stringify(body)}`)
}

export function authorize({ call }: Installation, user: string): Promise<Answer> {
  return call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
  })
}

export async function begin(installation: Installation, user: string): Promise<Flow> {
  const { status, body } = await authorize(installation, user)
  if (body.status !== 'pending') throw new Error(`not begun: ${status} ${JSON.stringify(body)}`)
  return { id: body.id, url: body.url, user, browser: new UserAgent() }
}

/** The user clicks and approves; answers the provider's redirect back, which the browser has not followed yet. */
export async function approve({ browser, url }: Flow): Promise<string> {
  const isCallback = ({ pathname }: URL) => pathname.startsWith('/callback/')
  const page = await browser.submitForm(await browser.get(url), {}, { until: isCallback })
  const location = page.hops.at(-1)?.location
  if (location === undefined) throw new Error(`the provider was not reached: ${page.status} ${page.url}`)
  return location
}

export async function connectionOf({ call }: Installation, user: string): Promise<string> {
  const { body } = await call('GET', `/v1/connections?user_id=${encodeURIComponent(user)}`)
  return body.items[0]?.id
}

export async function connect(installation: Installation, user: string): Promise<string> {
  const { browser, url } = await begin(installation, user)
  await browser.submitForm(await browser.get(url))
  return connectionOf(installation, user)
}

export function fetchToken({ call }: Installation, id: string): Promise<Answer> {
  return call('POST', `/v1/connections/${id}/token`)
}

export async function statusOf({ call }: Installation, id: string): Promise<string> {
  return (await call('GET', `/v1/auth/status?id=${id}`)).body.status
}

export function importTool({ call }: Installation, as: FakeAuthorizationServer): Promise<Answer> {
  return call('POST', '/v1/tools/import', toolMetadata(as))
}

/** How many times a code was sent to the server that had already been sent. */
export function codesSentTwice(as: FakeAuthorizationServer): number {
  const codes = as.tokenRequests('authorization_code').map(({ params }) => params.code)
  return codes.length - new Set(codes).size
}
