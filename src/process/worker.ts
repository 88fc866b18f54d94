/** The process of one worker: it serves, as the primary process tells it, and ends with it. */
import type { Socket } from 'node:net'
import { receiveConnections } from './received-connections.ts'
import { type OwnService, openService } from './service-instance.ts'
import { exit } from './shutdown.ts'
import { prepareStderr } from './stderr.ts'
import type { ConnectionOrder, Order, Question, Report } from './worker-process.ts'

/** Undefined before it serves. */
let service: OwnService | undefined
let serve: ((socket: Socket) => void) | undefined

// A terminal, for one, sends them to each process; what follows is for the primary process to say.
const ignore = () => {}
process.on('SIGINT', ignore).on('SIGTERM', ignore)
prepareStderr()
// The primary process is gone.
process.on('disconnect', () => process.exit())
process.on('message', (order: Order | ConnectionOrder, socket?: Socket) => {
  if (order.order === 'take') socket && serve?.(socket)
  else if (order.order === 'confirm') report('taken')
  else follow(order).catch(fail)
})

report('listening')

async function follow(order: Order): Promise<void> {
  switch (order.order) {
    case 'serve': {
      const { config, routes } = order
      const opened = await openService(config, routes, fail)
      await opened.begin()
      serve = receiveConnections(opened.server, config.limits.connections)
      service = opened
      return report('serving')
    }
    case 'drain':
      return service?.drain()
    case 'close':
      if (service === undefined) process.exit()
      await service.close()
      // Nothing is left to be told.
      process.channel?.unref()
      return
    default:
      return await answer(order.order)
  }
}

async function answer(question: Question): Promise<void> {
  try {
    if (service === undefined) throw new Error('starting')
    const answer = question === 'ready' ? await service.ready() : await service.figures()
    report({ question, answer })
  } catch (error) {
    report({ question, problem: (error as Error).message })
  }
}

function report(report: Report, then = ignore): void {
  process.send?.(report, then)
}

/** The primary process tells people. */
function fail({ message }: Error): void {
  report({ end: message }, exit)
}
