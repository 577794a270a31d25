import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveProcess } from '../served.ts'

const PATIENCE = { timeout: 300_000, interval: 100 }

test('a process without file descriptors says so, and serves again when there are some', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-descriptors-'))
  const held: Socket[] = []
  {
    await using node = await serveProcess({ database: `file:${join(folder, 'gatepass.db')}` })
    const used = readdirSync(`/proc/${node.pid}/fd`).length
    execFileSync('prlimit', ['--pid', String(node.pid), `--nofile=${used + 10}:${used + 10}`])
    const { hostname, port } = new URL(node.url)
    for (let i = 0; i < 40; i++) held.push(connect(Number(port), hostname).on('error', () => undefined))
    await expect.poll(() => node.log(), PATIENCE).toContain('no file descriptor is left')
    for (const socket of held) socket.destroy()
    await expect.poll(() => node.log(), PATIENCE).toContain('files and sockets can be opened again')
    expect((await node.call('GET', '/ready')).status).toBe(200)
    expect(node.log().split('no file descriptor is left')).toHaveLength(2)
  }
  await rm(folder, { recursive: true, force: true })
})
