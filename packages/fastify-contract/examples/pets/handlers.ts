import type { FastifyRequest } from 'fastify'
import { ContractError, type Handler } from 'fastify-contract'
import type { components } from './generated/api.d.ts'
import type { Handlers } from './generated/handler-types.d.ts'

export type Pet = components['schemas']['Pet']

/** What the handlers need of a database. */
export type Transaction = {
  count(): Promise<number>
  find(id: bigint): Promise<Pet | undefined>
  insert(pet: Pet): Promise<void>
}

/** Runs a function in a transaction of a tenant, which is rolled back if the function throws. */
export type Database = { transaction<T>(tenant: string, run: (transaction: Transaction) => Promise<T>): Promise<T> }

/** A handler that also gets a transaction. */
type TransactionHandler<Input, Output> = (
  input: Input,
  transaction: Transaction,
  request: FastifyRequest,
) => Promise<Output>

const quota = 2

export function handlers(database: Database): Handlers {
  const inTransaction =
    <Input, Output>(handle: TransactionHandler<Input, Output>): Handler<Input, Output> =>
    (input, request) =>
      database.transaction(request.tenant, (transaction) => handle(input, transaction, request))
  return {
    addPet: inTransaction(async ({ body }, transaction, request) => {
      await transaction.insert(body)
      // An error that is thrown, such as this one of `default`, also rolls the transaction back.
      if ((await transaction.count()) > quota) throw new ContractError('quotaExceeded', 'the quota is used up', {}, 402)
      request.log.info({ request_id: request.id, tenant: request.tenant }, 'pet added')
      return { status: 200, body }
    }),
    getPet: inTransaction(async ({ path }, transaction) => {
      const pet = await transaction.find(path.id)
      // An error that the operation lists is returned.
      if (pet === undefined) return { status: 404, body: { code: 404, message: 'there is no such pet' } }
      return { status: 200, body: pet }
    }),
  }
}
