import { approvals } from './approvals/feature.ts'
import { auditArchive } from './audit-archive/feature.ts'
import { auditIndex } from './audit-index/feature.ts'
import { branding } from './branding/feature.ts'
import { chains } from './chains/feature.ts'
import { code } from './code/feature.ts'
import { embed } from './embed/feature.ts'
import { explain } from './explain/feature.ts'
import type { Feature } from './feature.ts'
import { imports } from './imports/feature.ts'
import { oxp } from './oxp/feature.ts'
import { packs } from './packs/feature.ts'
import { policies } from './policies/feature.ts'
import { portal } from './portal/feature.ts'
import { scheduledRuns } from './scheduled-runs/feature.ts'
import { telemetry } from './telemetry/feature.ts'
import { toolsets } from './toolsets/feature.ts'
import { webhooks } from './webhooks/feature.ts'

/** Every feature. Without its line and its folder, Gatepass is complete except for the feature. */
export const features: readonly Feature[] = [
  approvals,
  auditArchive,
  auditIndex,
  branding,
  chains,
  code,
  embed,
  explain,
  imports,
  oxp,
  packs,
  policies,
  portal,
  scheduledRuns,
  telemetry,
  toolsets,
  webhooks,
]
