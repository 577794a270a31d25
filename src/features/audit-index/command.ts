import type { Command } from 'commander'
import { MARKS, print, printJson } from '../../cli/print.ts'
import { refuseServer } from '../../cli/refuse-server.ts'
import { type CommonOptions, jsonOption, projectOption, type Shell } from '../../cli/shell.ts'

/** `gatepass audit reindex` */
export function defineReindex(reindex: Command, shell: Shell): void {
  reindex
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: CommonOptions) => {
      refuseServer(shell, options, 'audit reindex')
      const { rebuildIndex } = await import('./verify-index.ts')
      return shell.withBroker(shell, options, async ({ broker, project }) => {
        const isRebuilt = await rebuildIndex(broker, project.id)
        if (options.json) printJson({ project: project.name, made: isRebuilt })
        else if (isRebuilt) print(`${MARKS.ok} ${project.name}: the search index was rebuilt.`)
        else print(`${project.name}: the search index was emptied; a running server is rebuilding it.`)
      })
    })
}
