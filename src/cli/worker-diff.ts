import { styleText } from 'node:util'
import { drawnText } from '../domain/untrusted-text.ts'
import { wordChanges } from '../domain/word-changes.ts'
import type { Worker, WorkerAcceptance } from '../sdk/generated/wire.ts'
import { bold, dim, MARKS, print, sanitize } from './print.ts'

type Changed = NonNullable<WorkerAcceptance['changed']>[number]
type Difference = NonNullable<Changed['diff']>[number]

/** Prints the definitions of a worker that wait, word by word; what a server wrote is drawn, so that nothing is unseen. */
export function printDiff({ id, acceptance }: Worker): void {
  const { changed = [], waiting } = acceptance
  if (changed.length === 0) {
    print(`No definitions wait at ${sanitize(id)}.`)
    return
  }
  for (const definition of changed) printChanged(definition)
  print(`→ gatepass workers accept ${sanitize(id)} --digest ${waiting?.digest ?? ''}`)
}

function printChanged({ tool, from, unstable, looks_like, addresses_model = [], diff = [] }: Changed): void {
  print(`${bold(sanitize(tool))}  ${dim(from === undefined ? 'new' : 'changed')}`)
  if (unstable) warn('It has changed and returned to what was accepted: it may change again.')
  if (looks_like !== undefined)
    warn(`Its name looks like ${sanitize(looks_like.tool)} of ${sanitize(looks_like.worker)}.`)
  for (const at of addresses_model) warn(`${drawnText(at)} seems to address the model.`)
  for (const difference of diff) {
    print(`  ${dim(drawnText(difference.at))}`)
    print(indented(changedText(difference)))
  }
  print()
}

function warn(text: string): void {
  print(`  ${MARKS.warning} ${text}`)
}

function changedText({ before, after }: Difference): string {
  return wordChanges(toText(before), toText(after))
    .map(({ kind, text }) => {
      const shown = drawnText(text, { isWhole: false })
      if (kind === 'same') return shown
      return kind === 'removed' ? styleText('red', `[-${shown}-]`) : styleText('green', `{+${shown}+}`)
    })
    .join('')
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
