import { html } from 'hono/html'
import type { Findings, LiveStep } from '../../../flows/live-test/findings.ts'
import { type Html, name } from '../../pages/layout.ts'
import { badge, type Tone, table } from '../elements.ts'

const SHOWN: Readonly<Record<LiveStep['outcome'], readonly [text: string, tone: Tone]>> = {
  ok: ['matches', 'good'],
  differs: ['differs', 'wait'],
  failed: ['failed', 'bad'],
  not_tried: ['not tried', 'plain'],
}

/** What each step of the comparison is called, and what to do if it differs and no correction is offered. */
const STEPS: Readonly<Record<string, readonly [label: string, toDo: string]>> = {
  consent: ['Consent', 'Do what it says, then connect the test account again.'],
  'code exchange': [
    'Code for tokens',
    'Compare client id and client secret with the page of the client at the provider, and set them again.',
  ],
  'access token': ['Place of the access token', ''],
  'token type': ['Token type', 'Set oauth2.token_types to the types that the provider documents.'],
  scopes: [
    'Scopes',
    'Allow these scopes to the client at the provider, and check their spelling. Some providers review a client first.',
  ],
  expires_in: [
    'Lifetime of the token',
    'Look the lifetime up in the provider’s documentation, and set oauth2.default_expires_in.',
  ],
  'expires_in again': [
    'Lifetime after a refresh',
    'Set oauth2.default_expires_in to the documented lifetime.',
  ],
  'refresh token': [
    'Refresh token',
    'Allow offline access to the client at the provider, or ask for the scope of it, such as offline_access. Without a refresh token users approve again when the access token ends.',
  ],
  account: ['Account', 'Set oauth2.account to where the provider’s user info has an id.'],
  refresh: ['Refresh', 'Set oauth2.rotation as the provider documents it.'],
}

/** The setting in a correction that belongs to the step. */
const CORRECTED: Readonly<Record<string, string>> = {
  'access token': 'response_map',
  'token type': 'token_types',
  expires_in: 'expiration_format',
  'expires_in again': 'expiration_format',
  refresh: 'rotation',
}

function isCorrectedBy(patch: Findings['patch'], step: string): boolean {
  const setting = CORRECTED[step]
  return setting !== undefined && JSON.stringify(patch).includes(`"${setting}"`)
}

/** The comparison of a real consent with the definition, step by step. */
export function liveView({ steps, patch }: Findings): Html {
  const hasFailed = steps.some(({ outcome }) => outcome === 'failed')
  const differing = steps.filter(({ outcome }) => outcome === 'differs').length
  const sum = hasFailed
    ? 'The test account could not be connected as it should.'
    : differing === 0
      ? 'It works, and everything is as the definition says.'
      : `It works, and ${differing === 1 ? 'one point differs' : `${differing} points differ`} from the definition.`
  const isCorrected = Object.keys(patch).length > 0
  const rows = steps.map(({ step, outcome, detail }) => {
    const [label, otherwise] = STEPS[step] ?? [step, '']
    const toDo = isCorrectedBy(patch, step) ? 'Correct the entry, below.' : otherwise
    const isWrong = outcome === 'differs' || outcome === 'failed'
    return [
      html`<strong>${label}</strong>`,
      badge(...SHOWN[outcome]),
      name(detail, { longest: 1000 }),
      isWrong && toDo !== '' ? toDo : undefined,
    ]
  })
  return html`<p class="note ${hasFailed ? 'bad' : differing > 0 ? 'wait' : 'good'}" role="status">${sum}${isCorrected && ' A correction is below.'}</p>
${table('The consent compared with the definition', ['What', 'Result', 'Found', 'What to do'], rows, '')}`
}
