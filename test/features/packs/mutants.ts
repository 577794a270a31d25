import type { Mutation } from '../../mutants/mutation.ts'

export const packs: readonly Mutation[] = [
  {
    rows: ['82'],
    fault: 'a symbolic link in a pack is followed',
    file: 'src/features/packs/wire-folder.ts',
    from: 'constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK',
    to: 'constants.O_RDONLY | constants.O_NONBLOCK',
    test: 'features/packs/own-packs.test.ts',
    name: 'a symbolic link to a file',
  },
  {
    rows: ['82'],
    fault: 'a symbolic link to a folder of packs is passed over in silence',
    file: 'src/features/packs/wire-folder.ts',
    from: 'if (kind.isSymbolicLink()) throw new PackFault([`${name} is a symbolic link, which is not followed.`])',
    to: '',
    test: 'features/packs/own-packs.test.ts',
    name: 'a symbolic link to a folder',
  },
  {
    rows: ['82'],
    fault: 'an own pack takes the namespace of a pack that Gatepass ships',
    file: 'src/features/packs/wire-packs.ts',
    from: 'owner !== undefined',
    to: 'owner === id',
    test: 'features/packs/own-packs.test.ts',
    name: 'the namespace of a shipped pack',
  },
]
