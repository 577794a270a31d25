import { standStill } from './stand-still.ts'

standStill('SQLite')
