import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { gate } from '../gate.ts'
import { startWorld, type World } from '../http/world.ts'
import { lookAt } from './look-at.ts'

let browser: Browser
let world: World
let person: Person
let run: string
let webhook: string
let key: string
/** The TXT records of every name. */
let record: string[] = []

beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld({ gatepass: { lookUpTxt: async () => ({ outcome: 'found', values: record }) } })
  const { call } = world
  await world.connect('ada', ['read'])
  await world.execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'hello' }, keep_content: true })
  run = (await call('GET', '/v1/executions')).body.items[0].id
  await call('POST', '/v1/admin/auth_providers', { id: 'github', provider_id: 'github' })
  await call('POST', '/v1/admin/policies', {
    id: 'no-leaks',
    effect: 'deny',
    match: { tools: ['Demo.Leak'], time: { from: '20:00', to: '06:00' } },
  })
  await call('POST', '/v1/admin/secrets/API_KEY', {
    value: 'secret',
    description: `Of the weather service. ${'The team of the weather service renews it each year in June. '.repeat(4)}`,
  })
  webhook = (await call('POST', '/v1/webhooks', { url: 'https://hooks.example.com/gatepass' })).body.id
  key = (await call('POST', '/v1/admin/keys', { role: 'caller', name: 'backend', rate_limit: 20 })).body.id
  person = await newPerson(browser)
  await logIn(person)
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

const at = (path: string) => `${world.gatepass.url}/dashboard${path}`

async function logIn({ page }: Person, key = world.gatepass.apiKey) {
  await page.goto(at(''))
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(at(''))
}

const TOOL = encodeURIComponent('Demo:EchoWithToken:1.0.0')
const PAGES: readonly (readonly [string, () => string])[] = [
  ['providers', () => '/providers'],
  ['provider', () => '/providers/demo'],
  ['provider-missing', () => '/providers/github'],
  ['catalogue', () => '/catalogue?search=g'],
  ['catalogue-add', () => '/catalogue/zendesk'],
  ['provider-test-account', () => '/providers/demo/test-account'],
  ['tools', () => '/tools'],
  ['tool', () => `/tools/${TOOL}?user=ada`],
  ['tool-try', () => `/tools/${TOOL}/try`],
  ['runs', () => '/runs'],
  ['run', () => `/runs/${run}`],
  ['scheduled', () => '/scheduled'],
  ['chains', () => '/chains'],
  ['workers', () => '/workers'],
  ['worker', () => '/workers/demo'],
  ['worker-new', () => '/worker/new?type=mcp'],
  ['policies', () => '/policies'],
  ['policy-new', () => '/policy/new'],
  ['policy', () => '/policies/no-leaks'],
  ['policy-dry-run', () => '/policy/dry-run'],
  ['keys', () => '/keys'],
  ['key', () => `/keys/${key}`],
  ['secrets', () => '/secrets'],
  ['projects', () => '/projects'],
  ['branding', () => '/branding'],
  ['webhooks', () => '/webhooks'],
  ['webhook', () => `/webhooks/${webhook}`],
  ['audit', () => '/audit'],
  ['audit-entry', () => '/audit/1'],
  ['settings', () => '/settings'],
  ['doctor', () => '/doctor'],
]

describe('every page of the console', () => {
  test.each(PAGES)('%s looks right at every width, in both schemes, to axe too', async (name, path) => {
    const answer = await person.page.goto(at(path()))
    expect(answer?.status()).toBe(200)
    await lookAt(person, `console-${name}`)
  })
})

