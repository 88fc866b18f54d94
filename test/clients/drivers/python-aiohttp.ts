import type { Build } from '../driver.ts'
import { installPackages, pythonClient } from './python.ts'

export const build: Build = async (context) => pythonClient(context, 'python_aiohttp', await installPackages(context))
