import type { PagesPlan } from './answer-plan.ts'
import { holds, type Judged } from './condition.ts'
import { firstAt, valuesAt } from './member-path.ts'

/** The property of the input that names a page, and the member of the answer that names the next one. */
export const PAGE = 'page'
export const NEXT_PAGE = 'next_page'

/** In characters. Longer values are no tokens of pages. */
const MAX_PAGE = 4_000

/** What callers send as `page` for the page after this answer; `undefined`: there is none. */
export function nextPage(pages: PagesPlan, answer: Omit<Judged, 'position'>): string | undefined {
  const { by, at = '$', more } = pages
  const position = positionAfter(pages, answer)
  if (more !== undefined && !holds(more, { ...answer, position: by === 'number' ? position - 1 : position }))
    return undefined
  if (by === 'number' || by === 'offset') return more === undefined ? undefined : String(position)
  const found = firstAt(answer.value, [at])
  if (typeof found !== 'string' && typeof found !== 'number') return undefined
  const token = by === 'link' ? linkParameters(String(found), pages) : tokenIn(String(found), pages)
  return token === '' || token === undefined || token.length > MAX_PAGE ? undefined : token
}

/** The number of the next page, or the index at which it begins. */
function positionAfter({ by, at = '$' }: PagesPlan, { value, input }: Omit<Judged, 'position'>): number {
  const page = Number(input[PAGE])
  if (by === 'number') return (Number.isInteger(page) && page > 0 ? page : 1) + 1
  const [list] = valuesAt(value, at)
  return (Number.isInteger(page) && page > 0 ? page : 0) + (Array.isArray(list) ? list.length : 0)
}

function tokenIn(text: string, { after }: PagesPlan): string | undefined {
  if (after === undefined) return text
  const index = text.lastIndexOf(after)
  return index === -1 ? undefined : text.slice(index + after.length)
}

/** Only named parameters of a link are kept: its host and path are not followed. */
function linkParameters(link: string, { parameters = [] }: PagesPlan): string | undefined {
  const base = 'https://link.invalid/'
  if (!URL.canParse(link, base)) return undefined
  const { searchParams } = new URL(link, base)
  const kept = parameters.flatMap((name) => {
    const value = searchParams.get(name)
    return value === null ? [] : [[name, value]]
  })
  return kept.length === 0 ? undefined : new URLSearchParams(kept).toString()
}

/** The parameters of the query for a page of `link`; `undefined`: it is no page that this tool gave. */
export function pageParameters(
  { parameters = [] }: PagesPlan,
  page: string,
): Readonly<Record<string, string>> | undefined {
  if (page.length > MAX_PAGE) return undefined
  const given = [...new URLSearchParams(page)]
  const isKnown = given.length > 0 && given.every(([name]) => parameters.includes(name))
  return isKnown ? Object.fromEntries(given) : undefined
}
