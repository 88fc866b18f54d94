import t from 'tap'
import { runExample } from './run-example.ts'

t.test('issuer.js issues tokens that the service accepts', async (t) => runExample(t, 'issuer.js'))
