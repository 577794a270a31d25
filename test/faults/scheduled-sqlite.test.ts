import { scheduledRuns } from './scheduled.ts'

scheduledRuns('SQLite')