// One path a page, of what a browser adds: its script, its layout once it was used. What a form does is shown by HTTP.
describe('by hand', () => {
  // forms need a login of the last five minutes, which a busy machine may have spent on the tests before
  beforeEach(async () => {
    await person.page.context().clearCookies()
    await logIn(person)
  })

  test('the form of a policy has the fields of its effect alone', async () => {
    const { page } = person
    await page.goto(at('/policy/new'))
    const titles = ['a rate of uses', 'a quota of runs', 'Which hook', 'Who approves']
    const shown = async (effect: string) => {
      await page.getByLabel('Effect').selectOption(effect)
      const visible = await Promise.all(titles.map((title) => page.getByText(title).isVisible()))
      return titles.filter((_, at) => visible[at])
    }
    expect(await shown('deny')).toEqual(['a rate of uses', 'a quota of runs'])
    expect(await shown('allow')).toEqual([])
    expect(await shown('approve')).toEqual(['a quota of runs', 'Who approves'])
    expect(await shown('hook')).toEqual(['a rate of uses', 'Which hook'])
    await page.getByText('Which hook').click()
    await lookAt(person, 'console-policy-hook')
    await page.getByLabel('URL').fill('https://hooks.example.com/pre')
    await page.getByLabel('ID', { exact: true }).fill('by-owner')
    await page.getByLabel('One that the project shares').check()
    await page.getByLabel('Effect').selectOption('deny')
    await page.getByRole('button', { name: 'Create policy' }).click()
    await page.waitForURL(at('/policies/by-owner'))
    const made = (await world.call('GET', '/v1/admin/policies/by-owner')).body
    expect(made).toMatchObject({ effect: 'deny', match: { owners: ['project'] } })
    expect(made).not.toHaveProperty('hook')
  })

  test('a policy is tried on last week, made, and stays as it is when its form is sent again', async () => {
    const { page } = person
    await page.goto(at('/policy/new'))
    await page.getByLabel('ID', { exact: true }).fill('by-hand')
    await page.getByLabel('Users').fill('ada\neve')
    await page.getByText('Only on some days or at some hours').click()
    await page.getByLabel('Friday').check()
    await page.getByLabel('From').fill('00:00')
    await page.getByLabel('It is handed to the caller').check()
    await page.getByRole('button', { name: 'Try it on last week' }).click()
    expect(await page.locator('.figures').textContent()).toContain('Would have been refused')
    await lookAt(person, 'console-policy-tried')
    await page.getByRole('button', { name: 'Create policy' }).click()
    await page.waitForURL(at('/policies/by-hand'))
    const made = (await world.call('GET', '/v1/admin/policies/by-hand')).body
    expect(made.match).toEqual({ users: ['ada', 'eve'], uses: ['token'], time: { days: [5], from: '00:00' } })
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('status').waitFor()
    const after = (await world.call('GET', '/v1/admin/policies/by-hand')).body
    expect({ ...after, updated_at: '' }).toEqual({ ...made, updated_at: '' })
  })

  test('a dry run says who would have been asked about which uses', async () => {
    const { page } = person
    await world.gatepass.makeKey('approver')
    const ask = { effect: 'approve', approve: { by: { group: 'security', count: 2 } } }
    await world.call('POST', '/v1/admin/policies', { id: 'ask', match: { users: ['ada'] }, ...ask })
    await page.goto(at('/policy/dry-run'))
    await page.getByRole('button', { name: 'Run it on last week' }).click()
    const asked = page.getByRole('table', { name: 'Who would have been asked' })
    expect(await asked.textContent()).toContain('2 people of the group security')
    await lookAt(person, 'console-policy-asked')
    await world.call('DELETE', '/v1/admin/policies/ask')
  })

  test('a secret with a long key is deleted by a button whose label is whole', async () => {
    const { page } = person
    const secret = `KEY_${'OF_THE_WEATHER_SERVICE_'.repeat(4)}`
    await world.call('POST', `/v1/admin/secrets/${secret}`, {
      value: 'secret',
      description: 'For '.repeat(60),
    })
    await page.goto(at('/secrets'))
    const row = page.getByRole('row').filter({ hasText: secret })
    await row.locator('summary').click()
    await lookAt(person, 'console-secret-delete', { widths: [390, 920] })
    await row.getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'detached' })
  })

  test('on a phone the rows of a list are cards, and still a table to a screen reader', async () => {
    await using phone = await newPerson(browser, { width: 390, height: 844 })
    const { page } = phone
    await logIn(phone)
    await page.goto(at('/keys'))
    const heads = await page.getByRole('columnheader').allTextContents()
    expect(heads).toContain('State')
    const row = page.getByRole('row').filter({ hasText: 'backend' })
    const cells = await row.getByRole('cell').evaluateAll((all) =>
      all.map((cell) => ({
        label: getComputedStyle(cell, '::before').content.split('"')[1],
        top: cell.getBoundingClientRect().top,
        isInSight: cell.getBoundingClientRect().right <= document.documentElement.clientWidth,
      })),
    )
    expect(cells.map(({ label }) => label)).toEqual(heads)
    expect(cells.every(({ isInSight }) => isInSight)).toBe(true)
    // the tree of the browser itself: Playwright's roles come from the names of the elements and not of their layout
    const devTools = await page.context().newCDPSession(page)
    const { nodes } = await devTools.send('Accessibility.getFullAXTree')
    const count = (role: string) => nodes.filter((node) => node.role?.value === role).length
    expect([count('table'), count('row'), count('columnheader'), count('cell')]).toEqual([
      1,
      4,
      heads.length,
      3 * heads.length, // one more key than at the start: that of the approver above
    ])
    const byPlace = cells.toSorted((a, b) => a.top - b.top).map(({ label }) => label)
    expect(byPlace.slice(0, 2)).toEqual(['Name', 'State'])
  })

  test('a tool is tried by the form of its schema', async () => {
    const { page } = person
    await page.goto(at(`/tools/${TOOL}`))
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByLabel('User').fill('ada')
    await page.getByLabel(/^count/).fill('many')
    await page.getByRole('button', { name: 'Run it' }).click()
    expect(await page.getByLabel(/^count/).getAttribute('aria-invalid')).toBe('true')
    await lookAt(person, 'console-tool-faulty')
    await page.getByLabel(/^count/).fill('2')
    await page.getByLabel(/^text/).fill('by hand')
    await page.getByRole('button', { name: 'Run it' }).click()
    await page.waitForURL(/runs.exec_/)
    expect(await page.locator('main').textContent()).toContain('by hand')
    await lookAt(person, 'console-run-tried')
  })

  test('the pages of users are looked at in colours that are not saved, and get them with a shade that can be read', async () => {
    const { page } = person
    const colour = (scheme: string) =>
      page
        .locator(`.preview.${scheme} .does`)
        .first()
        .evaluate((one) => getComputedStyle(one).backgroundColor)
    const set = async () => (await world.call('GET', '/v1/admin/projects/default/branding')).body
    await page.goto(at('/branding'))
    await page.getByLabel('Name of your application').fill('Acme Assistant')
    await page.getByLabel('Color on light pages').fill('#ffcc00')
    await page.getByRole('button', { name: 'Preview' }).click()
    expect(await colour('light')).toBe('rgb(255, 204, 0)')
    expect((await set()).accent).toBeUndefined()
    await page.getByRole('button', { name: 'Save with #876c00' }).click()
    await page.getByRole('status').waitFor()
    expect(await set()).toMatchObject({ accent: '#876c00', app_name: 'Acme Assistant' })
    expect(await colour('light')).toBe('rgb(135, 108, 0)')
  })

  test('a logo is uploaded; one that is far too large is refused on a page that says so', async () => {
    const { page } = person
    const PNG =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const upload = async (buffer: Buffer) => {
      await page.goto(at('/branding'))
      await page.getByLabel(/mage$/).setInputFiles({ name: 'logo.jpg', mimeType: 'image/jpeg', buffer })
      await page.getByRole('button', { name: 'Upload logo' }).click()
    }
    await upload(Buffer.alloc(3_000_000))
    expect(await page.locator('main').textContent()).toContain('larger than 64 KiB')
    await upload(Buffer.from(PNG, 'base64'))
    await page.getByRole('status').waitFor()
    const shown = page.getByAltText('The logo')
    expect(await shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1)
    await lookAt(person, 'console-branding-set')
  })

  test('a domain is set, refused without its record, proved with the value that was copied, and removed', async () => {
    const { page } = person
    const click = (button: string) => page.getByRole('button', { name: button, exact: true }).click()
    await page.goto(at('/branding'))
    await page.getByLabel('Host name').fill('auth.acme.example')
    await click('Set domain')
    expect(await page.getByRole('status').textContent()).toContain('Users see it once it is proved')
    await click('Verify')
    expect(await page.getByRole('alert').textContent()).toContain('There is no TXT record at')
    await lookAt(person, 'console-domain-refused', { widths: [390, 1280] })
    record = [(await page.locator('#domain .copy').getByText('gatepass-domain=').textContent()) ?? '']
    await click('Verify')
    await page.getByText('The TXT record was found').waitFor()
    await lookAt(person, 'console-domain-proved', { widths: [390, 1280] })
    await click('Remove')
    await page.getByText('The domain was removed').waitFor()
  })

  test('a key is shown once, and made once if its button is pressed twice', async () => {
    const { page } = person
    await page.goto(at('/keys'))
    const { apiKeys } = world.gatepass.broker.store
    const { add } = apiKeys
    const { opened, open } = gate()
    const adding = vi.spyOn(apiKeys, 'add').mockImplementation(async (...args) => {
      await opened
      return add(...args)
    })
    await page.getByLabel('Name').fill('by hand')
    await page.getByRole('button', { name: 'Create key' }).hover()
    // a click on the locator would wait for the answer
    const press = async () => {
      await page.mouse.down()
      await page.mouse.up()
    }
    await press()
    await expect.poll(() => adding.mock.calls.length).toBe(1)
    await press()
    open()
    await page.locator('.secret').waitFor()
    expect(adding).toHaveBeenCalledTimes(1)
    adding.mockRestore()
    const key = await page.locator('.secret').textContent()
    expect(key).toMatch(/^gp_/)
    await lookAt(person, 'console-key-made')
    await page.getByRole('link', { name: 'Back to the keys' }).click()
    expect(await page.content()).not.toContain(key)
  })
})
