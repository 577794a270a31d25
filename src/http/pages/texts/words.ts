import type { EpochSeconds } from '../../../domain/clock.ts'
import type { Language } from '../../../domain/languages.ts'
import { de as clientsDe } from './clients/de.ts'
import { en as clientsEn } from './clients/en.ts'
import { es as clientsEs } from './clients/es.ts'
import { fr as clientsFr } from './clients/fr.ts'
import { ja as clientsJa } from './clients/ja.ts'
import { pt as clientsPt } from './clients/pt.ts'
import { zh as clientsZh } from './clients/zh.ts'
import { de as connectDe } from './connect/de.ts'
import { en as connectEn } from './connect/en.ts'
import { es as connectEs } from './connect/es.ts'
import { fr as connectFr } from './connect/fr.ts'
import { ja as connectJa } from './connect/ja.ts'
import { pt as connectPt } from './connect/pt.ts'
import { zh as connectZh } from './connect/zh.ts'
import { de as endingsDe } from './endings/de.ts'
import { en as endingsEn } from './endings/en.ts'
import { es as endingsEs } from './endings/es.ts'
import { fr as endingsFr } from './endings/fr.ts'
import { ja as endingsJa } from './endings/ja.ts'
import { pt as endingsPt } from './endings/pt.ts'
import { zh as endingsZh } from './endings/zh.ts'
import { de as portalDe } from './portal/de.ts'
import { en as portalEn } from './portal/en.ts'
import { es as portalEs } from './portal/es.ts'
import { fr as portalFr } from './portal/fr.ts'
import { ja as portalJa } from './portal/ja.ts'
import { pt as portalPt } from './portal/pt.ts'
import { zh as portalZh } from './portal/zh.ts'
import { de as startDe } from './start/de.ts'
import { en as startEn } from './start/en.ts'
import { es as startEs } from './start/es.ts'
import { fr as startFr } from './start/fr.ts'
import { ja as startJa } from './start/ja.ts'
import { pt as startPt } from './start/pt.ts'
import { zh as startZh } from './start/zh.ts'
import type { Translation } from './text.ts'

const en = { clients: clientsEn, connect: connectEn, endings: endingsEn, portal: portalEn, start: startEn }

export type Texts = Translation<typeof en>

const TEXTS: Readonly<Record<Language, Texts>> = {
  en,
  de: {
    clients: clientsDe,
    connect: connectDe,
    endings: endingsDe,
    portal: portalDe,
    start: startDe,
  },
  fr: {
    clients: clientsFr,
    connect: connectFr,
    endings: endingsFr,
    portal: portalFr,
    start: startFr,
  },
  es: {
    clients: clientsEs,
    connect: connectEs,
    endings: endingsEs,
    portal: portalEs,
    start: startEs,
  },
  pt: {
    clients: clientsPt,
    connect: connectPt,
    endings: endingsPt,
    portal: portalPt,
    start: startPt,
  },
  ja: {
    clients: clientsJa,
    connect: connectJa,
    endings: endingsJa,
    portal: portalJa,
    start: startJa,
  },
  zh: {
    clients: clientsZh,
    connect: connectZh,
    endings: endingsZh,
    portal: portalZh,
    start: startZh,
  },
}

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

export function wordsOf(language: Language): Words {
  const known = made.get(language)
  if (known !== undefined) return known
  const words = createWords(language, TEXTS[language])
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
