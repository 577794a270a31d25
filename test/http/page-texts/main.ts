import { writeFile } from 'node:fs/promises'
import { TEXTS_FILE, textsModule } from './current.ts'

// `npm run page-texts` writes the types of the texts of the pages.

await writeFile(TEXTS_FILE, textsModule())
