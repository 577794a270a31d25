import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Person } from '../browser.ts'

/** Widths of a desktop's window and of a phone. */
export const WIDTHS = [1280, 375] as const
/** `SCREENSHOTS=/tmp/shots vitest run test/browser` writes a screenshot of each page there. */
export const SCREENSHOTS = process.env.SCREENSHOTS

/**
 * Expects one heading, no sideways scrolling, no button whose label breaks inside a word, and nothing that the browser
 * refused to load; takes a screenshot if wanted.
 */
export async function looksRight({ page, complaints }: Person, name: string) {
  await page.waitForLoadState() // a click ends when its page begins
  const { scroll, width } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
  }))
  expect(scroll, `${name}: wider than its window`).toBeLessThanOrEqual(width)
  expect(await brokenLabels(page), `${name}: labels of buttons that break inside a word`).toEqual([])
  expect(complaints.filter((one) => !/status of 4(03|04|10|13|00)|status of 503/.test(one))).toEqual([])
  expect(await page.locator('h1').count(), `${name}: one heading`).toBe(1)
  expect(await page.evaluate(() => document.fonts.status)).toBe('loaded')
  if (SCREENSHOTS !== undefined)
    await page.screenshot({ path: `${SCREENSHOTS}/${name}-${width}.png`, fullPage: name !== 'docs' })
}

/** The words of buttons that are on more than one line. Longer words are names from outside, which may break. */
function brokenLabels(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    for (const button of document.querySelectorAll('button, .button, summary')) {
      const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT)
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
        for (const { 0: word, index } of (text.textContent ?? '').matchAll(/\S{2,16}(?!\S)/g)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)))
          if (lines.size > 1) found.push(word)
        }
    }
    return found
  })
}

/** The heading of the page, once all of it is loaded: a click ends when the page that it leads to begins. */
export async function heading(page: Page): Promise<string | undefined> {
  await page.waitForLoadState()
  return (await page.locator('h1').textContent())?.trim()
}

/** Clicks on *Continue*, and on the answer at the provider if one is given. */
export async function clickThrough(page: Page, answer?: 'Approve' | 'Deny') {
  await page.getByRole('button', { name: /^Continue to/ }).click()
  if (answer !== undefined) await page.getByRole('button', { name: answer }).click()
}

/** Waits for `clicks`, and for the closing of the window that the last of them causes. */
export async function untilClosed(window: Page, clicks: () => Promise<void>): Promise<void> {
  const [closed, clicked] = await Promise.allSettled([window.waitForEvent('close'), clicks()])
  if (closed.status === 'fulfilled') return // Playwright fails a click whose window is gone before it reports the click
  throw clicked.status === 'rejected' ? clicked.reason : closed.reason
}
