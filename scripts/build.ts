/** npm run build: what npm start runs. */
import { bundle } from './bundle.ts'

await bundle()
