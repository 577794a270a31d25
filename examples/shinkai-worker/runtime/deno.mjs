// The part of the Deno API that Shinkai tools use, for Node.
import fs from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import process from 'node:process'

const known = {
  env: {
    get: (name) => process.env[name],
    set: (name, value) => {
      process.env[name] = value
    },
    has: (name) => name in process.env,
    toObject: () => ({ ...process.env }),
  },
  args: [],
  build: { os: process.platform === 'win32' ? 'windows' : process.platform, arch: process.arch },
  cwd: () => process.cwd(),
  readFile: async (path) => new Uint8Array(await readFile(path)),
  readTextFile: (path) => readFile(path, 'utf8'),
  readFileSync: (path) => new Uint8Array(fs.readFileSync(path)),
  readTextFileSync: (path) => fs.readFileSync(path, 'utf8'),
  writeFile: (path, data) => writeFile(path, data),
  writeTextFile: (path, data) => writeFile(path, data),
  writeFileSync: (path, data) => fs.writeFileSync(path, data),
  writeTextFileSync: (path, data) => fs.writeFileSync(path, data),
  mkdir: (path, options) => mkdir(path, options),
  remove: (path, options) => rm(path, options),
  stat: async (path) => infoOf(await stat(path)),
  lstat: async (path) => infoOf(fs.lstatSync(path)),
  open,
  async *readDir(path) {
    for (const one of await readdir(path, { withFileTypes: true }))
      yield {
        name: one.name,
        isFile: one.isFile(),
        isDirectory: one.isDirectory(),
        isSymlink: one.isSymbolicLink(),
      }
  },
  errors: {
    NotFound: class NotFound extends Error {
      static [Symbol.hasInstance](error) {
        return error?.code === 'ENOENT'
      }
    },
  },
}

function infoOf(found) {
  return {
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    isSymlink: found.isSymbolicLink(),
    size: found.size,
    mtime: found.mtime,
  }
}

export const deno = new Proxy(known, {
  get(target, name) {
    if (name in target || typeof name === 'symbol') return target[name]
    throw new Error(`Deno.${name} is not available in Node: install Deno to run this tool.`)
  },
})
