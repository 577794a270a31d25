import { type Brand, NO_BRAND } from '../../domain/brand.ts'
import { knownLanguage } from '../../domain/languages.ts'
import type { Store } from '../../store/store.ts'
import { type Branding, logoPath } from './domain.ts'

/** The form of the style sheets, which browsers keep by their URL: raise it when `brandCss` changes. */
const STYLE_VERSION = 2

/** The look of the project's pages. */
export async function findLook({ brandings }: Pick<Store, 'brandings'>, projectId: string): Promise<Brand> {
  return lookOf(await brandings.find(projectId))
}

export function lookOf(branding: Branding | undefined): Brand {
  if (branding === undefined) return NO_BRAND
  const { appName, appUrl, lang, styleHash, privacyUrl, supportUrl, texts = {} } = branding
  return {
    appName,
    appUrl,
    language: knownLanguage(lang),
    logo: logoPath(branding),
    style: styleHash === undefined ? undefined : `/assets/brand/${styleHash}.css?v=${STYLE_VERSION}`,
    privacyUrl,
    supportUrl,
    note(place, language) {
      const languages = [language, lang ?? 'en', 'en', ...Object.keys(texts)]
      const found = languages.find(
        (candidate) => Object.hasOwn(texts, candidate) && texts[candidate]?.[place] !== undefined,
      )
      const text = found === undefined ? undefined : texts[found]?.[place]
      return found === undefined || text === undefined ? undefined : { text, language: found }
    },
  }
}
