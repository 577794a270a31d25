import { catchUp } from '../../services/read-cache.ts'
import type { ProjectSites } from '../../services/users-origin.ts'
import type { Store } from '../../store/store.ts'
import type { ProvedDomain } from './domain.ts'

/** The public URL's scheme and port with another host. */
export function atDomain(publicUrl: URL, hostName: string): URL {
  const url = new URL(publicUrl)
  url.hostname = hostName
  return url
}

const ROWS_AT_ONCE = 1_000

/**
 * The proved domains of all projects, kept in memory, so that links, redirect URIs and the recognition of a host need no
 * query. After a change by this or another process, the row of that project is read again. Reads all of them before it
 * resolves. A domain that has become the host of the public URL is ignored, because the API and the console are served there.
 */
export async function createProvedDomains(
  store: Store,
  { publicUrl }: { readonly publicUrl: URL },
): Promise<ProjectSites> {
  let byProject = new Map<string, ProvedDomain>()
  let byName = new Map<string, ProvedDomain>()
  let stale = new Set<string>()
  let isAllStale = true
  let revision = store.catchUp()
  let reading: Promise<void> | undefined

  const isUsable = ({ name }: ProvedDomain) => name !== publicUrl.hostname

  function set(projectId: string, proved: ProvedDomain | undefined): void {
    const before = byProject.get(projectId)
    // another project may have proved the name meanwhile
    if (before !== undefined && byName.get(before.name)?.projectId === projectId) byName.delete(before.name)
    byProject.delete(projectId)
    if (proved === undefined || !isUsable(proved)) return
    byProject.set(projectId, proved)
    byName.set(proved.name, proved)
  }

  async function readAll(): Promise<void> {
    const all: ProvedDomain[] = []
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Awaited<ReturnType<Store['domains']['page']>> = await store.domains.page(
        after,
        ROWS_AT_ONCE,
      )
      all.push(...page.rows.filter(isUsable))
      after = page.next
    }
    byProject = new Map(all.map((domain) => [domain.projectId, domain]))
    byName = new Map(all.map((domain) => [domain.name, domain]))
  }

  async function readStale(): Promise<void> {
    while (isAllStale || stale.size > 0) {
      const [wasAll, projects] = [isAllStale, stale]
      isAllStale = false
      stale = new Set()
      try {
        if (wasAll) await readAll()
        else for (const projectId of projects) set(projectId, await store.domains.findProved(projectId))
      } catch (error) {
        isAllStale = true // the next use reads again
        throw error
      }
    }
  }

  function settled(): Promise<void> | undefined {
    try {
      const current = catchUp(store)
      if (current !== revision) {
        revision = current
        isAllStale = true
      }
    } catch (error) {
      return Promise.reject(error)
    }
    if (reading === undefined && (isAllStale || stale.size > 0))
      reading = readStale().finally(() => {
        reading = undefined
      })
    return reading
  }

  /** Starts to read changed rows, for later uses. After a failure the next use tries again. */
  function refresh(): void {
    settled()?.catch(() => {})
  }

  store.onChange((change) => {
    if (change.noun !== 'domain') return
    stale.add(change.projectId)
    // deferred, because the listener runs in the tick of the commit, and settled() itself may cause the call
    queueMicrotask(refresh)
  })
  await settled()

  return {
    of(projectId) {
      refresh()
      const name = byProject.get(projectId)?.name
      return name === undefined ? undefined : atDomain(publicUrl, name)
    },
    projectAt(hostName) {
      refresh()
      return byName.get(hostName)?.projectId
    },
    get size() {
      refresh()
      return byName.size
    },
    settled,
    async chosenBy(projectId) {
      const domain = (await store.brandings.find(projectId))?.domain
      return domain && atDomain(publicUrl, domain.name)
    },
  }
}
