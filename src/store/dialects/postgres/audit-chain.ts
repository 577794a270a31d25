import type pg from 'pg'
import type { AuditHead } from '../../../domain/audit.ts'
import { type AuditEntries, blockAfter } from '../../audit-entries.ts'
import { fromDriver } from './failures.ts'

/** Appends a block in the transaction of the write that it records. Call it last: other writers wait for its lock. */
export async function appendAudit(client: pg.ClientBase, entries: AuditEntries): Promise<void> {
  const head = await lockHead(client, entries.projectId)
  await appendTo(head, client, entries)
}

/** Reads and locks the end of the project's chain. No other transaction appends to it until this one ends. */
export async function lockHead(client: pg.ClientBase, projectId: string): Promise<AuditHead> {
  for (;;) {
    const { rows } = await fromDriver(
      client.query<{ last_seq: string; hash: string }>({
        name: 'lock_audit_head',
        text: 'select last_seq, hash from audit_heads where project_id = $1 for update',
        values: [projectId],
      }),
    )
    const [head] = rows
    if (head !== undefined) return { lastSeq: Number(head.last_seq), hash: head.hash }
    await fromDriver(
      client.query("insert into audit_heads values ($1, 0, '') on conflict (project_id) do nothing", [
        projectId,
      ]),
    )
  }
}

/** Appends a block after `head`, which the transaction has locked. */
export async function appendTo(head: AuditHead, client: pg.ClientBase, entries: AuditEntries): Promise<void> {
  const { projectId, firstSeq, count, at, text, previous, hash } = blockAfter(head, entries)
  await fromDriver(
    client.query({
      name: 'append_audit_block',
      text: `with block as (
          insert into audit_blocks (project_id, first_seq, count, at, text, previous, hash)
          values ($1, $2, $3, $4, $5, $6, $7)
        )
        update audit_heads set last_seq = $8, hash = $7 where project_id = $1`,
      values: [projectId, firstSeq, count, at, text, previous, hash, head.lastSeq + count],
    }),
  )
}
