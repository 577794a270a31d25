import type { AnyJson } from '../any-json.ts'
import type { FakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { oauth2For } from '../flows/fixtures.ts'
import { UserAgent } from '../user-agent.ts'

/** Calls Gatepass as its administrator: an `Installation`, or one `Served` process. */
interface Caller<A extends CallAnswer = CallAnswer> {
  call(method: string, path: string, body?: object): Promise<A>
}

interface CallAnswer {
  readonly status: number
  readonly body: AnyJson
}

/** One authorization, with the browser of its user. */
export interface Flow {
  readonly id: string
  readonly url: string
  readonly user: string
  readonly browser: UserAgent
}

export async function addProvider({ call }: Caller, as: FakeAuthorizationServer): Promise<void> {
  const { status, body } = await call('POST', '/v1/admin/auth_providers', {
    id: 'demo',
    oauth2: oauth2For(as),
  })
  if (status !== 201) throw new Error(`the provider was refused: ${JSON.stringify(body)}`)
}

export function authorize<A extends CallAnswer>({ call }: Caller<A>, user: string): Promise<A> {
  return call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
  })
}

export async function begin(caller: Caller, user = 'ada'): Promise<Flow> {
  const { status, body } = await authorize(caller, user)
  if (body.status !== 'pending') throw new Error(`not begun: ${status} ${JSON.stringify(body)}`)
  return { id: body.id, url: body.url, user, browser: new UserAgent() }
}

/** Clicks and approves; returns the provider's redirect back, which the browser has not followed yet. */
export async function approve({ browser, url }: Flow): Promise<string> {
  const isCallback = ({ pathname }: URL) => pathname.startsWith('/callback/')
  const page = await browser.submitForm(await browser.get(url), {}, { until: isCallback })
  const location = page.hops.at(-1)?.location
  if (location === undefined) throw new Error(`the provider was not reached: ${page.status} ${page.url}`)
  return location
}

export async function connectionOf({ call }: Caller, user: string): Promise<string> {
  const { body } = await call('GET', `/v1/connections?user_id=${encodeURIComponent(user)}`)
  return body.items[0]?.id
}

export async function connect(caller: Caller, user = 'ada'): Promise<string> {
  const { browser, url } = await begin(caller, user)
  await browser.submitForm(await browser.get(url))
  return connectionOf(caller, user)
}

export function fetchToken<A extends CallAnswer>({ call }: Caller<A>, id: string): Promise<A> {
  return call('POST', `/v1/connections/${id}/token`)
}

export async function statusOf({ call }: Caller, id: string): Promise<string> {
  return (await call('GET', `/v1/auth/status?id=${id}`)).body.status
}

export function importTool<A extends CallAnswer>(
  { call }: Caller<A>,
  as: FakeAuthorizationServer,
): Promise<A> {
  return call('POST', '/v1/tools/import', toolMetadata(as))
}

/** How many times a code was sent to the server that had already been sent. */
export function codesSentTwice(as: FakeAuthorizationServer): number {
  const codes = as.tokenRequests('authorization_code').map(({ params }) => params.code)
  return codes.length - new Set(codes).size
}
