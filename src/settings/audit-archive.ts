import { resolve } from 'node:path'
import type { AuditSettings } from '../broker.ts'
import { parseDuration } from './duration.ts'
import { findStats } from './find-stats.ts'
import type { AddFault, ReadSetting } from './read.ts'

const LEAST_SECONDS = 86_400

/** Reads how long entries stay in the audit trail, and the folder into which they are then moved. */
export function readAuditSettings(setting: ReadSetting, addFault: AddFault): AuditSettings {
  const [retention, archive] = [setting('AUDIT_RETENTION'), setting('AUDIT_ARCHIVE')]
  if (retention === undefined) {
    if (archive !== undefined)
      addFault('AUDIT_ARCHIVE', 'needs GATEPASS_AUDIT_RETENTION, which says what is archived, such as 400d.')
    return {}
  }
  const seconds = parseDuration(retention)
  if (seconds === undefined || seconds < LEAST_SECONDS) {
    addFault('AUDIT_RETENTION', 'must be a number of days or hours, such as 400d, from 1d to 36500d.')
    return {}
  }
  if (archive === undefined) {
    addFault(
      'AUDIT_RETENTION',
      'needs GATEPASS_AUDIT_ARCHIVE: the folder that older entries are moved into, or none, which deletes them.',
    )
    return {}
  }
  if (archive === 'none') return { retention: { seconds } }
  const folder = resolve(archive)
  // a missing path is accepted: its disk may be mounted later
  if (findStats(folder)?.isDirectory() === false)
    addFault('AUDIT_ARCHIVE', `names ${folder}, which is no folder: make it, or write none.`)
  return { retention: { seconds, folder } }
}
