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
  /** A host name of the project's own, whose owner has yet to prove it by `domainChallenge` until `domainProvedAt`. */
  readonly domain?: string
  readonly domainChallenge?: string
  readonly domainProvedAt?: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/** An image that an administrator uploaded. */
export interface Logo {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp'
  /** The image in base64. */
  readonly data: string
}
