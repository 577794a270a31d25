import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/store/dialects/postgres/schema.ts',
  out: './drizzle/postgres',
})
