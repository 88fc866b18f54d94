// Written by fastify-contract generate from openapi.yaml; edit that instead.
export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a pet */
        post: operations["addPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find a pet */
        get: operations["getPet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Pet: Pet;
        Error: Error;
    };
    responses: {
        /** @description An error. */
        Error: {
            headers: Record<string, never>;
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    addPet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Pet"];
            };
        };
        responses: {
            /** @description The pet. */
            200: {
                headers: Record<string, never>;
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: never;
            path: GetPetPath;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pet. */
            200: {
                headers: Record<string, never>;
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            404: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
}
export type Pet = {
    /** Format: int64 */
    id: bigint;
    name: string;
};
export type Error = {
    code: number;
    message: string;
};
export type GetPetPath = {
    id: bigint;
};
