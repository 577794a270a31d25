import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** All features. One that was removed stays here, so that a misspelled name is not taken for it. */
export const FEATURES: readonly string[] = [
  'approvals',
  'audit-archive',
  'audit-index',
  'branding',
  'chains',
  'code',
  'embed',
  'explain',
  'imports',
  'oxp',
  'packs',
  'policies',
  'portal',
  'scheduled-runs',
  'telemetry',
  'toolsets',
  'webhooks',
]

/** Whether a file is missing because its feature was removed from `root`. */
export function isOfRemovedFeature(root: string, path: string): boolean {
  const [, feature = ''] = /^(?:src|test)\/features\/([^/]+)\//.exec(path) ?? []
  return FEATURES.includes(feature) && !existsSync(join(root, 'src/features', feature))
}
