/** The languages of the pages that users see. The first is the one that all others are translated from. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

/** The language that a tag means, such as `pt` for `pt-BR`; `undefined` when the pages do not have it. */
export function knownLanguage(tag: string | undefined): Language | undefined {
  const primary = tag?.trim().toLowerCase().split('-', 1)[0]
  return LANGUAGES.find((language) => language === primary)
}
