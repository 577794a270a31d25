import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import { expect } from 'vitest'
import type { Person } from '../browser.ts'
import { looksRight } from './looks-right.ts'

// Looks at a page as people with different devices see it. `SCREENSHOTS=/tmp/shots` keeps what they see (`looks-right.ts`).

/** A phone, a tablet, a desktop. */
export const WIDTHS = [390, 768, 1280] as const
export const SCHEMES = ['light', 'dark'] as const

export interface Looking {
  readonly widths?: readonly number[]
  readonly schemes?: readonly (typeof SCHEMES)[number][]
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const axeSource = readFile(axePath, 'utf8')

/**
 * Expects of the page in this person's browser, at each width and in each colour scheme, what `looksRight` expects, and
 * no finding of axe-core: in each scheme at the first width, and in the first scheme at each width.
 */
export async function lookAt(
  person: Person,
  name: string,
  { widths = WIDTHS, schemes = SCHEMES }: Looking = {},
): Promise<void> {
  const { page } = person
  const before = page.viewportSize()
  for (const scheme of schemes) {
    // colours that are still changing would be judged
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    for (const width of widths) {
      await page.setViewportSize({ width, height: 844 })
      await looksRight(person, `${name}-${scheme}`)
      if (width === widths[0] || scheme === schemes[0])
        expect(await findings(person), `${name} at ${width} px, ${scheme}`).toEqual([])
    }
  }
  if (before !== null) await page.setViewportSize(before)
}

/** What axe-core finds wrong on the page, one line each. */
export async function findings({ page }: Person): Promise<string[]> {
  await page.evaluate(await axeSource)
  return page.evaluate(async () => {
    const { axe: tool } = globalThis as unknown as { axe: typeof axe }
    const { violations } = await tool.run(document, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
    )
  })
}

/** The elements that the Tab key reaches, in order, by their accessible text: each shows that it has the focus. */
export async function tabStops({ page }: Person): Promise<string[]> {
  const stops: string[] = []
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(() => {
      const element = document.activeElement
      if (element === null || element === document.body) return undefined
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
      const label = element.getAttribute('aria-label') ?? element.textContent?.trim() ?? ''
      const field = element.getAttribute('name') ?? ''
      return {
        text: label || field,
        seen: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
      }
    })
    if (stop === undefined) break
    expect(stop.seen, `the focus on "${stop.text}" is visible`).toBe(true)
    stops.push(stop.text)
  }
  return stops
}
