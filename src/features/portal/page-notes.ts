import type { Broker } from '../../broker.ts'
import type { OpenedPageSession } from '../../flows/page-session.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import type { PortalTexts } from './generated/texts.ts'
import { portalTexts } from './page-texts.ts'

// The page that follows a form of /me shows a note of what the form did. The URL names the note, and the name is signed
// for the session, so that no link makes the page show a note of what did not happen.

/** A note, with the name that its sentence mentions, if any. */
export interface MeNote {
  readonly code: keyof PortalTexts['notes']
  readonly about?: string | undefined
}

/** The notes of what did not happen, or of what the user still has to do. */
const WAIT_TONE: ReadonlySet<MeNote['code']> = new Set([
  'disconnected_here',
  'disconnect_unconfirmed',
  'disconnected_before',
  'not_connected',
  'stale_form',
])

/** The query that makes the page show the note. */
export function noteQuery({ confirmations }: Broker, session: OpenedPageSession, note: MeNote): string {
  const { code, about = '' } = note
  const proof = confirmations.proofOf(subject(session, code, about))
  return new URLSearchParams({ note: code, ...(about !== '' && { about }), proof }).toString()
}

/** The note in a query of `noteQuery`; `undefined` if the query was not made for this session. */
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
  words: Words,
  { code, about = '' }: MeNote,
): { readonly text: Html | string; readonly tone: 'good' | 'wait' } {
  const text = portalTexts(words).notes[code]
  return {
    text: typeof text === 'function' ? text({ name: name(about) }) : text,
    tone: WAIT_TONE.has(code) ? 'wait' : 'good',
  }
}

function subject({ row }: OpenedPageSession, code: string, about: string): string {
  return JSON.stringify(['note of /me', row.id, code, about])
}
