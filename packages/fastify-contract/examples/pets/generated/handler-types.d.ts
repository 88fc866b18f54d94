// Written by fastify-contract generate from openapi.yaml; edit that instead.
import type { Client, Handler, NoDeclaredHeaders, NoDeclaredParameters } from 'fastify-contract/handlers'
import type { operations } from './api.d.ts'

/** Exactly one handler for each operation of the document. */
export interface Handlers {
    /** POST /pets: Add a pet */
    addPet: Handler<AddPetRequest, AddPetResponse>
    /** GET /pets/{id}: Find a pet */
    getPet: Handler<GetPetRequest, GetPetResponse>
}

/** What the handler of POST /pets receives. */
export interface AddPetRequest {
    path: NoDeclaredParameters
    query: NoDeclaredParameters
    header: NoDeclaredParameters
    cookie: NoDeclaredParameters
    client: Client | undefined
    body: operations['addPet']['requestBody']['content']['application/json']
}
export interface AddPet200 {
    status: 200
    headers?: NoDeclaredHeaders
    contentType?: 'application/json'
    body: operations['addPet']['responses'][200]['content']['application/json']
}
export type AddPetResponse = AddPet200

/** What the handler of GET /pets/{id} receives. */
export interface GetPetRequest {
    path: operations['getPet']['parameters']['path']
    query: NoDeclaredParameters
    header: NoDeclaredParameters
    cookie: NoDeclaredParameters
    client: Client | undefined
    body: undefined
}
export interface GetPet200 {
    status: 200
    headers?: NoDeclaredHeaders
    contentType?: 'application/json'
    body: operations['getPet']['responses'][200]['content']['application/json']
}
export interface GetPet404 {
    status: 404
    headers?: NoDeclaredHeaders
    contentType?: 'application/json'
    body: operations['getPet']['responses'][404]['content']['application/json']
}
export type GetPetResponse = GetPet200 | GetPet404
