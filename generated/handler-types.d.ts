// Written by fastify-contract generate from plant-store.yaml; edit that instead.
import type { Client, Handler, NoDeclaredHeaders, NoDeclaredParameters } from 'fastify-contract/handlers'
import type { operations } from './api.d.ts'

/** Exactly one handler for each operation of the document. */
export interface Handlers {
    /** POST /plants: Create a plant */
    createPlant: Handler<CreatePlantRequest, CreatePlantResponse>
}

/** What the handler of POST /plants receives. */
export interface CreatePlantRequest {
    path: NoDeclaredParameters
    query: NoDeclaredParameters
    header: NoDeclaredParameters
    cookie: NoDeclaredParameters
    client: Client | undefined
    body: operations['createPlant']['requestBody']['content']['application/json']
}
export interface CreatePlant200 {
    status: 200
    headers?: NoDeclaredHeaders
    contentType?: 'application/json'
    body: operations['createPlant']['responses'][200]['content']['application/json']
}
export interface CreatePlant400 {
    status: 400
    headers?: NoDeclaredHeaders
    contentType?: 'application/json'
    body: operations['createPlant']['responses'][400]['content']['application/json']
}
export type CreatePlant401Headers = {
    'WWW-Authenticate': operations['createPlant']['responses'][401]['headers']['WWW-Authenticate']
}
export interface CreatePlant401 {
    status: 401
    headers: CreatePlant401Headers
    contentType?: 'application/json'
    body: operations['createPlant']['responses'][401]['content']['application/json']
}
export interface CreatePlant409 {
    status: 409
    headers?: NoDeclaredHeaders
    contentType?: 'application/json'
    body: operations['createPlant']['responses'][409]['content']['application/json']
}
export type CreatePlantResponse = CreatePlant200 | CreatePlant400 | CreatePlant401 | CreatePlant409
