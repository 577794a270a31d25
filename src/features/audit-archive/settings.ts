import { resolve } from 'node:path'
import { defineSettings, type SettingsSource } from '../../services/feature-settings.ts'
import { durationText, parseDuration } from '../../settings/duration.ts'
import { findStats } from '../../settings/find-stats.ts'

const LEAST_SECONDS = 86_400

/** How long entries stay in the audit trail. Without a folder, into which they are moved, they are deleted then. */
export interface Retention {
  readonly seconds: number
  readonly folder?: string
}

type Variable = 'GATEPASS_AUDIT_RETENTION' | 'GATEPASS_AUDIT_ARCHIVE'

/** Absent: entries stay in the trail for ever. */
export const archiveSettings = defineSettings<Variable, Retention | undefined>({
  variables: ['GATEPASS_AUDIT_RETENTION', 'GATEPASS_AUDIT_ARCHIVE'],
  read: readRetention,
  show: (retention) => [
    {
      name: 'GATEPASS_AUDIT_RETENTION',
      value: retention === undefined ? 'for ever' : durationText(retention.seconds),
    },
    { name: 'GATEPASS_AUDIT_ARCHIVE', value: retention?.folder ?? 'none' },
  ],
})

function readRetention({ setting, addFault }: SettingsSource<Variable>): Retention | undefined {
  const [retention, archive] = [setting('GATEPASS_AUDIT_RETENTION'), setting('GATEPASS_AUDIT_ARCHIVE')]
  const refuse = (variable: Variable, what: string) => {
    addFault(variable, what)
    return undefined
  }
  if (retention === undefined)
    return archive === undefined
      ? undefined
      : refuse(
          'GATEPASS_AUDIT_ARCHIVE',
          'needs GATEPASS_AUDIT_RETENTION, which says what is archived, such as 400d.',
        )
  const seconds = parseDuration(retention)
  if (seconds === undefined || seconds < LEAST_SECONDS)
    return refuse(
      'GATEPASS_AUDIT_RETENTION',
      'must be a number of days or hours, such as 400d, from 1d to 36500d.',
    )
  if (archive === undefined)
    return refuse(
      'GATEPASS_AUDIT_RETENTION',
      'needs GATEPASS_AUDIT_ARCHIVE: the folder that older entries are moved into, or none, which deletes them.',
    )
  if (archive === 'none') return { seconds }
  const folder = resolve(archive)
  // a missing path is accepted: its disk may be mounted later
  if (findStats(folder)?.isDirectory() === false)
    addFault('GATEPASS_AUDIT_ARCHIVE', `names ${folder}, which is not a folder: create it, or write none.`)
  return { seconds, folder }
}
