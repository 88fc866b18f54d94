import { openStore } from '../../src/store/open.ts'
import { conformance } from './conformance.ts'

conformance('memory', () => () => openStore('memory:'), false)
