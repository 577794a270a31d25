import { killedGrants } from './killed-grants.ts'

killedGrants('SQLite')
