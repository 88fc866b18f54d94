// Written by fastify-contract generate from plant-store.yaml; edit that instead.
import type { Contract } from 'fastify-contract'

export declare const contract: Contract
