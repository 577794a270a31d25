import { expect } from 'vitest'
import type { Scene } from './fixtures.ts'

/** Seconds that an access token is valid, by default. */
export const LIFE = 3600

/** The connection of `u1`, as the API answers it. */
export async function connection(scene: Scene) {
  return (await scene.call('GET', '/v1/connections?user_id=u1')).body.items[0]
}

/** The access token of `u1`; fails without one. */
export async function token(scene: Scene): Promise<string> {
  const { status, body } = await scene.authorize()
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.context.token, JSON.stringify(body)).toBeDefined()
  return body.context.token
}

export const asked = ({ as }: Scene): number => as.tokenRequests('refresh_token').length

/** The stored row of the connection of `u1`. */
export async function row(scene: Scene) {
  const { id } = await connection(scene)
  const found = await scene.gatepass.broker.store.connections.find(id)
  if (found === undefined) throw new Error('there is no connection')
  return found
}
