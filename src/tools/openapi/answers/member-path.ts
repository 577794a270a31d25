import { isRecord } from '../../../parsing/json-record.ts'
import { quote, Refusal } from '../../read-json.ts'

// Paths to members of a JSON value: `a.b`; `a[]` each element of a list and `[]` of a list at the root; `a[0]` and `a[-1]`
// one element; `*` any member; `a[name=From|To]` the elements with one of these names; `\.` a dot within a name; `$` the
// whole value.

export type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'each' }
  | { readonly kind: 'element'; readonly index: number }
  | { readonly kind: 'named'; readonly member: string; readonly values: readonly string[] }

const STEP = /(?:\.|^)(\*)|(?:\.|^)((?:\\.|[^.[\]\\*])+)|\[(-?\d*)\]|\[([\w-]+)=([^\]]+)\]/y

const parsed = new Map<string, readonly Step[]>()
/** Paths come from stored plans, which are many fewer; the bound is for safety. */
const MAX_PARSED = 20_000

/** Throws `Refusal` for a text that is no path. */
export function parsePath(path: string): readonly Step[] {
  const before = parsed.get(path)
  if (before !== undefined) return before
  const steps: Step[] = []
  if (path !== '$') {
    STEP.lastIndex = 0
    while (STEP.lastIndex < path.length) {
      const match = STEP.exec(path)
      if (match === null) throw new Refusal(`${quote(path)} is not a path to a member of the answer.`)
      const [, any, name, index, member, values] = match
      if (any !== undefined) steps.push({ kind: 'any' })
      else if (name !== undefined) steps.push({ kind: 'member', name: name.replaceAll(/\\(.)/g, '$1') })
      else if (index === '') steps.push({ kind: 'each' })
      else if (index !== undefined) steps.push({ kind: 'element', index: Number(index) })
      else steps.push({ kind: 'named', member: member ?? '', values: (values ?? '').split('|') })
    }
  }
  if (parsed.size >= MAX_PARSED) parsed.clear()
  parsed.set(path, steps)
  return steps
}

/** All values at the path. */
export function valuesAt(value: unknown, path: string): unknown[] {
  return parsePath(path).reduce<unknown[]>(
    (values, step) => values.flatMap((one) => childrenOf(one, step)),
    [value],
  )
}

/** The first value at the first of the paths that has one other than `null`. */
export function firstAt(value: unknown, paths: readonly string[]): unknown {
  for (const path of paths) {
    const [found] = valuesAt(value, path).filter((one) => one !== undefined && one !== null)
    if (found !== undefined) return found
  }
  return undefined
}

function childrenOf(value: unknown, step: Step): readonly unknown[] {
  switch (step.kind) {
    case 'member':
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : []
    case 'any':
      return isRecord(value) ? Object.values(value) : []
    case 'each':
      return Array.isArray(value) ? value : []
    case 'element':
      return Array.isArray(value) && value.length > 0 ? [value.at(step.index)] : []
    case 'named':
      return Array.isArray(value) ? value.filter((element) => hasName(element, step)) : []
  }
}

function hasName(element: unknown, { member, values }: Extract<Step, { kind: 'named' }>): boolean {
  const name = isRecord(element) && Object.hasOwn(element, member) ? element[member] : undefined
  return typeof name === 'string' && values.some((value) => value.toLowerCase() === name.toLowerCase())
}

/** Keeps the members at the paths, each at its own place, and leaves out all others. Elements of lists stay in order. */
export function keepMembers(value: unknown, paths: readonly string[]): unknown {
  return keep(
    value,
    paths.map((path) => parsePath(path)),
  )
}

/** `undefined`: none of the paths leads on from here. */
function keep(value: unknown, paths: readonly (readonly Step[])[]): unknown {
  if (paths.some((path) => path.length === 0)) return value
  if (Array.isArray(value)) {
    const kept = value.flatMap((element, index) => {
      const rest = paths.filter(
        ([step]) => step !== undefined && leadsToElement(step, element, index, value.length),
      )
      const one =
        rest.length === 0
          ? undefined
          : keep(
              element,
              rest.map((path) => path.slice(1)),
            )
      return one === undefined ? [] : [one]
    })
    return kept
  }
  if (!isRecord(value)) return undefined
  const members = Object.entries(value).flatMap(([name, member]) => {
    const rest = paths.filter(
      ([step]) => step?.kind === 'any' || (step?.kind === 'member' && step.name === name),
    )
    const one =
      rest.length === 0
        ? undefined
        : keep(
            member,
            rest.map((path) => path.slice(1)),
          )
    return one === undefined ? [] : [[name, one] as const]
  })
  return Object.fromEntries(members)
}

function leadsToElement(step: Step, element: unknown, index: number, length: number): boolean {
  if (step.kind === 'each') return true
  if (step.kind === 'element') return index === (step.index < 0 ? length + step.index : step.index)
  return step.kind === 'named' && hasName(element, step)
}

/** Leaves out the members at the path, which ends with the name of a member. */
export function dropMembers(value: unknown, path: string): unknown {
  const steps = parsePath(path)
  const last = steps.at(-1)
  if (last?.kind !== 'member') return value
  return changeAt(value, steps.slice(0, -1), (holder) => {
    if (!isRecord(holder)) return holder
    const { [last.name]: _, ...others } = holder
    return others
  })
}

/** Replaces the values at the path by those that `change` makes of them. */
export function changeMembers(value: unknown, path: string, change: (value: unknown) => unknown): unknown {
  return changeAt(value, parsePath(path), change)
}

function changeAt(
  value: unknown,
  [step, ...rest]: readonly Step[],
  change: (value: unknown) => unknown,
): unknown {
  if (step === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((element, index) =>
      leadsToElement(step, element, index, value.length) ? changeAt(element, rest, change) : element,
    )
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]) => {
    const leads = step.kind === 'any' || (step.kind === 'member' && step.name === name)
    return [name, leads ? changeAt(member, rest, change) : member] as const
  })
  return Object.fromEntries(members)
}
