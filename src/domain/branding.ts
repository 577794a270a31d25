import type { EpochSeconds } from './clock.ts'

/** The places of pages at which a project may have sentences of its own. */
export const OWN_TEXTS = ['connect.note', 'completed.note', 'failed.note'] as const
export type OwnText = (typeof OWN_TEXTS)[number]

/** How the pages that users see of a project look: its name, logo, colour, links and sentences. */
export interface Branding {
  readonly projectId: string
  readonly appName?: string
  /** The language for readers whose own is not known. */
  readonly lang?: string
  /** `#rrggbb`, for pages in light colours and, if they differ, in dark ones. */
  readonly accent?: string
  readonly accentDark?: string
  /** Part of the URL of the style sheet with the colours. */
  readonly styleHash?: string
  readonly privacyUrl?: string
  readonly supportUrl?: string
  /** Sentences by language, and by place. */
  readonly texts?: Readonly<Record<string, Readonly<Partial<Record<OwnText, string>>>>>
  /** Part of the URL of the logo. */
  readonly logoHash?: string
  /** Absent: users see the pages at the public URL. */
  readonly domain?: OwnDomain
  readonly updatedAt: EpochSeconds
}

/** A host name of the project's own. Users see the project's pages there from its proof on. */
export interface OwnDomain {
  readonly name: string
  /** What the owner of the name has to publish in DNS. */
  readonly challenge: string
  readonly provedAt?: EpochSeconds
}

/** A domain that was proved, by its project. Of all projects one at most has proved a name. */
export interface ProvedDomain {
  readonly projectId: string
  readonly name: string
  readonly provedAt: EpochSeconds
  /** Set by `signedStore`. */
  readonly mac?: string
}

/** An image that an administrator uploaded. */
export interface Logo {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp'
  /** The image in base64. */
  readonly data: string
}
