import { type Fault, faults, type ServiceName } from './faults.ts'
import type { Installed } from './install.ts'
import { startService } from './services.ts'
import { inspected, symptoms, tutorialSymptoms } from './symptoms.ts'

/**
 * Checks by hand that each fault shows in its service, and in no service without it; and that the tutorial has the mistakes
 * that the page lists, which its mended copy has not. Throws an Error that names the first that does not.
 */
export async function checkFaults(chosen: Fault[], installed: Installed, signal: AbortSignal): Promise<void> {
  const own = Object.entries(tutorialSymptoms)
  for (const { service, name } of chosen) {
    signal.throwIfAborted()
    const symptom = symptoms[name]
    if (symptom === undefined) throw new Error(`the fault ${name} has no symptom; add it to symptoms.ts`)
    await expectSymptoms(service, name, [[name, symptom]], true, installed)
  }
  for (const service of new Set(chosen.map(({ service }) => service))) {
    const of = faults.flatMap(({ service: one, name }) => (one === service ? [name] : []))
    const listed = Object.entries(symptoms).filter(([name]) => of.includes(name))
    await expectSymptoms(service, '', service === 'heroes' ? [...listed, ...own] : listed, false, installed)
  }
  if (chosen.some(({ service }) => service === 'heroes'))
    await expectSymptoms('heroes', 'unmended', own, true, installed)
}

async function expectSymptoms(
  service: ServiceName,
  fault: string,
  expected: [name: string, symptom: (typeof symptoms)[string]][],
  isShown: boolean,
  installed: Installed,
): Promise<void> {
  const { url, running } = await startService(service, fault, installed)
  try {
    for (const [name, symptom] of expected)
      if ((await symptom(inspected(service, url))) !== isShown)
        throw new Error(`${service}, ${fault || 'without a fault'}: ${name} ${isShown ? 'does not show' : 'shows'}`)
  } finally {
    await running.stop('SIGKILL')
  }
}
