import type { EpochSeconds } from '../../domain/clock.ts'

/** The places on pages where a project may show its own sentences. */
export const OWN_TEXTS = ['connect.note', 'completed.note', 'failed.note'] as const
export type OwnText = (typeof OWN_TEXTS)[number]

/** How a project's pages look to its users: name, logo, colour, links and sentences. */
export interface Branding {
  readonly projectId: string
  readonly appName?: string
  /** The language of the pages for users whose language is not known. */
  readonly lang?: string
  /** `#rrggbb`, for pages in light colours and, if they differ, in dark ones. */
  readonly accent?: string
  readonly accentDark?: string
  /** Part of the URL of the style sheet with the colours. */
  readonly styleHash?: string
  /** Where the last page of an authorization leads back to, if its request names no `next_uri`. */
  readonly appUrl?: string
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

/** A host name of the project's own. Once it is proved, users see the project's pages there. */
export interface OwnDomain {
  readonly name: string
  /** The random part of the TXT record that the owner of the name has to publish (`challengeRecord`). */
  readonly challenge: string
  readonly provedAt?: EpochSeconds
}

/** A project's proved domain. At most one project has proved a given name. */
export interface ProvedDomain {
  readonly projectId: string
  readonly name: string
  readonly provedAt: EpochSeconds
  /** Keyed MAC over the other members (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
}

/** An image that an administrator uploaded. */
export interface Logo {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp'
  /** The image in base64. */
  readonly data: string
}

/** The path of the logo at this server. */
export function logoPath({
  projectId,
  logoHash,
}: Pick<Branding, 'projectId' | 'logoHash'>): string | undefined {
  return logoHash === undefined ? undefined : `/assets/logo/${projectId}-${logoHash}`
}
