import type { EpochSeconds } from '../../../domain/clock.ts'
import type { Language } from '../../../domain/languages.ts'
import type { Texts } from './generated/texts.ts'
import { readTexts } from './read-texts.ts'

/** The texts and the formats of one language. */
export interface Words {
  /** A language tag (RFC 5646). */
  readonly language: string
  readonly direction: 'ltr' | 'rtl'
  readonly texts: Texts
  /** The text between two sentences: none in languages whose full stop is as wide as a letter. */
  readonly gap: ' ' | ''
  number(value: number): string
  /** A day, such as "21 November 2026". */
  date(at: EpochSeconds): string
  /** A minute in UTC, because the reader’s time zone is unknown. */
  time(at: EpochSeconds): string
  /** "a, b and c" */
  list(values: readonly string[]): string
}

/** The words of one language. Tests give texts of their own, for a language that is written from right to left. */
export function createWords(language: string, texts: Texts): Words {
  const numbers = new Intl.NumberFormat(language)
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  const times = new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  })
  const lists = new Intl.ListFormat(language)
  return {
    language,
    direction: directionOf(language),
    texts,
    gap: /^(ja|zh)\b/.test(language) ? '' : ' ',
    number: (value) => numbers.format(value),
    date: (at) => dates.format(at * 1000),
    time: (at) => times.format(at * 1000),
    list: (values) => lists.format(values),
  }
}

const made = new Map<Language, Words>()

/** The words of one language, whose texts are read when it is first asked for. */
export function wordsOf(language: Language): Words {
  const known = made.get(language)
  if (known !== undefined) return known
  const words = createWords(language, readTexts(language))
  made.set(language, words)
  return words
}

/** In which direction the language is written. Node's types lack `getTextInfo` (ECMA-402, Intl Locale Info). */
function directionOf(language: string): 'ltr' | 'rtl' {
  const locale = new Intl.Locale(language) as Intl.Locale & {
    getTextInfo?(): { readonly direction?: string }
  }
  return locale.getTextInfo?.().direction === 'rtl' ? 'rtl' : 'ltr'
}
