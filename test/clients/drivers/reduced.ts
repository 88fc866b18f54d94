import type { BuildContext } from '../driver.ts'

type Documents = ReturnType<BuildContext['documentsWithout']>

/** How many operations may be left out. */
const most = 20

/**
 * Builds a client for as many operations as possible, because a generator fails as a whole if it cannot read one
 * operation or writes code for one that does not compile. Returns the operations that are left out, with the messages.
 *
 * @param suspects Operations that are tried alone first, which costs less than to search for them.
 * @param attempt Generates and compiles the code for a document. Its last call is for the operations that are left.
 */
export async function buildReduced(
  context: BuildContext,
  suspects: string[],
  attempt: (documents: Documents) => Promise<unknown>,
): Promise<Record<string, string>> {
  const ids = [...new Set(context.cases.map(({ operation }) => operation))]
  const missing: Record<string, string> = {}

  const build = (operations: string[]) =>
    attempt(context.documentsWithout(ids.filter((id) => !operations.includes(id))))
  const search = async (operations: string[]): Promise<void> => {
    try {
      await build(operations)
    } catch (error) {
      // So many do not fail each for a reason of its own: a program or the network fails.
      if (Object.keys(missing).length === most) throw error
      const middle = operations.length >> 1
      if (operations.length === 1) missing[operations[0] as string] = messageOf(error as Error)
      else for (const half of [operations.slice(0, middle), operations.slice(middle)]) await search(half)
    }
  }

  const left = () => ids.filter((id) => !(id in missing))
  for (const suspect of suspects) await search([suspect])
  await build(left()).catch(async () => {
    await search(left())
    await build(left())
  })
  return missing
}

/** Returns the line of an error that tells why. */
function messageOf({ message }: Error): string {
  const lines = message.split('\n').filter((line) => !line.includes('Command failed') && !/^(?:INFO|WARN)/.test(line))
  const [first] = lines.filter((line) => /can't|cannot|invalid|unsupported|\berror\b|exception/i.test(line))
  return (first ?? lines[0] ?? '').trim().slice(0, 300)
}
