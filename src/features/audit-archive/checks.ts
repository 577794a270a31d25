import type { Check, DiagnosisTarget } from '../../diagnosis/check.ts'
import { type EpochSeconds, toTimestamp } from '../../domain/clock.ts'
import { administersInstallation } from '../../flows/manage-keys.ts'
import { durationText } from '../../settings/duration.ts'
import { isFolder } from './archive-due.ts'
import { archiveSettings } from './settings.ts'

/** Entries are archived by whole days, some time after the day has ended. */
const GRACE_SECONDS = 2 * 86_400

/** Checks that entries whose retention time has passed were archived. */
export async function checkAuditTrail({ broker, project, config }: DiagnosisTarget): Promise<Check[]> {
  const retention = config.of(archiveSettings)
  if (retention === undefined) return []
  const name = 'audit trail'
  const { folder } = retention
  // a path of the operator's machine is not for administrators of other projects
  const isOwn = administersInstallation(project)
  if (folder !== undefined && !(await isFolder(folder)))
    return [
      {
        name,
        status: 'warning',
        message: `The folder of GATEPASS_AUDIT_ARCHIVE${isOwn ? ` (${folder})` : ''} is missing: no entry is archived, and all stay in the trail.`,
        fix: 'Mount or make the folder. The servers look for it every ten minutes.',
      },
    ]
  const [oldest] = await broker.store.audit.blocks(project.id, { order: 'oldest first', limit: 1 })
  const due: EpochSeconds = broker.now() - retention.seconds - GRACE_SECONDS
  const head = await broker.store.audit.head(project.id)
  const moved = isOwn ? `moved to ${folder}` : 'moved to files'
  // archiving always keeps the newest block
  const isNewest = oldest === undefined || oldest.firstSeq + oldest.count > (head?.lastSeq ?? 0)
  if (isNewest || oldest.at >= due)
    return [
      {
        name,
        status: 'ok',
        message: `entries are kept for ${durationText(retention.seconds)}, then ${folder === undefined ? 'deleted' : moved}`,
      },
    ]
  return [
    {
      name,
      status: 'warning',
      message: `Entries of ${toTimestamp(oldest.at).slice(0, 10)} are still in the trail, though GATEPASS_AUDIT_RETENTION has passed: they cannot be archived, or no server with that setting runs.`,
      fix: 'Look for "the audit trail cannot be archived" in the log of the servers, and run `gatepass audit verify`.',
    },
  ]
}
