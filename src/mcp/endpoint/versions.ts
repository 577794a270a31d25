/** The revisions of MCP that are served by sessions, newest first. The SDK's server knows the newer ones. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const
export type LegacyVersion = (typeof LEGACY_VERSIONS)[number]

/** The newest revision, which has no sessions. */
export const MODERN_VERSION = '2026-07-28'

/** The revision of a request that names none (MCP 2025-11-25, Transports, Protocol Version Header). */
export const DEFAULT_VERSION: LegacyVersion = '2025-03-26'

export function isLegacyVersion(version: unknown): version is LegacyVersion {
  return LEGACY_VERSIONS.some((known) => known === version)
}
