import { killPoints } from './kill-points.ts'

killPoints('SQLite')
