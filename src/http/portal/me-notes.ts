import type { Broker } from '../../broker.ts'
import type { OpenedPageSession } from '../../flows/page-session.ts'
import { type Html, name } from '../pages/layout.ts'
import type { Words } from '../pages/texts/words.ts'

// The page that follows a form of /me says what the form did: its URL names it. The name is signed for the session, so
// that no link makes the page say what did not happen.

/** With the name that the sentence has, if it has one. */
export interface MeNote {
  readonly code: keyof Words['texts']['portal']['notes']
  readonly about?: string | undefined
}

const WAITING: ReadonlySet<MeNote['code']> = new Set([
  'disconnected_here',
  'disconnect_unconfirmed',
  'not_connected',
  'stale_form',
])

/** The query of the page that tells it. */
export function noteQuery({ confirmations }: Broker, session: OpenedPageSession, note: MeNote): string {
  const { code, about = '' } = note
  const proof = confirmations.proofOf(subject(session, code, about))
  return new URLSearchParams({ note: code, ...(about !== '' && { about }), proof }).toString()
}

/** The note of such a query; `undefined` for one that this session has not been given. */
export function readNote(
  { confirmations }: Broker,
  session: OpenedPageSession,
  query: Readonly<Record<string, string>>,
): MeNote | undefined {
  const { note = '', about = '', proof = '' } = query
  if (!confirmations.isProof(proof, subject(session, note, about))) return undefined
  return { code: note as MeNote['code'], about } // only `noteQuery` signs
}

export function noteText(
  { texts }: Words,
  { code, about = '' }: MeNote,
): { readonly text: Html | string; readonly tone: 'good' | 'wait' } {
  const text = texts.portal.notes[code]
  return {
    text: typeof text === 'function' ? text(name(about)) : text,
    tone: WAITING.has(code) ? 'wait' : 'good',
  }
}

function subject({ row }: OpenedPageSession, code: string, about: string): string {
  return JSON.stringify(['note of /me', row.id, code, about])
}
