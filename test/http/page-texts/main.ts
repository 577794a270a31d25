import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { textsModules } from './current.ts'

// `npm run page-texts` writes the types of the texts of the pages.

for (const [file, module] of textsModules()) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, module)
}
