import { once } from 'node:events'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { newPerson, openBrowser } from '../browser.ts'
import { bundleSdk } from './bundle.ts'
import { startSdkWorld } from './sdk-world.ts'

test('the client is under 15 kB minified and compressed, and needs nothing but web standards', async () => {
  const { code, imports } = await bundleSdk('client/gatepass.ts')
  expect(imports).toEqual([])
  expect(code).not.toMatch(/["'`]node:/)
  expect(gzipSync(code).length).toBeLessThan(15_000)
})

test('a page opens the link in a popup, and learns of the consent from its own server', async () => {
  await using world = await startSdkWorld()
  const { code } = await bundleSdk('browser.ts')
  const authorization = await world.client.connect('ada', 'demo')
  const answer = async (path: string | undefined) => {
    switch (path) {
      case '/sdk.js':
        return ['text/javascript', code] as const
      case '/link':
        return ['text/plain', authorization.url] as const
      case '/status':
        return [
          'application/json',
          JSON.stringify(await world.client.authorization(authorization.id, { waitMs: 5_000 })),
        ] as const
      default:
        return ['text/html', PAGE] as const
    }
  }
  const app = createServer(async (request, response) => {
    const [type, text] = await answer(request.url)
    response.setHeader('content-type', type).end(text)
  }).listen(0, '127.0.0.1')
  await once(app, 'listening')
  const address = app.address()
  await using browser = Object.assign(await openBrowser(), { [Symbol.asyncDispose]: () => browser.close() })
  try {
    await using person = await newPerson(browser)
    await person.page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`)
    const [popup] = await Promise.all([person.page.waitForEvent('popup'), person.page.click('button')])
    await popup.waitForURL(/\/connect\//)
    expect(await popup.evaluate(() => window.opener)).toBeNull()
    await popup.getByRole('button').first().click()
    await person.page.waitForSelector('text=popup completed')
    expect(person.complaints).toEqual([])
  } finally {
    app.close()
    app.closeAllConnections()
  }
})

const PAGE = `<!doctype html><link rel="icon" href="data:,"><button>Connect</button><p></p>
<script type="module">
  import { openLink, waitVia } from '/sdk.js'
  document.querySelector('button').onclick = async () => {
    const way = await openLink(fetch('/link').then((response) => response.text()))
    const { status } = await waitVia('/status')
    document.querySelector('p').textContent = way + ' ' + status
  }
</script>`
