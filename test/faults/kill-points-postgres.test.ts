import { killPoints } from './kill-points.ts'

killPoints('PostgreSQL')
