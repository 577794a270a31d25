import type { AuditAnchor } from '../domain/audit.ts'
import { isSameSecret } from '../domain/ids.ts'
import type { Store } from '../store/store.ts'
import type { AuditLog } from './audit-log.ts'

/** How many anchors are read at a time. */
const PAGE = 100

interface AnchorParts {
  readonly store: Store
  readonly audit: AuditLog
}

/** Whether this installation made the anchor, and it was not altered since. */
export function isGenuine(audit: AuditLog, { mac, ...rest }: AuditAnchor): boolean {
  return isSameSecret(mac, audit.anchorMac(rest))
}

/** All anchors of a project, newest first, including those that are not genuine. */
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
