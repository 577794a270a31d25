import { expect } from 'vitest'
import { MENU } from '../../src/http/console/menu.ts'
import type { World } from '../http/world.ts'
import { UserAgent } from '../user-agent.ts'

/** Further pages of the console: searches, and later pages of lists. */
const FURTHER = [
  '?span=30d',
  '/connections?user=USER&status=active',
  '/connections?date=2099-01-01',
  '/users/details?id=USER',
  '/authorizations?user=USER',
  '/authorizations?status=completed',
  '/runs?user=USER&status=completed',
  '/runs?status=failed',
  '/runs?before=exec_z',
  '/keys?after=key_0',
  '/policy/dry-run',
  '/audit?user=USER',
  '/audit?before=10',
  '/audit/1',
]

/**
 * Opens every page of the console's menu and the first page of details that each of them links to, and, with another
 * login, the user's own page.
 */
export async function everyPage(world: World, userId: string): Promise<void> {
  const console = new UserAgent()
  const at = (path: string) => `${world.gatepass.url}/dashboard${path}`
  const show = async (path: string) => {
    const page = await console.get(at(path))
    expect([path, page.status]).toEqual([path, 200])
    return page.body
  }
  await console.submitForm(await console.follow(at('')), { key: world.gatepass.apiKey })
  for (const { path } of MENU.flatMap(({ items }) => items)) {
    const details = new RegExp(`<td>.*?<a href="/dashboard(${path}/[^"]+)"`).exec(await show(path))?.[1]
    if (path !== '' && details !== undefined) await show(details.replaceAll('&amp;', '&'))
  }
  for (const path of FURTHER) await show(path.replace('USER', userId))

  const { body } = await world.call('POST', `/v1/users/${userId}/portal`, { may: ['view', 'export'] })
  const own = new UserAgent()
  const mine = await own.submitForm(await own.follow(body.url))
  expect([mine.status, new URL(mine.url).pathname]).toEqual([200, '/me'])
  expect((await own.get(`${world.gatepass.url}/me/data`)).status).toBe(200)
}
