/** A colour as `#rrggbb`. */
export type Colour = string

/** Background colours behind links and buttons: the page's, then the card's. They equal `--bg` and `--surface` in `tokens.css`. */
export const BACKGROUNDS = {
  light: ['#f4f5f8', '#ffffff'],
  dark: ['#11141b', '#191d27'],
} as const

/** The least contrast between link text and its background (WCAG 2.2 section 1.4.3). */
const LEAST_TEXT_CONTRAST = 4.5

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: Colour, other: Colour): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** The text colour with the higher contrast to the background, black or white. The contrast is never less than 4.58. */
export function textOn(background: Colour): '#000000' | '#ffffff' {
  return contrast(background, '#ffffff') >= contrast(background, '#000000') ? '#ffffff' : '#000000'
}

/** Whether links in this colour can be read on all backgrounds of the scheme. */
export function isReadable(colour: Colour, scheme: keyof typeof BACKGROUNDS): boolean {
  return BACKGROUNDS[scheme].every((background) => contrast(colour, background) >= LEAST_TEXT_CONTRAST)
}

const STEPS = 100

/** Mixes the colour with the least black (light scheme) or white (dark scheme) that makes it readable. */
export function nearestReadable(colour: Colour, scheme: keyof typeof BACKGROUNDS): Colour {
  const end = scheme === 'light' ? '#000000' : '#ffffff'
  for (let step = 0; step < STEPS; step++) {
    const shade = mixed(colour, end, step / STEPS)
    if (isReadable(shade, scheme)) return shade
  }
  return end
}

/** Mixes two colours. `part` is the share of the second, from 0 to 1. */
export function mixed(colour: Colour, other: Colour, part: number): Colour {
  const [from, to] = [channels(colour), channels(other)]
  const hex = from.map((value, at) => Math.round(value + ((to[at] ?? 0) - value) * part).toString(16))
  return `#${hex.map((digits) => digits.padStart(2, '0')).join('')}`
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channels(colour: Colour): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
}
