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
  '/audit?user=USER',
  '/audit?before=10',
  '/audit/1',
]

/** Opens every page of the console's menu and the first page of details that each of them links to. */
export async function everyPage(world: World, userId: string): Promise<void> {
  const show = await openConsole(world)
  for (const { path } of MENU.flatMap(({ items }) => items)) {
    const details = new RegExp(`<td[ >].*?<a href="/dashboard(${path}/[^"]+)"`).exec(await show(path))?.[1]
    if (path !== '' && details !== undefined) await show(details.replaceAll('&amp;', '&'))
  }
  for (const path of FURTHER) await show(path.replace('USER', userId))
}

/** Logs in, and returns what opens a page of the console. */
export async function openConsole(world: World): Promise<(path: string) => Promise<string>> {
  const browser = new UserAgent()
  const at = (path: string) => `${world.gatepass.url}/dashboard${path}`
  await browser.submitForm(await browser.follow(at('')), { key: world.gatepass.apiKey })
  return async (path) => {
    const page = await browser.get(at(path))
    expect([path, page.status]).toEqual([path, 200])
    return page.body
  }
}
