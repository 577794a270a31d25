/** The path of a provider entry's redirect URI. Each entry has its own, since a shared one allows mix-up (RFC 9700 section 4.4). */
export function callbackPath(providerUid: string): string {
  return `/callback/${providerUid}`
}

/** The path to which a provider's own page sends users who begin there. */
export function installationPath(providerUid: string): string {
  return `/install/${providerUid}`
}

/** The sites of projects, where their users see the pages. Users of a project without a site see the public URL. */
export interface ProjectSites {
  /** The origin of the project's site. */
  of(projectId: string): URL | undefined
  /** The project that has the site with this host name. */
  projectAt(hostName: string): string | undefined
  /** How many projects have a site. */
  readonly size: number
  /** Resolves when all announced changes have been read. `undefined`: there are none. */
  settled(): Promise<void> | undefined
  /** The origin of the project's site, even while users do not see it yet. */
  chosenBy(projectId: string): Promise<URL | undefined>
}

export const NO_SITES: ProjectSites = {
  of: () => undefined,
  projectAt: () => undefined,
  size: 0,
  settled: () => undefined,
  chosenBy: async () => undefined,
}
