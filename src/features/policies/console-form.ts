import { createHash } from 'node:crypto'
import { operationForm } from '../../http/console/operation-form.ts'
import { DAYS } from './console-match.ts'
import type { Effect, Policy } from './domain.ts'
import { createPolicy, updatePolicy } from './operations.ts'
import { policyToWire } from './wire-conversion.ts'

const LAYOUT = {
  description: 'Description',
  effect: {
    label: 'Effect',
    hint: '',
    initial: 'deny',
    choices: [
      ['deny', 'Deny: refuses what it matches'],
      ['allow', 'Allow: what no allow rule matches is refused'],
      ['hook', 'Hook: a URL must agree to what it matches'],
      ['approve', 'Approve: a person must approve what it matches'],
    ],
  },
  enabled: {
    label: 'State',
    choices: [
      ['true', 'In force'],
      ['false', 'Not in force'],
    ],
  },
  'match.users': { label: 'Users', hint: 'Such as ada or *@example.com.' },
  'match.tools': { label: 'Tools', hint: 'By any of their names, such as GitHub.Delete*.' },
  'match.providers': { label: 'Providers', hint: 'Their IDs, such as github.' },
  'match.owners': {
    label: 'Whose connection is used',
    hint: 'Where that is not known, a rule that allows does not match; all others do.',
    choices: [
      ['user', 'The user’s own'],
      ['project', 'One that the project shares'],
    ],
  },
  'match.scopes': {
    label: 'Scopes',
    hint: 'What the token may do, such as repo. API keys and passwords have no scopes: a rule that allows by scopes refuses them, and one that denies by scopes misses them. Name their providers in place of scopes.',
  },
  'match.uses': {
    label: 'What the token is used for',
    choices: [
      ['tool', 'A tool is run with it'],
      ['proxy', 'A request is forwarded with it'],
      ['token', 'It is handed to the caller'],
    ],
  },
  'match.hints': {
    label: 'What the tool does',
    hint: 'By its annotations. A tool without any counts as destructive and open.',
    choices: [
      ['read_only', 'It only reads'],
      ['destructive', 'It may change or delete something'],
      ['open_world', 'It reaches something outside'],
    ],
  },
  'match.arguments': {
    label: 'Conditions, all of which must hold',
    hint: 'Such as [{"at": "/to", "as": "email", "not": {"domains": ["acme.com"]}}].',
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
  'match.quota.limit': 'More than this number of runs',
  'match.quota.per': { label: 'Counted for each', initial: 'user' },
  // without choices of its own, so that a rule without a quota leaves it open
  'match.quota.window': { label: 'In one calendar', initial: 'day' },
  'match.quota.zone': 'Time zone',
  'hook.url': { label: 'URL', type: 'url' },
  'hook.format': {
    label: 'Format',
    hint: '',
    initial: 'arcade',
    choices: [
      ['arcade', 'Hook: the URL answers {"code": "OK"}'],
      ['authzen', 'AuthZEN: the URL is a policy decision point’s'],
    ],
  },
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
  'approve.by': {
    label: 'Approved by',
    hint: '"user", "user_in_client", or {"group": "security", "count": 1}.',
  },
  'approve.expires_seconds': { label: 'The question waits', hint: 'Seconds; 600 unless set.' },
  'approve.use_within_seconds': { label: 'The approval counts', hint: 'Seconds; 600 unless set.' },
  'approve.remember': {
    label: 'The approver may choose',
    hint: '',
    choices: [
      ['once', 'This call only'],
      ['hour', 'One hour'],
      ['standing', 'Until it is taken back'],
    ],
  },
} as const

/** A section that only rules of these effects may have. */
function effects(...values: readonly Effect[]) {
  return { field: 'effect', values }
}

const SECTIONS = {
  match: {
    title: 'What it matches',
    hint: 'Fill in only what the rule is about: a use has to match every field that is filled in, and an empty one does not matter. In a list one value is enough, and * stands for any characters.',
    isOpen: true,
  },
  'match.arguments': { title: 'Only with some arguments of the tool' },
  'match.hosts': {
    title: 'Only on some workers, hosts, methods or paths',
    also: ['match.workers', 'match.methods', 'match.paths'],
  },
  'match.time': { title: 'Only on some days or at some hours' },
  'match.rate': { title: 'Only above a rate of uses', only: effects('deny', 'hook') },
  'match.quota': { title: 'Only above a quota of runs', only: effects('deny', 'approve') },
  hook: { title: 'Which hook is called', only: effects('hook') },
  approve: { title: 'Who approves', only: effects('approve') },
} as const

export const CREATE = operationForm(
  createPolicy,
  { id: { label: 'ID', hint: 'Shown in refusals. Letters, digits, _ . -' }, ...LAYOUT },
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
