import { scheduledRuns } from './faults.ts'

scheduledRuns('SQLite')
