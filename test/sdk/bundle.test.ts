import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { embedScript } from '../../src/features/embed/generated/embed-script.ts'
import { startGatepass } from '../gatepass.ts'
import { bundleSdk } from './bundle.ts'

test('the client is under 15 kB minified and compressed, and needs nothing but web standards', async () => {
  const { code, imports } = await bundleSdk('client/gatepass.ts')
  expect(imports).toEqual([])
  expect(code).not.toMatch(/["'`]node:/)
  expect(gzipSync(code).length).toBeLessThan(15_000)
})

test('the script of pages is at most 5 kB, needs nothing, and is what Gatepass serves', async () => {
  const { code, imports } = await bundleSdk('browser.ts')
  expect(imports).toEqual([])
  expect(Buffer.byteLength(code)).toBeLessThanOrEqual(5_000)
  expect(gzipSync(code).length).toBeLessThan(2_600)
  expect(embedScript).toBe(code) // npm run embed-script
  await using gatepass = await startGatepass()
  const served = await fetch(`${gatepass.url}/embed/v1.js`)
  expect(await served.text()).toBe(code)
  expect(Object.fromEntries(served.headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  })
  const etag = served.headers.get('etag') ?? ''
  const again = await fetch(`${gatepass.url}/embed/v1.js`, { headers: { 'if-none-match': etag } })
  expect(again.status).toBe(304)
})

test('the script can be imported where there is no page, as servers that render pages do', async () => {
  expect(Object.keys(await import('../../src/sdk/browser.ts')).toSorted()).toEqual(['connect', 'resume'])
})
