/** The process of one worker. It follows the commands of the primary process and exits with it. */
import type { Socket } from 'node:net'
import { receiveConnections } from './received-connections.ts'
import { type LocalService, openService } from './service-instance.ts'
import { exit } from './shutdown.ts'
import { prepareStderr } from './stderr.ts'
import type { ConnectionOrder, PrimaryMessage, Question, WorkerMessage } from './worker-process.ts'

/** Undefined until the worker serves. */
let service: LocalService | undefined
let serve: ((socket: Socket) => void) | undefined

// A terminal sends signals to every process of the group, but only the primary process handles them.
const ignore = () => {}
process.on('SIGINT', ignore).on('SIGTERM', ignore)
prepareStderr()
// The primary process has exited.
process.on('disconnect', () => process.exit())
process.on('message', (order: PrimaryMessage | ConnectionOrder, socket?: Socket) => {
  if (order.order === 'connection') socket && serve?.(socket)
  else if (order.order === 'confirm') report('confirmed')
  else execute(order).catch(fail)
})

report('listening')

async function execute(order: PrimaryMessage): Promise<void> {
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
      // No further message is needed, so the channel must not keep the process alive.
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

function report(report: WorkerMessage, sent = ignore): void {
  process.send?.(report, sent)
}

/** Reports an error to the primary process, which prints it, and exits. */
function fail({ message }: Error): void {
  report({ end: message }, exit)
}
