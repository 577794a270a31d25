import { createHash } from 'node:crypto'
import { operationForm } from '../../http/console/operation-form.ts'
import type { Policy } from './domain.ts'
import { createPolicy, updatePolicy } from './operations.ts'
import { policyToWire } from './wire.ts'

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const LAYOUT = {
  description: 'Description',
  enabled: {
    label: 'State',
    choices: [
      ['true', 'In force'],
      ['false', 'Not in force'],
    ],
  },
  effect: {
    label: 'Effect',
    hint: '',
    initial: 'deny',
    choices: [
      ['deny', 'Deny: refuses what it matches'],
      ['allow', 'Allow: what no allow rule matches is refused'],
      ['hook', 'Hook: a URL must agree to what it matches'],
    ],
  },
  'match.users': 'Users',
  'match.uses': {
    label: 'What the token is used for',
    choices: [
      ['tool', 'A tool is run with it'],
      ['proxy', 'A request is forwarded with it'],
      ['token', 'It is handed to the caller'],
    ],
  },
  'match.time.days': {
    label: 'Days',
    hint: '',
    choices: DAYS.map((day, i) => [String(i + 1), day] as const),
  },
  'match.time.from': { label: 'From', placeholder: '20:00' },
  'match.time.to': {
    label: 'To',
    placeholder: '06:00',
    hint: 'Earlier than “From”: on the next day.',
  },
  'match.time.zone': 'Time zone',
  'match.rate.limit': 'More than this number of uses',
  'match.rate.seconds': 'Within seconds',
  'match.rate.per': { label: 'Counted for each', initial: 'user' },
  'hook.url': { label: 'URL', type: 'url' },
  'hook.secret': 'Secret',
  'hook.timeout_ms': { label: 'Waits for', hint: 'Milliseconds; 2000 unless set.' },
  'hook.on_failure': {
    label: 'If the hook fails',
    hint: '',
    initial: 'deny',
    choices: [
      ['deny', 'Refuse'],
      ['allow', 'Permit'],
    ],
  },
} as const

const SECTIONS = {
  match: {
    title: 'It matches',
    hint: 'Empty fields match every use. One value of a list is enough; * matches any characters.',
    isOpen: true,
  },
  'match.time': { title: 'Only on some days or at some hours' },
  'match.rate': { title: 'Only above a number of uses' },
  hook: { title: 'The hook that is called' },
} as const

export const CREATE = operationForm(
  createPolicy,
  { id: { label: 'Id', hint: 'Refusals name it. Letters, digits, _ . -' }, ...LAYOUT },
  { sections: SECTIONS },
)
export const CHANGE = operationForm(updatePolicy, LAYOUT, { sections: SECTIONS, isRecord: true })

/** The form of an existing policy, filled in. */
export function valuesOf(policy: Policy): URLSearchParams {
  const values = CHANGE.valuesOf(policyToWire(policy))
  values.set('version', versionOf(policy))
  return values
}

/**
 * A digest of the policy from which a form was filled: if it differs when the form is sent, there is a newer change.
 */
export function versionOf(policy: Policy): string {
  return createHash('sha256')
    .update(JSON.stringify(policyToWire(policy)))
    .digest('base64url')
}
