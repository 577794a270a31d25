import { createReadStream } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditAnchor, AuditBlock, AuditHead } from '../../domain/audit.ts'
import { fromTimestamp } from '../../domain/clock.ts'
import { isGenuine } from '../../services/audit-anchors.ts'
import type { AuditLog } from '../../services/audit-log.ts'
import { type ArchiveHeader, blockLines, endLine, headerLine, textOf } from './format.ts'

/** An archive in which every line is still as the installation wrote it. */
export interface VerifiedArchive {
  readonly header: ArchiveHeader
  readonly anchor: AuditAnchor
  readonly blocks: number
}

/** Why a file is no archive of this installation, as a sentence for an operator. */
export class ArchiveFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ArchiveFault'
  }
}

/** Lines that are read and verified before the event loop gets a turn. */
const LINES_PER_TURN = 250

/** The longest line, in characters: far more than the largest block has. Each piece that is read copies the line again. */
const MAX_LINE = 2 ** 24
/** The most characters of a block's entries, because an altered `count` may claim the rest of the file for one block. */
const MAX_BLOCK = MAX_LINE

/**
 * Reads an archive and verifies every line: each block's hash, that the blocks follow each other without a gap, and the
 * anchor at the end, whose absence shows that the file was cut off. Calls `onEnd` with the end of each block. Throws
 * `ArchiveFault`, and the errors of the file system.
 */
export async function verifyArchive(
  path: string,
  audit: AuditLog,
  onEnd: (end: AuditHead) => void = () => {},
): Promise<VerifiedArchive> {
  const lines = linesOf(path)[Symbol.asyncIterator]()
  let lineNumber = 0
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    lineNumber++
    if (done) throw new ArchiveFault('it was cut off: it has no end')
    if (lineNumber % LINES_PER_TURN === 0) await nextTurn()
    return value
  }
  const check = (holds: boolean, fault: string) => {
    if (!holds) throw new ArchiveFault(fault)
  }
  try {
    const header = parseHeader(await next())
    let end: AuditHead = { lastSeq: header.firstSeq - 1, hash: header.previous }
    for (let blocks = 0; ; blocks++) {
      const line = await next()
      if (line.startsWith('{"end":')) {
        const anchor = parseEnd(line, header)
        check(isGenuine(audit, anchor), 'its end was altered')
        check(anchor.lastSeq === end.lastSeq && anchor.hash === end.hash, 'entries at its end are missing')
        check((await lines.next()).done === true, 'something was added at its end')
        return { header, anchor, blocks }
      }
      const { count, ...boundary } = parseBoundary(line)
      const entries: string[] = []
      for (let size = 0; entries.length < count; ) {
        const entry = await next()
        size += entry.length + 1
        check(
          size <= MAX_BLOCK,
          `the block from entry ${boundary.firstSeq} on is longer than any block of an archive`,
        )
        entries.push(entry)
      }
      const block: AuditBlock = {
        projectId: header.projectId,
        count,
        ...boundary,
        text: boundary.text ?? textOf(entries),
      }
      const last = block.firstSeq + count - 1
      const name = `entries ${block.firstSeq} to ${last}`
      check(
        block.firstSeq === end.lastSeq + 1 && block.previous === end.hash,
        `${name} do not follow ${end.lastSeq}`,
      )
      const { hash, ...content } = block
      const isUnaltered = blockLines(block).join('\n') === [line, ...entries].join('\n')
      check(audit.link(content) === hash && isUnaltered, `${name} were altered`)
      end = { lastSeq: last, hash }
      onEnd(end)
    }
  } catch (error) {
    // an altered line may no longer parse
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError)
      throw new ArchiveFault(`line ${lineNumber} is not a line of an archive`)
    throw error
  } finally {
    await lines.return?.(undefined)
  }
}

function parseHeader(line: string): ArchiveHeader {
  const { project_id, project, first_seq, previous } = JSON.parse(line)
  const header = { projectId: project_id, project, firstSeq: first_seq, previous }
  if (headerLine(header) !== line)
    throw new ArchiveFault('it does not begin as an archive of the audit trail')
  return header
}

function parseBoundary(line: string) {
  const { first_seq, count, at, previous, hash, text } = JSON.parse(line).block as Readonly<
    Record<string, unknown>
  >
  if (!Number.isSafeInteger(count) || Number(count) < 1) throw new SyntaxError('no block')
  return {
    firstSeq: Number(first_seq),
    count: Number(count),
    at: fromTimestamp(String(at)),
    previous: String(previous),
    hash: String(hash),
    ...(text !== undefined && { text: String(text) }),
  }
}

function parseEnd(line: string, { projectId, firstSeq }: ArchiveHeader): AuditAnchor {
  const { last_seq, hash, at, mac } = JSON.parse(line).end
  const anchor = { projectId, firstSeq, lastSeq: last_seq, hash, at: fromTimestamp(at), mac }
  if (endLine(anchor) !== line) throw new SyntaxError('no end')
  return anchor
}

/** Only `\n` ends a line: entries may contain other characters that some programs take for a line end. */
async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > MAX_LINE)
      throw new ArchiveFault('it has a line that is longer than any line of an archive')
  }
  if (rest !== '') throw new ArchiveFault('it was cut off: its last line has no end')
  return undefined
}
