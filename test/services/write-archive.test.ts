import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createArchiveWriter } from '../../src/features/audit-archive/write-archive.ts'

const PROJECT = { projectId: 'proj_1', firstSeq: 1 }
const HEADER = { ...PROJECT, project: 'default', previous: '' }
const BLOCK = { ...PROJECT, count: 1, at: 1000, text: '{"at":1000,"action":"x"}', previous: '', hash: 'h' }
const ANCHOR = { ...PROJECT, lastSeq: 1, hash: 'h', at: 2000, mac: 'm' }

test('a process whose lease ran out does not rename the file that another process is writing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-archives-'))
  const slow = await createArchiveWriter(folder, HEADER)
  await slow.add(BLOCK)
  await slow.end(ANCHOR)
  const other = await createArchiveWriter(folder, HEADER)
  await expect(slow.giveName(ANCHOR)).rejects.toThrow(/no such file/)
  await slow.discard()
  await other.add(BLOCK)
  await other.end(ANCHOR)
  const name = await other.giveName(ANCHOR)
  expect(await readdir(folder)).toEqual([name])
  expect(await readFile(join(folder, name), 'utf8')).toMatch(/^\{"gatepass_audit_archive".*\{"end":.*\}\n$/s)
  await rm(folder, { recursive: true })
})
