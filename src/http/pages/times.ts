import { html } from 'hono/html'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Html } from './layout.ts'
import type { Words } from './texts/words.ts'

export function day(words: Words, at: EpochSeconds): Html {
  return html`<time datetime="${new Date(at * 1000).toISOString()}">${words.date(at)}</time>`
}

export function moment(words: Words, at: EpochSeconds): Html {
  return html`<time datetime="${new Date(at * 1000).toISOString()}">${words.time(at)}</time>`
}
