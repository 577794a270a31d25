import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/dialects/sqlite/schema.ts',
  out: './drizzle/sqlite',
})
