import { join } from 'node:path'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { deployFile, ROOT } from './files.ts'

const dockerfile = deployFile('Dockerfile')
const compose = parse(deployFile('compose/compose.yaml'))

describe('the Dockerfile', () => {
  test('has no finding of its linter', () => {
    expect(validate(dockerfile)).toEqual([])
  })

  test('runs as a user without rights, by commands that need no shell, from an image named once', () => {
    expect(dockerfile).toMatch(/^USER 65532:65532$/m)
    for (const instruction of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'])
      expect(dockerfile).toMatch(new RegExp(`^${instruction} (?:.*\\\\\\n\\s*CMD )?\\[`, 'm'))
    expect(dockerfile.match(/^FROM .*$/gm)).toEqual([
      'FROM $' + '{BUILD_IMAGE} AS build',
      'FROM $' + '{RUN_IMAGE}',
    ])
    expect(dockerfile).not.toMatch(/:latest|ADD |curl|chmod 777/)
  })

  test('copies only what the build context has', () => {
    const ignore = deployFile('Dockerfile.dockerignore')
    for (const name of ['package.json', 'package-lock.json', '.npmrc', 'src', 'build', 'bin', 'drizzle'])
      expect(ignore).toMatch(new RegExp(`^!${name.replaceAll('.', '\\.')}$`, 'm'))
    expect(ignore).toMatch(/^\*$/m)
  })
})

describe('the compose file', () => {
  test('has no finding of its linter', () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] })
    const findings = linter.lintFiles([join(ROOT, 'deploy/compose/compose.yaml')], false)
    expect(findings).toMatchObject([{ messages: [] }])
  })

  test.each(Object.keys(compose.services))('%s has no rights that it does not need', (name) => {
    const {
      cap_drop,
      cap_add = [],
      read_only,
      security_opt,
      healthcheck,
      privileged,
    } = compose.services[name]
    expect({ cap_drop, read_only, security_opt, privileged }).toEqual({
      cap_drop: ['ALL'],
      read_only: true,
      security_opt: ['no-new-privileges:true'],
      privileged: undefined,
    })
    expect(cap_add).toEqual(name === 'caddy' ? ['NET_BIND_SERVICE'] : [])
    expect(healthcheck.test[0]).toBe('CMD')
  })

  test('only Caddy is reached from outside, and the database by Gatepass alone', () => {
    const { caddy, gatepass, postgres } = compose.services
    expect([gatepass.ports, postgres.ports]).toEqual([undefined, undefined])
    expect([caddy.networks, gatepass.networks, postgres.networks]).toEqual([
      ['front'],
      ['front', 'back'],
      ['back'],
    ])
    expect(compose.networks.back).toEqual({ internal: true })
  })

  test('secrets are files that exist as such, and no variable holds one', () => {
    for (const [name, service] of Object.entries<{ secrets?: string[]; environment: object }>(
      compose.services,
    )) {
      for (const secret of service.secrets ?? [])
        expect(compose.secrets[secret], `${name}: ${secret}`).toEqual({ file: `./secrets/${secret}` })
      const values = Object.values(service.environment).map(String)
      for (const path of values.flatMap((value) => /\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []))
        expect(service.secrets, name).toContain(path)
      expect(values.join(' ')).not.toMatch(/:\/\/[^$\s]+:[^$\s]+@/)
    }
  })
})
