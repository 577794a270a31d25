import { type Branding, logoPath, type OwnText } from '../../domain/branding.ts'
import { knownLanguage, type Language } from '../../domain/languages.ts'
import type { Words } from './texts/words.ts'

/** How the pages of a project look. It cannot change the sentences that say who requests which access. */
export interface Brand {
  readonly appName?: string | undefined
  readonly language?: Language | undefined
  /** URLs of this server. */
  readonly logo?: string | undefined
  readonly style?: string | undefined
  readonly privacyUrl?: string | undefined
  readonly supportUrl?: string | undefined
  /** The project's own sentence for a place of its pages: in the page's language if there is one, else in another. */
  note(place: OwnText, words: Words): Note | undefined
}

export interface Note {
  readonly text: string
  readonly language: string
}

export const NO_BRAND: Brand = { note: () => undefined }

export function brandOf(branding: Branding | undefined): Brand {
  if (branding === undefined) return NO_BRAND
  const { appName, lang, styleHash, privacyUrl, supportUrl, texts = {} } = branding
  return {
    appName,
    language: knownLanguage(lang),
    logo: logoPath(branding),
    style: styleHash === undefined ? undefined : `/assets/brand/${styleHash}.css`,
    privacyUrl,
    supportUrl,
    note(place, { language }) {
      const languages = [language, lang ?? 'en', 'en', ...Object.keys(texts)]
      const found = languages.find((one) => Object.hasOwn(texts, one) && texts[one]?.[place] !== undefined)
      const text = found === undefined ? undefined : texts[found]?.[place]
      return found === undefined || text === undefined ? undefined : { text, language: found }
    },
  }
}
