import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BACKGROUNDS } from '../../src/features/branding/contrast.ts'

const TOKENS = 'src/http/pages/tokens.css'

/** The custom properties that the text sets in each colour scheme, the tokens' text first. */
function colours(text: string): Record<'light' | 'dark', Map<string, string>> {
  const [light = '', dark = ''] = text.split('@media (prefers-color-scheme: dark)')
  const read = (part: string) =>
    new Map([...part.matchAll(/--([\w-]+):\s*(#\w+)/g)].map(([, name = '', value = '']) => [name, value]))
  return { light: read(light), dark: read(dark) }
}

const tokens = colours(readFileSync(TOKENS, 'utf8'))

test('stylesheets use no custom property that nothing sets', () => {
  const files = [...globSync('src/{http,features}/**/*.css'), 'build/docs/assets/site.css']
  const texts = files.map((file) => readFileSync(file, 'utf8')).join('')
  const set = new Set([...texts.matchAll(/(--[\w-]+):/g)].map(([, name]) => name))
  const used = [...texts.matchAll(/var\((--[\w-]+)/g)].map(([, name = '']) => name)
  expect(used.filter((name) => !set.has(name))).toEqual([])
})

test('the sample applications have the colours of the tokens', () => {
  const sample = colours(readFileSync(join('examples', 'sample-pages.ts'), 'utf8'))
  for (const scheme of ['light', 'dark'] as const) {
    expect(sample[scheme].size).toBeGreaterThan(5)
    for (const [name, value] of sample[scheme])
      expect(value, `${name}, ${scheme}`).toBe(tokens[scheme].get(name))
  }
})

test('the contrast of a project’s accent is measured against the backgrounds of the tokens', () => {
  for (const scheme of ['light', 'dark'] as const)
    expect([tokens[scheme].get('bg'), tokens[scheme].get('surface')?.replace(/^#fff$/, '#ffffff')]).toEqual(
      BACKGROUNDS[scheme],
    )
})
