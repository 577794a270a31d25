import type { Command } from 'commander'
import { withApi } from './api.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize } from './print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

const PROJECTS = outputTable('listProjects', { name: 'name', id: 'id', created_at: 'created' })

export function defineProjects(projects: Command, shell: Shell): void {
  projects.addHelpText('after', EXAMPLES)

  withCommonOptions(projects.command('list', { isDefault: true }).description('list the projects'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listProjects')
        if (options.json) return printJson({ items })
        print(PROJECTS(items))
      }),
    )

  withCommonOptions(
    projects
      .command('create')
      .description('create a project (keys create --project creates its first key)')
      .argument('<name>', 'its name', parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: CommonOptions) =>
      withApi(shell, { ...options, creates: 'database' }, async (api) => {
        const made = await api.call('createProject', { body: { name } })
        if (options.json) return printJson(made)
        print(`${MARKS.ok} The project ${sanitize(made.name)} was created (${made.id}).`)
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass projects
  $ gatepass projects create acme
  $ gatepass projects list --url https://gatepass.example.com --key "$GATEPASS_API_KEY" --json`
