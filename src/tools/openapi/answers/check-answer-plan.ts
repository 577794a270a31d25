import { Refusal } from '../../read-json.ts'
import type { AnswerPlan, Condition } from './answer-plan.ts'
import { parsePath } from './member-path.ts'

/** Refuses paths that cannot be read, and pages that lack what their kind needs. Throws `Refusal`. */
export function checkAnswerPlan({
  members = [],
  drop = [],
  foreign = [],
  convert = {},
  file,
  pages,
  errors = {},
}: AnswerPlan): void {
  const { code = [], message = [], details = [], failedIf = [], wait = [] } = errors
  const conditions = [...failedIf, ...(pages?.more === undefined ? [] : [pages.more])]
  const paths = [
    ...[...members, ...drop, ...foreign, ...Object.keys(convert), ...code, ...message, ...details],
    ...conditions.flatMap(pathsOf),
    ...wait.flatMap((one) => ('at' in one ? [one.at] : [])),
    ...(pages?.at === undefined ? [] : [pages.at]),
    ...[file?.at ?? [], file?.name ?? [], file?.contentType ?? []]
      .flat()
      .filter((place) => !/^\{\w+\}$/.test(place)),
  ]
  for (const path of paths) parsePath(path)
  if (pages === undefined) return
  const { by, at, parameters = [], more } = pages
  if (at === undefined && by !== 'number')
    throw new Refusal(`request.pages needs "at" where pages are by ${by}.`)
  if (by === 'link' && parameters.length === 0)
    throw new Refusal('request.pages needs "parameters": those of the link that name the page.')
  if (more === undefined && (by === 'number' || by === 'offset' || by === 'last'))
    throw new Refusal(`request.pages needs "more": without it, pages by ${by} never end.`)
}

function pathsOf(condition: Condition): string[] {
  return 'at' in condition ? [condition.at] : 'lacks' in condition ? [condition.lacks] : []
}
