// The search index, and the search as pages run it: `assets/find.js` is a script for browsers that sets a global.
import MiniSearch, { type Options } from 'minisearch'
import './assets/find.js'
import type { Kind } from './outline.ts'

/** A part of a page, as the search finds it. */
export interface Place {
  readonly id: string
  readonly address: string
  readonly kind: Kind
  readonly title: string
  readonly heading: string
  readonly keywords: string
  readonly content: string
  readonly excerpt: string
}

interface Script {
  readonly OPTIONS: Options<Place>
  find(index: MiniSearch<Place>, question: string): readonly Place[]
}

const { OPTIONS, find } = (globalThis as unknown as { gatepassSearch: Script }).gatepassSearch

export function indexOf(places: readonly Place[]): MiniSearch<Place> {
  const index = new MiniSearch<Place>(OPTIONS)
  index.addAll(places)
  return index
}

export { find }
