import { stat } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import { newestAnchor } from '../../services/audit-anchors.ts'
import { archiveTrail } from './archive-trail.ts'
import { archiveSettings } from './settings.ts'

const DAY_SECONDS = 86_400

/**
 * Archives the entries of all projects that are older than the retention time. The limit is a midnight (UTC), so each run
 * archives whole days, and a project has at most one run a day. If one project's trail cannot be archived, the others
 * still are.
 */
export async function archiveDue(broker: Broker): Promise<void> {
  const retention = broker.settings.of(archiveSettings)
  if (retention === undefined) return
  const { seconds, folder } = retention
  // the folder is not created here: while its disk is not mounted, archives would be written to another disk
  if (folder !== undefined && !(await isFolder(folder))) {
    broker.log.warn({ folder }, NO_FOLDER)
    return
  }
  const before = Math.floor((broker.now() - seconds) / DAY_SECONDS) * DAY_SECONDS
  for (const project of await broker.store.projects.list()) {
    await nextTurn()
    try {
      if (!(await isDue(broker, project.id, before))) continue
      const archived = await archiveTrail(broker, project, { before, folder })
      for (const written of archived ?? [])
        broker.log.info({ project: project.name, ...written }, 'audit entries were archived')
    } catch (error) {
      broker.log.error({ project: project.name, error }, 'the audit trail cannot be archived')
    }
  }
}

const NO_FOLDER =
  'the folder of GATEPASS_AUDIT_ARCHIVE is missing: mount or make it. Until then no audit entry is archived, and all stay in the trail'

/** Whether there is a folder at the path. */
export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

/** Whether the oldest block may be archived, or is left over from an archive run that was interrupted. */
async function isDue(broker: Broker, projectId: string, before: number): Promise<boolean> {
  const [oldest] = await broker.store.audit.blocks(projectId, { order: 'oldest first', limit: 1 })
  const head = await broker.store.audit.head(projectId)
  if (oldest === undefined || head === undefined) return false
  const isNewest = oldest.firstSeq + oldest.count > head.lastSeq
  if (oldest.at < before && !isNewest) return true
  const anchor = await newestAnchor(broker, projectId)
  return anchor !== undefined && oldest.firstSeq <= anchor.lastSeq
}
