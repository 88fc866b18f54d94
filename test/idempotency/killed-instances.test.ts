import t from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { randomOf } from '../faults/seeded-random.ts'
import { createWithKills } from './killed-instances.ts'

t.test(
  'two instances that are killed create each order once, if the handler writes in the transaction of its key',
  {
    timeout: 120_000,
  },
  async (t) => {
    const url = await testDatabase(t)
    const options = { creates: 1_000, isTransactional: true, random: randomOf(1), pause: 300 }
    const { twice, lost, wrong, kills, replays } = await createWithKills({ url, ...options })
    t.same({ twice, lost, wrong }, { twice: 0, lost: 0, wrong: [] })
    t.ok(kills > 0, 'instances were killed')
    t.ok(replays > 0, 'responses were replayed')
  },
)
