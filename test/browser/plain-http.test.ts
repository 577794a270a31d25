import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPerson, openBrowser } from '../browser.ts'
import { startScene } from '../flows/fixtures.ts'
import { listen } from '../loopback.ts'
import { freePort } from '../ports.ts'
import { heading } from './looks-right.ts'

// Development on a network: a name that is no loopback host, without TLS. Browsers then send no Sec-Fetch-Site, so that
// Origin alone tells our own page's click from another site's; `serve` refuses such a public URL.

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

async function startOnLan() {
  const port = await freePort()
  const environment = { GATEPASS_PUBLIC_URL: `http://gatepass.lan:${port}` }
  return startScene({ gatepass: { port, environment, mode: 'development' } })
}

test('over plain http the click on our own page works, and nobody else hears where the user comes from', async () => {
  await using scene = await startOnLan()
  await using person = await newPerson(browser)
  const { page } = person
  const seen: {
    readonly url: string
    readonly referer: string | undefined
    readonly origin: string | undefined
  }[] = []
  person.context.on('request', async (request) => {
    const { referer, origin } = await request.allHeaders()
    seen.push({ url: request.url(), referer, origin })
  })
  const { id, url } = (await scene.authorize()).body
  await page.goto(url)
  await page.getByRole('button', { name: /^Continue to/ }).click()
  expect(await heading(page)).toBe('demo is connected')
  expect((await scene.status(id)).body.status).toBe('completed')

  const to = (part: string) => seen.filter((one) => one.url.includes(part))
  // Playwright tells the headers of a request some time after the request
  await expect.poll(() => to('/connect/').map(({ origin }) => origin)).toContain(new URL(url).origin)
  const atProvider = scene.as.requestsTo('/authorize')
  expect(atProvider).toHaveLength(1)
  expect(atProvider[0]?.headers.referer).toBeUndefined()
  // the callback's address holds a code: no page, not even our own, gets it as a referrer
  for (const { referer } of seen) expect(referer ?? '').not.toMatch(/callback|code=|state=/)
  expect(to('/callback/').every(({ referer }) => referer === undefined)).toBe(true)
})

test('over plain http a form of another site cannot click', async () => {
  await using scene = await startOnLan()
  await using person = await newPerson(browser)
  const { id, url } = (await scene.authorize()).body
  await using evil = await listen((_, res) => {
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<form method="post" action="${url}"><button>Win</button></form>`)
  })
  for (const origin of [evil.url, evil.url.replace('127.0.0.1', 'evil.lan')]) {
    await person.page.goto(origin)
    await person.page.getByRole('button').click()
    expect(await heading(person.page)).toBe('This did not come from our page')
  }
  expect((await scene.status(id)).body.status).toBe('pending')
  expect(scene.as.requestsTo('/authorize')).toEqual([])
})
