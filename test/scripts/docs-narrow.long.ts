import t from 'tap'
import { testStates } from './accessibility.ts'

await testStates(t, 400)
