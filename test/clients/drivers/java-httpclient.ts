import type { Build } from '../driver.ts'
import { compileDriver, copyGson } from './java.ts'

export const build: Build = async (context) => {
  await copyGson(context)
  return compileDriver(context, 'ByHand')
}
