import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { deployFile, ROOT } from './files.ts'

const UNITS = ['gatepass.service', 'gatepass-backup.service'] as const
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

describe.each(UNITS)('%s', (unit) => {
  const text = deployFile(`systemd/${unit}`)

  test('has no capability, writes its own directories alone, and gets the master key as a credential', () => {
    for (const line of [
      'DynamicUser=yes',
      'CapabilityBoundingSet=',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'PrivateUsers=yes',
      'SystemCallFilter=@system-service',
      'LoadCredential=master-key:/etc/gatepass/master-key',
      'Environment=GATEPASS_MASTER_KEY=file:%d/master-key',
    ])
      expect(text.split('\n')).toContain(line)
    // Node compiles to machine code at run time
    expect(text).not.toMatch(/^MemoryDenyWriteExecute=/m)
    expect(text).not.toMatch(/^Environment=.*(?:PASSWORD|SECRET|API_KEY)/m)
  })

  test.skipIf(!hasSystemd)('is judged safe by systemd itself', () => {
    const path = join(ROOT, 'deploy/systemd', unit)
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', path], {
      encoding: 'utf8',
    })
    const [, exposure] = /Overall exposure level for .*: ([0-9.]+)/.exec(stdout) ?? []
    expect(Number(exposure)).toBeLessThanOrEqual(1.5)
  })
})
