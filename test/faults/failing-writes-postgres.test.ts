import { failingWrites } from './failing-writes.ts'

failingWrites('PostgreSQL')
