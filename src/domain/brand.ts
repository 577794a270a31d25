import type { Language } from './languages.ts'

/** The places on pages where a project may show its own sentences. */
export type NotePlace = 'connect.note' | 'completed.note' | 'failed.note'

/** How the pages of a project look. It cannot change the sentences that say who requests which access. */
export interface Brand {
  readonly appName?: string | undefined
  readonly language?: Language | undefined
  /** URLs of this server. */
  readonly logo?: string | undefined
  readonly style?: string | undefined
  /** The page of the application to go back to. */
  readonly appUrl?: string | undefined
  readonly privacyUrl?: string | undefined
  readonly supportUrl?: string | undefined
  /** The project's own sentence for a place of its pages: in the page's language if there is one, else in another. */
  note(place: NotePlace, language: string): Note | undefined
}

export interface Note {
  readonly text: string
  readonly language: string
}

/** Gatepass's own look. */
export const NO_BRAND: Brand = { note: () => undefined }
