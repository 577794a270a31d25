import type { Context } from 'hono'
import { knownLanguage, type Language } from '../../../domain/languages.ts'
import { type Words, wordsOf } from './words.ts'

export interface RequestedLanguage {
  /** The language of the authorization or session, if its caller named one. */
  readonly language?: string | undefined
  /** The language of the project, if its administrator named one. */
  readonly project?: string | undefined
}

/**
 * The words for this request's page: in the language of the query parameter `lang`, else of the authorization or session,
 * else of `Accept-Language`, else of the project, else in English. Sets `Content-Language` and `Vary`.
 */
export function wordsFor(c: Context, requested: RequestedLanguage = {}): Words {
  const words = wordsOf(languageOf(c, requested))
  c.header('content-language', words.language)
  c.header('vary', 'Accept-Language')
  return words
}

export function languageOf(c: Context, { language, project }: RequestedLanguage = {}): Language {
  return (
    knownLanguage(c.req.query('lang')) ??
    knownLanguage(language) ??
    accepted(c.req.header('accept-language') ?? '') ??
    knownLanguage(project) ??
    'en'
  )
}

/** How many characters of the header are read: more than browsers send. */
const LONGEST_HEADER = 500

/** The known language that the reader prefers most (RFC 9110 section 12.5.4). */
function accepted(header: string): Language | undefined {
  const ranges = header
    .slice(0, LONGEST_HEADER)
    .split(',')
    .map((range) => {
      const [tag, ...parameters] = range.split(';')
      const weight = parameters
        .map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(parameter)?.[1])
        .find(Boolean)
      return { language: knownLanguage(tag), weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  return ranges.find(({ language }) => language !== undefined)?.language
}
