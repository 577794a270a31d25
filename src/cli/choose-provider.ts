import { findProvider } from '../flows/find-provider.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import { CommandFailure } from './shell.ts'
import type { Opened } from './with-broker.ts'

/** The provider of that name, or `undefined` when none is called so. Throws when several are, or it is switched off. */
export async function chooseProvider(
  { broker, project }: Opened,
  name: string,
): Promise<ProviderEntry | undefined> {
  const entries = await broker.store.providers.list(project.id)
  const isCalled = (one: string | undefined) => one?.toLowerCase() === name.toLowerCase()
  if (!entries.some((one) => [one.id, one.wellKnownId, one.name].some(isCalled))) return undefined
  return findProvider(broker, project.id, { id: name })
}

/** As `chooseProvider`; throws `CommandFailure` with the names there are. */
export async function getProvider(opened: Opened, name: string): Promise<ProviderEntry> {
  return (await chooseProvider(opened, name)) ?? unknownProvider(opened, 'provider', name)
}

export async function unknownProvider(
  { broker, project }: Opened,
  what: string,
  name: string,
): Promise<never> {
  const ids = (await broker.store.providers.list(project.id)).map((one) => one.id)
  throw new CommandFailure(
    `There is no ${what} "${name}" in the project "${project.name}". ${
      ids.length > 0
        ? `Its providers: ${ids.join(', ')}.`
        : '`gatepass import <file>` adds tools with their providers.'
    }`,
  )
}
