import { html } from 'hono/html'
import { type Html, name } from '../../http/pages/layout.ts'
import type { policyToWire } from './wire-conversion.ts'

// What a policy matches, in words for the console's list.

type Match = ReturnType<typeof policyToWire>['match']

const USES = { tool: 'tools', proxy: 'forwarded requests', token: 'tokens for the caller' } as const
const OWNERS = { user: 'users', project: 'the project' } as const
const HINTS = {
  read_only: 'only read',
  destructive: 'may change or delete',
  open_world: 'reach outside',
} as const
export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

const LISTS = [
  ['users', 'Users'],
  ['tools', 'Tools'],
  ['workers', 'Workers'],
  ['providers', 'Providers'],
  ['scopes', 'Scopes'],
  ['hosts', 'Hosts'],
  ['methods', 'Methods'],
  ['paths', 'Paths'],
] as const

/** Each condition as its name and its values. */
export function matchWords(match: Match): Html {
  const parts = conditionsOf(match)
  if (parts.length === 0) return html`Every use`
  return html`${parts.map(([label, text], i) => html`${i > 0 && html` · `}<span class="muted">${label}</span> ${name(text, { longest: 120 })}`)}`
}

function conditionsOf(match: Match): readonly (readonly [label: string, text: string])[] {
  const { owners, uses, hints, arguments: rules, time, rate, quota } = match
  return [
    ...LISTS.flatMap(([member, label]) => {
      const values = match[member]
      return values === undefined ? [] : [[label, values.join(', ')] as const]
    }),
    ...(owners === undefined
      ? []
      : [['Connections of', owners.map((owner) => OWNERS[owner]).join(', ')] as const]),
    ...(uses === undefined ? [] : [['Uses', uses.map((use) => USES[use]).join(', ')] as const]),
    ...(hints === undefined ? [] : [['Tools that', hints.map((hint) => HINTS[hint]).join(', ')] as const]),
    ...(rules === undefined ? [] : [['Arguments', rules.map(({ at }) => at).join(', ')] as const]),
    ...(time === undefined ? [] : [['Time', timeWords(time)] as const]),
    ...(rate === undefined
      ? []
      : [['More than', `${rate.limit} in ${rate.seconds} s for each ${rate.per}`] as const]),
    ...(quota === undefined
      ? []
      : [['More than', `${quota.limit} runs each ${quota.window} for each ${quota.per}`] as const]),
  ]
}

function timeWords({ days = [], from, to, zone }: NonNullable<Match['time']>): string {
  const names = days.map((day) => DAYS[day - 1]?.slice(0, 3)).join(', ')
  const hours = from === undefined && to === undefined ? '' : `${from ?? '00:00'}–${to ?? '24:00'}`
  return [names, hours, zone ?? 'UTC'].filter(Boolean).join(' ')
}
