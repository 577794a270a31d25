import { describe, expect, test } from 'vitest'
import { wordsOf } from '../../src/providers/provider-words.ts'
import { type Scene, type SceneOptions, startScene } from './fixtures.ts'

// The provider's own reason reaches everyone who may have to act: the caller, the user's page, the log, the audit trail.

const SAID = 'AADSTS65001: the admin of "example" must consent first <b>now</b>\r\n\u202enever'
const SHOWN = "AADSTS65001: the admin of 'example' must consent first b now /b never"

async function failed(
  options: SceneOptions,
): Promise<Scene & { readonly id: string; readonly page: string }> {
  const scene = await startScene(options)
  const { id, url, browser, callback } = await scene.approve()
  await browser.follow(callback)
  return Object.assign(scene, { id, page: (await browser.get(url)).body })
}

async function trail(scene: Scene): Promise<string> {
  const { body } = await scene.call('GET', '/v1/admin/audit?user_id=u1')
  return body.items.map(({ detail }: { detail?: string }) => detail).join('\n')
}

describe('the reason that a provider gives is shown', () => {
  test.each<[string, NonNullable<SceneOptions['as']>, string]>([
    ['in the callback', { consent: 'deny', errorDescription: SAID }, 'access_denied'],
    ['by the token endpoint', { exchange: 'invalid_client', errorDescription: SAID }, 'invalid_client'],
    ['of the code', { exchange: 'refuse', errorDescription: SAID }, 'invalid_grant'],
  ])('%s: in the status, on the page, in the log and the trail', async (_, as, reason) => {
    await using scene = await failed({ as })
    const { body } = await scene.status(scene.id)
    expect(body).toMatchObject({ status: 'failed', reason })
    expect(body.message).toContain(`says: "${SHOWN}"`)
    expect(scene.page.replaceAll('&#39;', "'")).toContain(SHOWN)
    expect(scene.gatepass.logLines.join('\n')).toContain(SHOWN)
    expect(await trail(scene)).toContain(SHOWN)
  })

  test.each<[string, NonNullable<SceneOptions['as']>]>([
    ['in the callback', { consent: 'deny' }],
    ['by the token endpoint', { exchange: 'invalid_client' }],
  ])('%s, without what it repeats of our secrets', async (_, as) => {
    const scene = await startScene({ as })
    await using _scene = scene
    const { id, url, browser, callback } = await scene.approve()
    const secrets = [scene.as.clientSecret, callback.searchParams.get('state') ?? '']
    const echo = secrets.map(
      (one) => `${one} ${encodeURIComponent(one)} ${Buffer.from(one).toString('base64')}`,
    )
    const said = `no: ${echo.join(' ')} ${'x'.repeat(500)}`
    if (callback.searchParams.has('error')) callback.searchParams.set('error_description', said)
    scene.as.behaviour.errorDescription = said
    await browser.follow(callback)
    const page = await browser.get(url)
    const everywhere = [
      (await scene.status(id)).body.message,
      page.body,
      scene.gatepass.logLines.join('\n'),
      await trail(scene),
    ]
    for (const text of everywhere) {
      expect(text).toContain('no: [removed]')
      for (const secret of secrets) {
        expect(text).not.toContain(secret)
        expect(text).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''))
      }
      expect(text).not.toContain('x'.repeat(200))
    }
  })
})

describe('the words of a provider', () => {
  test.each<[string | null | undefined, string | undefined]>([
    [undefined, undefined],
    [null, undefined],
    ['', undefined],
    ['\u0000\u001b \u202e', undefined],
    ['Zugriff verweigert für „Ünïcode“ 拒否', "Zugriff verweigert für „Ünïcode' 拒否"],
    ['a\u0000b\u009bc\u2028d\u200be\u2066f', 'a b c d e f'],
    ['<script>alert(1)</script>', 'script alert(1) /script'],
    ['of code 4f9a8b7c6d5e4f3a2b1c0d', 'of code [removed]'],
    ['of code aBcdEfGHiJkLmnOpQrStUvWx', 'of code [removed]'],
    ['InvalidClientSecretException', 'InvalidClientSecretException'],
  ])('%j are %j', (said, shown) => {
    expect(wordsOf(said)).toBe(shown)
  })

  test('are at most 200 characters, whatever is one', () => {
    for (const one of ['a', 'é', '👩', 'ab '])
      expect([...(wordsOf(one.repeat(5_000)) ?? '')].length).toBeLessThanOrEqual(200)
  })

  test('hold no secret in any spelling, nor the start of one where the text is cut', () => {
    const secret = 'p@ss wörd/+é'
    const spellings = [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      new URLSearchParams({ a: secret }).toString().slice(2),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ]
    for (const one of spellings) expect(wordsOf(`is ${one} wrong`, [secret])).toBe('is [removed] wrong')
    expect(wordsOf(`is ${secret.slice(0, 8)}`, [secret])).toBe('is')
  })
})
