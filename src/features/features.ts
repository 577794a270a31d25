import type { Feature } from './feature.ts'
import { webhooks } from './webhooks/feature.ts'

/** Every feature. Without its line and its folder, Gatepass is complete except for the feature. */
export const features: readonly Feature[] = [webhooks]
