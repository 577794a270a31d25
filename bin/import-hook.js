// A third of the time that a command needs to start went into drizzle-orm's package.json: Node (26.10 and before) parses
// its `exports`, 170 kB, again for every module of the package. This hook resolves the package's imports of its own
// files, to the same files, without asking Node.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = '', conditions } = context
    // all .js files of drizzle-orm are ES modules, and its relative imports name files that exist
    const isItsOwn =
      parentURL.includes('/node_modules/drizzle-orm/') &&
      /^\.\.?\/.*\.js$/.test(specifier) &&
      conditions.includes('import')
    if (!isItsOwn) return nextResolve(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
  },
})
