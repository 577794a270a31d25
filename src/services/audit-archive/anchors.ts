import { timingSafeEqual } from 'node:crypto'
import type { AuditAnchor } from '../../domain/audit.ts'
import type { Store } from '../../store/store.ts'
import type { AuditLog } from '../audit-log.ts'

/** Anchors that are read at once. */
const PAGE = 100

interface AnchorParts {
  readonly store: Store
  readonly audit: AuditLog
}

/** Whether the installation made the anchor for this project, and it was not altered since. */
export function isGenuine(audit: AuditLog, { mac, ...rest }: AuditAnchor): boolean {
  const [one, other] = [Buffer.from(mac), Buffer.from(audit.anchorMac(rest))]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** All rows of a project's anchors, newest first, also those that are not genuine. */
export async function* anchorsOf({ store }: AnchorParts, projectId: string): AsyncGenerator<AuditAnchor> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await store.auditAnchors.list(projectId, before, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    before = last.lastSeq
  }
}

/** The newest genuine anchor: its entries and those before it are archived. */
export async function newestAnchor(parts: AnchorParts, projectId: string): Promise<AuditAnchor | undefined> {
  for await (const anchor of anchorsOf(parts, projectId)) if (isGenuine(parts.audit, anchor)) return anchor
  return undefined
}
